import Synchronization
import WebImageSystem

/// Decides whether a call or its deadline came first.
final class DeadlineRace: Sendable {
    private struct State {
        var call: Task<Void, Never>?
        var hasEnded = false
        var isLate = false
    }

    private let state = Guarded(State())

    func begin(_ call: Task<Void, Never>) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.call = call }
            return state.isLate
        }
        if isLate { call.cancel() }
    }

    /// Records that the call has ended.
    ///
    /// - Returns: whether it has ended in time.
    func end() -> Bool {
        state.withLock { state in
            defer { (state.hasEnded, state.call) = (true, nil) }
            return !state.hasEnded
        }
    }

    /// Cancels the call, because its deadline has come.
    ///
    /// - Returns: false if the call has ended before.
    func expire() -> Bool {
        let (isLate, call) = state.withLock { state in
            defer { (state.isLate, state.hasEnded, state.call) = (!state.hasEnded, true, nil) }
            return (!state.hasEnded, state.call)
        }
        call?.cancel()
        return isLate
    }
}
