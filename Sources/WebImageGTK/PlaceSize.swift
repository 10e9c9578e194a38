#if GTK
    /// The part of a widget's size that is given by its place in the layout; the rest follows from the picture that the
    /// widget shows.
    ///
    /// GTK reports only the resulting size. If that size comes from the present picture, which was loaded for an
    /// earlier place, it says nothing about the size for the next picture.
    struct PlaceSize {
        /// A side of 0 follows from the picture.
        private(set) var size = BoxSize(width: 0, height: 0, scale: 1)

        /// Updates the size after a layout.
        ///
        /// - Parameters:
        ///   - allocation: the size that the widget got.
        ///   - wanted: the size that the widget's content requests.
        ///   - isLoaded: whether the content is a picture that was loaded for ``size``, and not a placeholder.
        /// - Returns: whether pictures must now be loaded for another size. A size that comes from the picture itself
        ///   does not count: in a window that is as large as the picture requests, it would be loaded larger again and
        ///   again.
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
