#if GTK
    /// Runs the Swift half of one of GTK's callbacks.
    ///
    /// GTK calls back on the thread that runs its main loop, which is the main actor's thread. Swift's checker knows nothing of
    /// it and sees pointers go from nowhere to the main actor: this function vouches for them, for all callbacks.
    ///
    /// - Parameters:
    ///   - context: an object of the type `Owner`, which the caller keeps.
    ///   - argument: what GTK handed over.
    ///   - body: what the callback does.
    func onMainActor<Owner: AnyObject, Argument, Result: Sendable>(
        _ context: UnsafeMutableRawPointer, _ argument: Argument, _ body: @MainActor (Owner, Argument) -> Result
    ) -> Result {
        // These stay on the thread that they are on, and the call returns before GTK goes on.
        nonisolated(unsafe) let (context, argument) = (context, argument)
        return MainActor.assumeIsolated {
            body(Unmanaged<Owner>.fromOpaque(context).takeUnretainedValue(), argument)
        }
    }

    /// Functions for `wi_tie`, by which GTK holds an object of Swift.
    enum HeldBySwiftObject {
        static let hold: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            _ = Unmanaged<AnyObject>.fromOpaque(context).retain()
        }
        static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
            Unmanaged<AnyObject>.fromOpaque(context).release()
        }
    }
#endif
