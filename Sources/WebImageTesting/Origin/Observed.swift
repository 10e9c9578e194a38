import Synchronization
import WebImageSystem

/// A value behind a lock. Tasks can wait for a change of it without polling. Any thread may use it.
final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (borrowing Value) -> Bool
        let answer: SingleAnswer
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var isOver = false
    }

    private let state: Guarded<State>

    init(_ value: Value) { state = Guarded(State(value: value)) }

    func read<Result: Sendable>(_ body: (borrowing Value) -> Result) -> Result { state.withLock { body($0.value) } }

    /// Changes the value, and wakes the waiters whose conditions hold.
    @discardableResult
    func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, answers) = state.withLock { state -> (Result, [SingleAnswer]) in
            let result = change(&state.value)
            guard !state.waiters.isEmpty else { return (result, []) }
            var answers: [SingleAnswer] = []
            var rest: [Waiter] = []
            for waiter in state.waiters {
                if waiter.condition(state.value) { answers.append(waiter.answer) } else { rest.append(waiter) }
            }
            state.waiters = rest
            return (result, answers)
        }
        for answer in answers { answer.give(true) }
        return result
    }

    /// Waits until the condition holds; false if it does not within the limit, or the task is cancelled.
    func wait(_ limit: Duration, until condition: @escaping @Sendable (borrowing Value) -> Bool) async -> Bool {
        let answer = SingleAnswer()
        let known: Bool? = state.withLock { state in
            if condition(state.value) { return true }
            if state.isOver { return false }
            state.waiters.append(Waiter(condition: condition, answer: answer))
            return nil
        }
        if let known { return known }
        let came = await answer.answer(within: limit)
        if !came { state.withLock { $0.waiters.removeAll { $0.answer === answer } } }
        return came
    }

    /// Ends all waits, including later ones, without success.
    func giveUp() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.answer.give(false) }
    }
}
