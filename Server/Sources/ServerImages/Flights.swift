import Synchronization

/// Runs work once that several callers request at the same time. Any thread may use it.
final class Flights<Value: Sendable>: Sendable {
    private struct Flight {
        var number: Int
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        var flights: [String: Flight] = [:]
        var lastNumber = 0

        mutating func next() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// How many pieces of work are running.
    var count: Int { state.withLock { $0.flights.count } }

    /// How many callers are waiting in all.
    var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// How many callers are waiting for the work of a key.
    func waiters(_ key: String) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// Returns the value of the running work for the key, or starts `work` if none is running. The work is cancelled
    /// when it has no waiters left.
    ///
    /// - Returns: a nil value if the caller's task was cancelled; and whether the caller joined work that was running
    ///   already.
    func value(_ key: String, _ work: @escaping @Sendable () async -> Value) async -> (value: Value?, joined: Bool) {
        let waiter = state.withLock { $0.next() }
        let joined = Mutex(false)
        let value = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let started: Int? = state.withLock { state in
                    if Task.isCancelled { return -1 }
                    if state.flights[key] != nil {
                        state.flights[key]?.waiters[waiter] = continuation
                        joined.withLock { $0 = true }
                        return nil
                    }
                    let number = state.next()
                    state.flights[key] = Flight(number: number, waiters: [waiter: continuation])
                    return number
                }
                guard let started else { return }
                guard started >= 0 else { return continuation.resume(returning: nil) }
                start(key, started, work)
            }
        } onCancel: {
            leave(key, waiter)
        }
        return (value, joined.withLock { $0 })
    }

    private func start(_ key: String, _ number: Int, _ work: @escaping @Sendable () async -> Value) {
        let task = Task { [self] in
            let value = await work()
            let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
                guard let flight = state.flights[key], flight.number == number else { return [] }
                state.flights[key] = nil
                return Array(flight.waiters.values)
            }
            for waiter in waiters { waiter.resume(returning: value) }
        }
        let isWanted = state.withLock { state in
            guard state.flights[key]?.number == number else { return false }
            state.flights[key]?.task = task
            return true
        }
        // The last waiter has left already, or the work has ended.
        if !isWanted { task.cancel() }
    }

    private func leave(_ key: String, _ waiter: Int) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (continuation, nil) }
            // Later callers start the work anew.
            state.flights[key] = nil
            return (continuation, flight.task)
        }
        continuation?.resume(returning: nil)
        task?.cancel()
    }
}
