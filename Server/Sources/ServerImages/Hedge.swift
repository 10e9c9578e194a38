import Synchronization

/// Two ways to get the same value: a cheap one, which may find nothing, and an expensive one.
///
/// The cheap one is tried first. If it finds nothing, or takes too long, the expensive one is started as well. The
/// first good value is returned, and the other way is cancelled without waiting for its end.
struct Hedge<Value: Sendable>: Sendable {
    /// How long to wait for the cheap way alone.
    var patience: Duration
    /// Whether a value of the expensive way ends the wait for the cheap one.
    var isGood: @Sendable (Value) -> Bool

    /// - Parameters:
    ///   - cheap: returns nil if it finds nothing. It is not waited for once there is a value.
    ///   - dear: the expensive way; called at most once.
    func value(
        _ cheap: @escaping @Sendable () async -> Value?, orElse dear: @escaping @Sendable () async -> Value
    ) async -> Value {
        let race = Race(isGood: isGood)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                race.begin(continuation, patience, cheap, dear)
            }
        } onCancel: {
            race.cancel()
        }
    }

    private final class Race: Sendable {
        private struct State {
            var continuation: CheckedContinuation<Value, Never>?
            var tasks: [Task<Void, Never>] = []
            var hasBegunDear = false
            var hasEndedCheap = false
            /// The value of the expensive way if it is not good. It is used if the cheap way finds nothing.
            var last: Value?
            var isCancelled = false
        }

        private let isGood: @Sendable (Value) -> Bool
        private let state = Mutex(State())

        init(isGood: @escaping @Sendable (Value) -> Bool) { self.isGood = isGood }

        func begin(
            _ continuation: CheckedContinuation<Value, Never>, _ patience: Duration,
            _ cheap: @escaping @Sendable () async -> Value?, _ dear: @escaping @Sendable () async -> Value
        ) {
            state.withLock { $0.continuation = continuation }
            add(
                Task {
                    let value = await cheap()
                    self.endCheap(value, dear)
                })
            add(
                Task {
                    guard (try? await Task.sleep(for: patience)) != nil else { return }
                    self.beginDear(dear)
                })
        }

        private func endCheap(_ value: Value?, _ dear: @escaping @Sendable () async -> Value) {
            if let value { return finish(value) }
            let last = state.withLock { state in
                state.hasEndedCheap = true
                return state.last
            }
            if let last { finish(last) } else { beginDear(dear) }
        }

        private func beginDear(_ dear: @escaping @Sendable () async -> Value) {
            let begins = state.withLock { state in
                guard !state.hasBegunDear, state.continuation != nil else { return false }
                state.hasBegunDear = true
                return true
            }
            guard begins else { return }
            add(
                Task {
                    let value = await dear()
                    let counts = self.state.withLock { state in
                        if self.isGood(value) || state.hasEndedCheap || state.isCancelled { return true }
                        state.last = value
                        return false
                    }
                    if counts { self.finish(value) }
                })
        }

        private func add(_ task: Task<Void, Never>) {
            let isNeedless = state.withLock { state in
                state.tasks.append(task)
                return state.continuation == nil || state.isCancelled
            }
            if isNeedless { task.cancel() }
        }

        private func finish(_ value: Value) {
            let (continuation, tasks) = state.withLock { state in
                defer { (state.continuation, state.tasks) = (nil, []) }
                return (state.continuation, state.tasks)
            }
            guard let continuation else { return }
            continuation.resume(returning: value)
            for task in tasks { task.cancel() }
        }

        /// Both ways end soon; the value is then that of the expensive one.
        func cancel() {
            let tasks = state.withLock { state in
                state.isCancelled = true
                return state.tasks
            }
            for task in tasks { task.cancel() }
        }
    }
}
