import Synchronization

/// Work that several ask for at the same time, and that is done once. Any thread may use it.
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

    /// How many are in the air.
    var count: Int { state.withLock { $0.flights.count } }

    /// How many wait for any of it.
    var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// How many wait for the work of a key.
    func waiters(_ key: String) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// The value of the work that runs for the key, or of `work`, which is begun when there is none. The work is cancelled
    /// when nobody waits for it any more.
    ///
    /// - Returns: nil when the caller's task was cancelled; and whether the caller came to work that ran already.
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
        // The last one has left already; or it has ended.
        if !isWanted { task.cancel() }
    }

    private func leave(_ key: String, _ waiter: Int) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (continuation, nil) }
            // Who comes now begins anew.
            state.flights[key] = nil
            return (continuation, flight.task)
        }
        continuation?.resume(returning: nil)
        task?.cancel()
    }
}
