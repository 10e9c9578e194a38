#if GTK
    import CSysGTK
    import WebImageCore
    import WebImageGTK

    /// A window in which boxes get the size that they ask for.
    @MainActor final class Stage {
        let window: GTKWidget
        private let area: GTKWidget
        private var fixed: UnsafeMutablePointer<GtkFixed> { area.pointer.assumingMemoryBound(to: GtkFixed.self) }

        init() {
            window = GTKWidget(gtk_window_new())
            area = GTKWidget(gtk_fixed_new())
            gtk_window_set_decorated(window.cWindow, 0)
            gtk_window_set_default_size(window.cWindow, 200, 200)
            gtk_window_set_child(window.cWindow, area.cWidget)
        }

        /// Puts the box into the window's corner, shows the window, and returns once it has been drawn.
        func show(_ box: ImageBox, width: Int = 16, height: Int = 16) async {
            box.fixedSize = (width, height)
            put(box.widget)
            await show()
        }

        func show() async {
            gtk_window_present(window.cWindow)
            await window.nextFrame()
        }

        func put(_ widget: GTKWidget) { gtk_fixed_put(fixed, widget.cWidget, 0, 0) }

        func take(_ widget: GTKWidget) { gtk_fixed_remove(fixed, widget.cWidget) }

        func close() { gtk_window_destroy(window.cWindow) }
    }

    extension GTKWidget {
        /// The pointer with the type that GTK's functions take.
        var cWidget: UnsafeMutablePointer<GtkWidget> { pointer.assumingMemoryBound(to: GtkWidget.self) }
        var cWindow: UnsafeMutablePointer<GtkWindow> { pointer.assumingMemoryBound(to: GtkWindow.self) }

        /// Takes a new widget from one of GTK's functions.
        convenience init(_ widget: UnsafeMutablePointer<GtkWidget>!) { self.init(UnsafeMutableRawPointer(widget)) }

        /// A screenshot after one more frame.
        func drawn() async -> Image? {
            await nextFrame()
            return screenshot()
        }
    }

    extension Image {
        /// A pixel as `RRGGBBAA`.
        func hex(_ x: Int, _ y: Int) -> String {
            withPixels { bytes in
                let place = y * pixels.bytesPerRow + x * 4
                return bytes[place..<place + 4].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
        }

        var bytes: [UInt8] { withPixels { Array($0) } }

        /// A picture of one colour.
        static func plain(_ color: [UInt8], width: Int = 16, height: Int = 16) -> Image {
            make(width: width, height: height, alpha: .straight) { _, _ in color }
        }

        /// A picture with 8 bits a channel, whose pixels a function gives.
        static func make(
            width: Int, height: Int, alpha: AlphaMode, _ color: (_ x: Int, _ y: Int) -> [UInt8]
        ) -> Image {
            let image = try? Image(size: PixelSize(width: width, height: height), alpha: alpha) { bytes in
                for y in 0..<height {
                    for x in 0..<width {
                        for (channel, value) in color(x, y).enumerated() {
                            bytes[(y * width + x) * 4 + channel] = value
                        }
                    }
                }
            }
            guard let image else { fatalError("no memory") }
            return image
        }
    }
#endif
