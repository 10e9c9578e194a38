#if GTK
    internal import CShimGTK
    internal import WebImage

    /// Connects Swift's main actor with GLib's main loop, which runs a program with GTK.
    ///
    /// On Linux the main actor runs on a queue that is not served while GLib's main loop runs. ``install()`` makes the
    /// loop serve it. The loop sleeps until there is something to do: waiting for the main actor takes no processor
    /// time.
    ///
    /// The main loop must be started (`g_application_run`, `g_main_loop_run`) from a `main` before its first `await`.
    /// After an `await` the code runs as a job of the main actor, which runs one job at a time: the loop would be that
    /// job, and no other would ever begin. A synchronous `main` is safe. For the same reason, a job of the main actor
    /// that runs a nested loop, as for a dialog, blocks all other jobs until it returns; a callback of GTK does not.
    ///
    ///     GTKMainLoop.install()
    ///     Task { await showPictures() }
    ///     exit(g_application_run(application, 0, nil))
    @MainActor public enum GTKMainLoop {
        /// Makes GLib's default main loop run the work of the main actor. Further calls do nothing.
        ///
        /// Call it once on the main thread, before the loop starts. It has no effect on programs that never run GLib's
        /// loop.
        public static func install() {
            wi_pump_install(MainActorLoop.fileDescriptor) {
                // The loop runs on the main thread, which is the main actor's.
                MainActor.assumeIsolated { CallbackTimes.measure { MainActorLoop.serve() } }
            }
        }

        /// The number of times that the loop has woken up for the main actor. For tests: it must not grow while there
        /// is no work.
        package static var wakeCount: UInt64 { wi_pump_count() }
    }
#endif
