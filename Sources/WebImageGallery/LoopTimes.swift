#if GTK
    import CSysGTK
    import Synchronization
    import WebImageGTK
    import WebImageSystem

    /// How long each turn of GLib's main loop takes, from one wait for events to the next: all that is done on the main
    /// thread, ours and GTK's own, without what a script does to look at it.
    @MainActor enum LoopTimes {
        private nonisolated static let books = Books()

        /// Begins to measure, for good.
        static func install() {
            guard let poll = g_main_context_get_poll_func(nil) else { return }
            books.state.withLock { $0.poll = poll }
            g_main_context_set_poll_func(nil) { descriptors, count, timeout in
                LoopTimes.poll(descriptors, count, timeout)
            }
        }

        /// The times since the last call.
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
                /// When the last wait has ended.
                var begin: ContinuousClock.Instant?
                /// What was left out of the times until then.
                var leftOut = Duration.zero
                var times: [Duration] = []
            }

            let state = Guarded(State())
        }
    }
#endif
