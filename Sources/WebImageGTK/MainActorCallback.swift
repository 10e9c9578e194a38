#if GTK
    internal import CShimGTK

    /// Runs the Swift half of one of GTK's callbacks.
    ///
    /// GTK calls back on the thread that runs its main loop, which is the main actor's thread. Swift's checker knows nothing of
    /// it and sees pointers go from nowhere to the main actor: this function vouches for them, for all callbacks.
    ///
    /// - Parameters:
    ///   - context: an object of the type `Owner`, which the caller keeps.
    ///   - argument: what GTK handed over.
    ///   - body: what the callback does.
    package func onMainActor<Owner: AnyObject, Argument, Result: Sendable>(
        _ context: UnsafeMutableRawPointer, _ argument: Argument, _ body: @MainActor (Owner, Argument) -> Result
    ) -> Result {
        // These stay on the thread that they are on, and the call returns before GTK goes on.
        nonisolated(unsafe) let (context, argument) = (context, argument)
        return MainActor.assumeIsolated {
            CallbackTimes.measure { body(Unmanaged<Owner>.fromOpaque(context).takeUnretainedValue(), argument) }
        }
    }

    /// How GTK's objects hold those of Swift that they are tied to.
    package enum ObjectTie {
        private static let hold: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            _ = Unmanaged<AnyObject>.fromOpaque(context).retain()
        }
        private static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            Unmanaged<AnyObject>.fromOpaque(context).release()
        }

        /// Ties an object of GTK's to the one of Swift that its callbacks know: each lives as long as anybody wants one of
        /// the two. To be ended by `wi_untie` when the object of Swift goes.
        package static func tie(_ object: UnsafeMutableRawPointer, to context: UnsafeMutableRawPointer) {
            wi_tie(object, context, hold, release)
        }
    }
#endif
