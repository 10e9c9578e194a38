import Synchronization

/// The connections of clients. When there are more than wanted, the one that has asked for nothing for longest makes room for the new
/// one, so that nobody keeps others out by connecting and then doing nothing. Any thread may use it.
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
        /// Those that became idle, in order. An entry counts while the connection has been idle since then.
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
            // What counts no more is thrown away now and then.
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

    /// - Parameter most: connections at a time, when any of them is idle.
    init(most: Int) { self.most = most }

    var count: Int { state.withLock { $0.open } }
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// A client has connected.
    ///
    /// - Parameter close: closes the connection unless a request has come by then. Called once at most, on any thread.
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

    /// A request has come.
    func becomesBusy(_ id: ID) { state.withLock { $0.idle[id] = nil } }

    /// All requests are answered.
    func becomesIdle(_ id: ID, _ close: @escaping @Sendable () -> Void) { state.withLock { $0.append(id, close) } }

    func closed(_ id: ID) {
        state.withLock { state in
            state.open -= 1
            state.idle[id] = nil
        }
    }
}
