#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The failure of a script.
    struct ScriptError: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }

    /// Lets a script wait for events in a window.
    @MainActor final class ScriptEvents {
        let window: GalleryWindow
        private let clock = GTKFrameClock()
        private var waiting: CheckedContinuation<Void, Never>?

        init(_ window: GalleryWindow) {
            self.window = window
            window.onActivity = { [weak self] in self?.look() }
        }

        private func look() {
            waiting?.resume()
            waiting = nil
        }

        /// Waits until a condition is true. It is checked after each progress of a load and each frame, and twenty
        /// times a second, since loads for no cell report no progress.
        func wait(
            for what: String, within limit: Duration = .seconds(60), until condition: @escaping @MainActor () -> Bool
        ) async throws(ScriptError) {
            let end = clock.now + limit
            while !condition() {
                guard clock.now < end else { throw ScriptError("waited in vain for \(what)") }
                let alarm = clock.wake(at: clock.now + .milliseconds(50)) { [weak self] in self?.look() }
                await withCheckedContinuation { waiting = $0 }
                alarm.cancel()
            }
        }

        /// Waits until no visible cell is loading.
        func waitForCells() async throws(ScriptError) {
            try await wait(for: "the cells in view: \(unsettled)") { [window] in
                !window.grid.cells.visible.isEmpty && window.grid.cells.visible.values.allSatisfy { Self.isSettled($0) }
            }
        }

        private var unsettled: String {
            window.grid.cells.visible.filter { !Self.isSettled($0.value) }.keys.sorted().map(String.init)
                .joined(separator: ", ")
        }

        static func isSettled(_ view: WebImageView) -> Bool {
            if case .loaded = view.state.phase { return true }
            return view.state.error != nil
        }

        /// Waits for a number of frames.
        func frames(_ count: Int) async {
            let widget = GTKWidget(window.window.raw)
            for _ in 0..<count { await widget.nextFrame() }
        }

        /// Waits for a frame, and examines what was drawn before anything can change it.
        func afterFrame<Result: Sendable>(_ look: @escaping @MainActor () -> Result) async throws(ScriptError) -> Result
        {
            guard let clock = gtk_widget_get_frame_clock(window.window) else { throw ScriptError("there is no window") }
            gtk_widget_queue_draw(window.window)
            return await withCheckedContinuation { continuation in
                var connection: SignalConnection?
                connection = SignalConnection.connect(UnsafeMutableRawPointer(clock), "after-paint") {
                    connection?.disconnect()
                    continuation.resume(returning: CallbackTimes.leaveOut(look))
                }
                gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
            }
        }

        /// Draws frames for a duration, so that fades end.
        func frames(for duration: Duration) async {
            let end = clock.now + duration
            repeat { await frames(1) } while clock.now < end
        }
    }
#endif
