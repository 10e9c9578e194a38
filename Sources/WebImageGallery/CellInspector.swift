#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// Examines the cells of a window as they are drawn.
    @MainActor struct CellInspector {
        let window: GalleryWindow

        /// The result of an examination.
        struct Report {
            var sights: [Int: CellSight] = [:]

            /// Describes the first cell that shows the picture of another cell; nil if there is none.
            var wrong: String? {
                for (number, sight) in sights.sorted(by: { $0.key < $1.key }) {
                    if case .wrong(let color) = sight {
                        return "cell \(number) shows the colour \(color) and not \(NumberedOrigin.color(number))"
                    }
                }
                return nil
            }

            func count(_ sight: CellSight) -> Int { sights.values.filter { $0 == sight }.count }
        }

        /// Compares all visible cells with their pictures, on a screenshot of the window.
        ///
        /// - Returns: nil if the window was not drawn.
        func look() -> Report? {
            guard let shot = GTKWidget(window.window.raw).screenshot() else { return nil }
            var report = Report()
            for (position, view) in window.grid.cells.visible {
                guard let item = window.grid.shown[position], let number = Self.number(of: item) else { continue }
                let pixels = pixels(of: view, in: shot)
                if !pixels.isEmpty { report.sights[number] = CellSight(pixels, of: number) }
            }
            return report
        }

        static func number(of item: GalleryItem) -> Int? { Int(item.name.dropFirst(7).prefix { $0 != "." }) }

        /// Points of a cell that lie beside the spinner and the retry button, and above the caption.
        private static let places = [(0.2, 0.3), (0.8, 0.3), (0.5, 0.12), (0.2, 0.6), (0.8, 0.6)]

        private func pixels(of view: WebImageView, in shot: Image) -> [[UInt8]] {
            var bounds = graphene_rect_t()
            var frame = graphene_rect_t()
            guard gtk_widget_compute_bounds(view.widget.cWidget, window.window, &bounds) != 0,
                gtk_widget_compute_bounds(window.window, window.window, &frame) != 0, let area = visibleArea
            else { return [] }
            return shot.withPixels { bytes in
                Self.places.compactMap { place in
                    let x = Double(bounds.origin.x) + Double(bounds.size.width) * place.0
                    let y = Double(bounds.origin.y) + Double(bounds.size.height) * place.1
                    guard area.contains(y) else { return nil }
                    // The window's border is a part of the screenshot, but lies outside of the window's coordinates.
                    let (column, row) = (Int(x - Double(frame.origin.x)), Int(y - Double(frame.origin.y)))
                    let offset = row * shot.pixels.bytesPerRow + column * 4
                    return Array(bytes[offset..<offset + 3])
                }
            }
        }

        /// The rows of the window that the grid covers.
        private var visibleArea: Range<Double>? {
            var bounds = graphene_rect_t()
            guard gtk_widget_compute_bounds(window.grid.widget, window.window, &bounds) != 0 else { return nil }
            let top = Double(bounds.origin.y) + 1
            return top..<max(top, Double(bounds.origin.y + bounds.size.height) - 1)
        }
    }
#endif
