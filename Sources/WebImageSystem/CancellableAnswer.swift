import Synchronization
package import WebImageCore

/// An answer for one waiting task; only the first one counts. A cancelled task stops waiting and throws `cancelled`.
package final class CancellableAnswer<Value: Sendable>: Sendable {
    package typealias Answer = Result<Value, WebImageError>

    private struct State {
        var answer: Answer?
        var waiting: CheckedContinuation<Answer, Never>?
    }

    private let state = Guarded(State())

    package init() {}

    /// Whether an answer was given, or the waiting task was cancelled.
    package var isGiven: Bool { state.withLock { $0.answer != nil } }

    package func give(_ answer: Answer) {
        let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: answer)
    }

    /// Gives what `work` returns or throws. If the waiting task was cancelled, `work` is not run.
    package func give(from work: () throws(WebImageError) -> Value) {
        if !isGiven { give(Result(catching: work)) }
    }

    /// Waits for the answer. Only one task may call it, once.
    package func value() async throws(WebImageError) -> Value {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Answer? in
                    if state.answer == nil { state.waiting = continuation }
                    return state.answer
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            give(.failure(.cancelled))
        }
        return try answer.get()
    }
}

extension WorkExecutor {
    /// Runs `work` on this executor, and returns or throws its result.
    ///
    /// - Throws: `cancelled` as soon as the task is cancelled; work that has not begun is then never run, and work that
    ///   has begun is completed.
    package func answer<Value: Sendable>(
        _ priority: LoadPriority, _ work: @escaping @Sendable () throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        if Task.isCancelled { throw .cancelled }
        let answer = CancellableAnswer<Value>()
        run(priority) { answer.give(from: work) }
        return try await answer.value()
    }
}
