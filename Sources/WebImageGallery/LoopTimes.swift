#if GTK
    import CSysGTK
    import Synchronization
    import WebImageGTK
    import WebImageSystem

    /// Measures the duration of each turn of GLib's main loop, from one wait for events to the next. It includes all
    /// work on the main thread, of this program and of GTK, except for the examinations by a script.
    @MainActor enum LoopTimes {
        private nonisolated static let books = Books()

        /// Begins to measure; this cannot be undone.
        static func install() {
            guard let poll = g_main_context_get_poll_func(nil) else { return }
            books.state.withLock { $0.poll = poll }
            g_main_context_set_poll_func(nil) { descriptors, count, timeout in
                LoopTimes.poll(descriptors, count, timeout)
            }
        }

        /// Returns the times since the last call.
        static func take() -> [Duration] {
            books.state.withLock { state in
                defer { state.times = [] }
                return state.times
            }
        }

        private nonisolated static func poll(
            _ descriptors: UnsafeMutablePointer<GPollFD>?, _ count: guint, _ timeout: gint
        ) -> gint {
            // GLib waits on the thread that runs its loop, which is the main actor's.
            let leftOut = MainActor.assumeIsolated { CallbackTimes.leftOut }
            let poll = books.state.withLock { state in
                if let begin = state.begin {
                    state.times.append(ContinuousClock.now - begin - (leftOut - state.leftOut))
                }
                state.leftOut = leftOut
                return state.poll
            }
            defer { books.state.withLock { $0.begin = .now } }
            return poll?(descriptors, count, timeout) ?? 0
        }

        private final class Books: Sendable {
            struct State {
                var poll: GPollFunc?
                /// The end of the last wait.
                var begin: ContinuousClock.Instant?
                /// The time that ``CallbackTimes`` had excluded at that moment.
                var leftOut = Duration.zero
                var times: [Duration] = []
            }

            let state = Guarded(State())
        }
    }
#endif
