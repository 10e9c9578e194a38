#if GTK
    /// What the place of a widget gives it of its size, where the rest follows from the picture that the widget shows.
    ///
    /// GTK tells only the result. A picture was loaded for a place that had been found before: what the widget has of it alone
    /// says nothing about the next picture.
    struct PlaceSize {
        /// A side of 0 follows from the picture.
        private(set) var size = BoxSize(width: 0, height: 0, scale: 1)

        /// The widget was laid out.
        ///
        /// - Parameters:
        ///   - allocation: the size that it got.
        ///   - wanted: how large it would be by what it shows.
        ///   - isLoaded: whether it shows a picture that was loaded for ``size``, and not a placeholder.
        /// - Returns: whether pictures are now to be loaded for another size. Never for the picture's own: where the window is
        ///   as large as the picture wants, the picture would have itself loaded larger again and again.
        mutating func update(to allocation: BoxSize, wanted: (width: Int, height: Int), isLoaded: Bool) -> Bool {
            let before = size
            let followsInWidth = allocation.width == wanted.width && (!isLoaded || size.width == 0)
            let followsInHeight = allocation.height == wanted.height && (!isLoaded || size.height == 0)
            size = allocation
            if followsInWidth { size.width = 0 }
            if followsInHeight { size.height = 0 }
            return size != before || !isLoaded
        }
    }
#endif
