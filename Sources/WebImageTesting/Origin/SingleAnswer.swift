import Synchronization
import WebImageCore
import WebImageSystem

/// An answer of yes or no that a task waits for. The first one counts.
final class SingleAnswer: Sendable {
    private struct State {
        var answer: Bool?
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private let state = Guarded(State())

    func give(_ answer: Bool) {
        let continuation: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: answer)
    }

    /// Waits for the answer; false if `limit` passes or the task is cancelled before.
    func answer(within limit: Duration?) async -> Bool {
        let timer = limit.map { limit in
            SystemClock.shared.schedule(at: SystemClock.shared.now + limit) { self.give(false) }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    if state.answer == nil { state.continuation = continuation }
                    return state.answer
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            give(false)
        }
    }
}
