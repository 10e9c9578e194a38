#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImageCore

    extension GTKWidget {
        /// Returns a picture of the widget or window in its last frame: premultiplied, in device pixels.
        ///
        /// - Returns: nil if the widget is not visible, or was not drawn yet; ``nextFrame()`` waits until it was.
        /// - Complexity: the widget is drawn again on the CPU, even if the GPU draws the window.
        public func screenshot() -> Image? {
            guard let texture = wi_screenshot(pointer).map({ OpaquePointer($0) }) else { return nil }
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            let size = PixelSize(
                width: Int(gdk_texture_get_width(texture)), height: Int(gdk_texture_get_height(texture)))
            return try? Image(size: size, alpha: .premultiplied) { pixels in
                guard let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                gdk_texture_download(texture, base, gsize(size.width * 4))
                Self.orderAsRGBA(pixels)
            }
        }

        /// Writes the result of ``screenshot()`` to a PNG file.
        ///
        /// - Returns: false if there is no screenshot, or the file cannot be written.
        @discardableResult public func saveScreenshot(to path: String) -> Bool {
            guard let texture = wi_screenshot(pointer).map({ OpaquePointer($0) }) else { return false }
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return gdk_texture_save_to_png(texture, path) != 0
        }

        /// Draws the widget again, and returns when the frame was drawn. While the window is minimised or covered, the
        /// system may draw no frames; this then waits until it is seen again.
        ///
        /// - Returns: false if the widget is not in a visible window, or the window is closed before the frame.
        @discardableResult public func nextFrame() async -> Bool {
            let widget = pointer.assumingMemoryBound(to: GtkWidget.self)
            guard gtk_widget_get_mapped(widget) != 0, let clock = gtk_widget_get_frame_clock(widget) else {
                return false
            }
            gtk_widget_queue_draw(widget)
            return await withCheckedContinuation { continuation in
                let waiter = FrameWaiter(continuation)
                var connection: SignalConnection?
                connection = SignalConnection.connect(UnsafeMutableRawPointer(clock), "after-paint") {
                    waiter.resume(true)
                    connection?.disconnect()
                }
                // Only the closure retains the waiter from here on, so that the waiter notices when the frame clock is
                // released.
                gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
            }
        }

        /// Converts GDK's words, which have alpha in the highest byte, then red, green and blue, in the machine's byte
        /// order.
        private static func orderAsRGBA(_ pixels: UnsafeMutableRawBufferPointer) {
            for offset in stride(from: 0, to: pixels.count, by: 4) {
                let word = pixels.load(fromByteOffset: offset, as: UInt32.self)
                pixels.storeBytes(of: (word << 8 | word >> 24).bigEndian, toByteOffset: offset, as: UInt32.self)
            }
        }
    }

    /// Resumes a wait for a frame; with false if the waiter is released before there was one.
    @MainActor private final class FrameWaiter {
        private var continuation: CheckedContinuation<Bool, Never>?

        init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = continuation }

        isolated deinit { continuation?.resume(returning: false) }

        func resume(_ wasDrawn: Bool) {
            continuation?.resume(returning: wasDrawn)
            continuation = nil
        }
    }
#endif
