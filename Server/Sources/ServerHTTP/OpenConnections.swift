import Synchronization

/// The connections of clients. If there are too many, the one that has been idle longest is closed, so that clients
/// that connect and do nothing do not lock out others. Any thread may use it.
final class OpenConnections: Sendable {
    typealias ID = Int

    private struct Idle {
        var since: Int
        var close: @Sendable () -> Void
    }

    private struct State {
        var open = 0
        var last = 0
        var idle: [ID: Idle] = [:]
        /// The idle connections in the order in which they became idle. An entry is valid if its connection has been
        /// idle since then.
        var order: [(id: ID, since: Int)] = []
        var first = 0

        mutating func next() -> Int {
            last += 1
            return last
        }

        mutating func append(_ id: ID, _ close: @escaping @Sendable () -> Void) {
            let since = next()
            idle[id] = Idle(since: since, close: close)
            order.append((id, since))
            // Invalid entries are removed now and then.
            if order.count > 2 * idle.count + 64 {
                order = order[first...].filter { idle[$0.id]?.since == $0.since }
                first = 0
            }
        }

        mutating func takeOldest() -> Idle? {
            while first < order.count {
                let (id, since) = order[first]
                first += 1
                guard let found = idle[id], found.since == since else { continue }
                idle[id] = nil
                return found
            }
            return nil
        }
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: how many connections may be open before idle ones are closed.
    init(most: Int) { self.most = most }

    var count: Int { state.withLock { $0.open } }
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// Registers a new connection.
    ///
    /// - Parameter close: closes the connection unless a request has arrived by then. Called at most once, on any
    ///   thread.
    func opened(_ close: @escaping @Sendable () -> Void) -> ID {
        let (id, oldest) = state.withLock { state in
            let id = state.next()
            state.open += 1
            let oldest = state.open > most ? state.takeOldest() : nil
            state.append(id, close)
            return (id, oldest)
        }
        oldest?.close()
        return id
    }

    /// Called when a request has arrived.
    func becomesBusy(_ id: ID) { state.withLock { $0.idle[id] = nil } }

    /// Called when all requests are answered.
    func becomesIdle(_ id: ID, _ close: @escaping @Sendable () -> Void) { state.withLock { $0.append(id, close) } }

    func closed(_ id: ID) {
        state.withLock { state in
            state.open -= 1
            state.idle[id] = nil
        }
    }
}
