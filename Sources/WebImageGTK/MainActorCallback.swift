#if GTK
    internal import CShimGTK

    /// Runs the Swift part of one of GTK's callbacks.
    ///
    /// GTK calls back on the thread that runs its main loop, which is the main actor's thread. Swift's checker does not
    /// know this, and sees pointers that reach the main actor from nowhere. This function guarantees it once for all
    /// callbacks.
    ///
    /// - Parameters:
    ///   - context: an object of the type `Owner`, which the caller keeps alive.
    ///   - argument: the argument from GTK.
    ///   - body: the work of the callback.
    package func onMainActor<Owner: AnyObject, Argument, Result: Sendable>(
        _ context: UnsafeMutableRawPointer, _ argument: Argument, _ body: @MainActor (Owner, Argument) -> Result
    ) -> Result {
        // Both values stay on this thread, and the call returns before GTK continues.
        nonisolated(unsafe) let (context, argument) = (context, argument)
        return MainActor.assumeIsolated {
            CallbackTimes.measure { body(Unmanaged<Owner>.fromOpaque(context).takeUnretainedValue(), argument) }
        }
    }

    /// The functions with which GTK's objects retain the objects of Swift that they are tied to.
    package enum ObjectTie {
        private static let hold: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            _ = Unmanaged<AnyObject>.fromOpaque(context).retain()
        }
        private static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            Unmanaged<AnyObject>.fromOpaque(context).release()
        }

        /// Ties an object of GTK to the object of Swift that its callbacks use: both live as long as either is used.
        /// `wi_untie` must end the tie when the object of Swift is deinitialized.
        package static func tie(_ object: UnsafeMutableRawPointer, to context: UnsafeMutableRawPointer) {
            wi_tie(object, context, hold, release)
        }
    }
#endif
