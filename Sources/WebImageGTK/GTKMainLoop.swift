#if GTK
    internal import CShimGTK
    internal import WebImage

    /// GLib's main loop, which is what runs a program with GTK, and Swift's main actor in it.
    ///
    /// On Linux the main actor runs on a queue that nobody serves while GLib's main loop runs. ``install()`` makes the loop
    /// serve it. The loop sleeps until there is something to do: waiting for the main actor takes no time of the processor.
    ///
    /// The main loop must be entered (`g_application_run`, `g_main_loop_run`) from a `main` that has not yet passed an
    /// `await`. Behind an `await` the code runs as a job of the main actor, which runs one job at a time: the loop would be
    /// that job, and no other would ever begin. A synchronous `main` is the safe way. For the same reason a job of the main
    /// actor that runs a loop of its own, as for a dialog, holds all others up until it returns; a callback of GTK's does not.
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

        /// How often the loop has woken up for the main actor. For tests: it must not grow while there is nothing to do.
        package static var wakeCount: UInt64 { wi_pump_count() }
    }
#endif
