import Synchronization
import WebImageCore
import WebImageSystem

/// Replaces a log whose body the origin has changed. The log ends, and another log has the new body from its first byte
/// on. Readers discard what they have and continue with the new log, so that no body is ever a mixture.
extension ByteLog {
    /// The log to continue with. The log itself has failed then; to readers that ignore the successor it looks like an
    /// interrupted transfer.
    package var successor: ByteLog? { state.withLock { $0.successor } }

    /// The last log in the chain of successors.
    package var latest: ByteLog { successor?.latest ?? self }

    /// An empty log with the same limits.
    func makeSuccessor() -> ByteLog { ByteLog(like: self) }

    /// Ends the log in favour of another one. May be called on any thread.
    ///
    /// - Returns: a function that wakes the readers; call it after all locks are released.
    func end(_ error: WebImageError, replacedBy successor: ByteLog) -> @Sendable () -> Void {
        let ready = state.withLock { state -> [LogState.Waiter] in
            guard state.end == nil else { return [] }
            state.end = .failed(error)
            state.successor = successor
            return state.takeReady()
        }
        return { for waiter in ready { waiter.run() } }
    }

    /// Calls `run` once, without locks held, with the log that has the final body, when that log has ended, like
    /// ``whenEnded(run:)``.
    package func whenSettled(run: @escaping @Sendable (ByteLog) -> Void) {
        whenEnded {
            if let next = self.successor { next.whenSettled(run: run) } else { run(self) }
        }
    }
}
