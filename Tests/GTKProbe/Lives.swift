#if GTK
    import CSysGTK
    import WebImageCore
    import WebImageGTK

    /// The lifetimes of boxes, paintables, textures and closures.
    @MainActor enum Lives {
        /// Weak references to the parts of a shown picture.
        private struct Watch {
            weak var box: ImageBox?
            weak var paintable: ImagePaintable?
            weak var texture: Texture?
            weak var pixels: PixelBuffer?

            @MainActor init(_ box: ImageBox?, _ paintable: ImagePaintable) {
                self.box = box
                self.paintable = paintable
                texture = paintable.texture
            }

            func tell(_ name: String) {
                let things = [
                    ("box", box as AnyObject?), ("paintable", paintable), ("texture", texture), ("pixels", pixels),
                ]
                let there = things.filter { $0.1 != nil }.map(\.0)
                print("alive \(name) \(there.isEmpty ? "nothing" : there.joined(separator: " "))")
            }
        }

        static func run() async {
            unplaced()
            inPicture()
            await inWindow()
            await replaced()
        }

        private static func watched(_ box: ImageBox?, _ paintable: ImagePaintable) -> Watch {
            let image = Image.plain([1, 2, 3, 255])
            paintable.show(image)
            var watch = Watch(box, paintable)
            watch.pixels = image.pixels
            return watch
        }

        /// A box outside any window is freed with the last reference from Swift.
        private static func unplaced() {
            var box: ImageBox? = ImageBox()
            let watch = box.map { watched($0, $0.paintable) }
            watch?.tell("unplaced")
            box = nil
            watch?.tell("unplaced-dropped")
        }

        /// A paintable that a GtkPicture holds.
        private static func inPicture() {
            let picture = GTKWidget(gtk_picture_new())
            var paintable: ImagePaintable? = ImagePaintable()
            let watch = paintable.map { watched(nil, $0) }
            gtk_picture_set_paintable(OpaquePointer(picture.pointer), (paintable?.pointer).map { OpaquePointer($0) })
            paintable = nil
            watch?.tell("in-picture")
            gtk_picture_set_paintable(OpaquePointer(picture.pointer), nil)
            watch?.tell("out-of-picture")
        }

        private static func inWindow() async {
            var stage: Stage? = Stage()
            var box: ImageBox? = ImageBox()
            let watch = box.map { watched($0, $0.paintable) }
            box?.onResize = { print("resized \($0.pixels)") }
            if let box { await stage?.show(box) }
            box = nil
            watch?.tell("in-window")
            print("seen \(await stage?.window.drawn()?.hex(8, 8) ?? "none")")
            stage?.close()
            stage = nil
            await turn()
            watch?.tell("window-closed")
        }

        /// A picture is freed when another one is drawn in its place.
        private static func replaced() async {
            let (stage, box) = (Stage(), ImageBox())
            let watch = watched(box, box.paintable)
            await stage.show(box)
            box.paintable.show(Image.plain([0, 0, 0, 255]))
            await box.widget.nextFrame()
            await turn()
            watch.tell("replaced")
        }

        /// Waits for a turn of GLib's loop, by which everything that belonged to the turn before is freed.
        private static func turn() async {
            let clock = GTKFrameClock()
            await withCheckedContinuation { continuation in clock.wake(at: clock.now) { continuation.resume() } }
            _ = clock.now
        }

        @MainActor private final class Token {}

        /// Closures are released when they are disconnected, and when the object is freed.
        static func signals() {
            weak var captured: Token?
            var button: GTKWidget? = GTKWidget(gtk_button_new())
            func connect() -> SignalConnection? {
                let token = Token()
                captured = token
                return button?.onSignal("hide") { [token] in
                    withExtendedLifetime(token) { print("signal hide") }
                }
            }
            func hide() {
                for isVisible: gboolean in [1, 0] {
                    if let button { gtk_widget_set_visible(button.cWidget, isVisible) }
                }
            }

            let first = connect()
            hide()
            first?.disconnect()
            hide()
            print("signal disconnected \(captured == nil) \(first?.isConnected == true)")
            let second = connect()
            hide()
            button = nil
            print("signal gone \(captured == nil) \(second?.isConnected == true)")
            second?.disconnect()

            let other = GTKWidget(gtk_button_new())
            print("signal unknown \(other.onSignal("no-such-signal") {} == nil)")
            SignalConnection.connectObject(other.pointer, "notify::label") { print("signal notify \($0 != nil)") }
            other.onSignal("notify::label") { print("signal plain notify") }
            gtk_button_set_label(other.pointer.assumingMemoryBound(to: GtkButton.self), "text")
            // These connections are refused: the handler would read arguments that the signal does not have, or GTK
            // would read a result that the handler does not return.
            let window = GTKWidget(gtk_window_new())
            let refused = [
                SignalConnection.connectObject(other.pointer, "clicked") { _ in },
                SignalConnection.connectPosition(other.pointer, "notify::label") { _ in },
                SignalConnection.connect(window.pointer, "close-request") {},
            ]
            print("signal refused \(refused.allSatisfy { $0 == nil })")
            gtk_window_destroy(window.cWindow)
        }
    }
#endif
