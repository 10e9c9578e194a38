import Synchronization

/// Records events in order, and lets tests wait for them.
public final class EventLog<Event: Sendable>: Sendable {
    private struct Waiter: Sendable {
        var isMet: @Sendable ([Event]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var events: [Event] = []
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var events: [Event] { state.withLock { $0.events } }

    public func append(_ event: Event) {
        let met = state.withLock { state in
            state.events.append(event)
            let met = state.waiters.filter { $0.isMet(state.events) }
            if !met.isEmpty { state.waiters.removeAll { $0.isMet(state.events) } }
            return met
        }
        for waiter in met { waiter.continuation.resume() }
    }

    /// Returns when the events meet a condition.
    public func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetNow = state.withLock { state in
                if isMet(state.events) { return true }
                state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }
}
