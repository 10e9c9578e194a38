import Synchronization
import WebImageSystem

/// Whether a call or its deadline came first.
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

    /// The call has ended.
    ///
    /// - Returns: whether that was in time.
    func end() -> Bool {
        state.withLock { state in
            defer { (state.hasEnded, state.call) = (true, nil) }
            return !state.hasEnded
        }
    }

    /// The deadline has come: cancels the call.
    ///
    /// - Returns: false when the call has ended before.
    func expire() -> Bool {
        let (isLate, call) = state.withLock { state in
            defer { (state.isLate, state.hasEnded, state.call) = (!state.hasEnded, true, nil) }
            return (!state.hasEnded, state.call)
        }
        call?.cancel()
        return isLate
    }
}
