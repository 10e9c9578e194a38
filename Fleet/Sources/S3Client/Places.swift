/// Assigns requests to connections, and keeps those that wait. A pure value: it is given the events and returns
/// actions.
///
/// A free connection gets the request that has waited longest. Connections are opened while more requests wait than
/// connections are being opened, up to a limit. Long requests, which are those that write, get half of the connections
/// at most, so that short ones do not have to wait for them.
struct Places<Request: Equatable & Sendable, Connection: Hashable & Sendable>: Sendable {
    enum Action: Equatable, Sendable {
        /// Open a connection, then call `connected` or `failedToConnect`.
        case connect
        /// Send the request on the connection.
        case start(Request, Connection)
        /// Keep the new connection, which no request needs yet, and close it if that remains so.
        case keep(Connection)
        /// End the request with an error.
        case fail(Request, S3Error)
        case close(Connection)
    }

    private struct Waiting {
        var request: Request
        var isLong: Bool
        /// Whether the request failed on a connection that had been unused, so that it needs a new one.
        var wantsNew = false
    }

    private let maxConnections: Int
    private let maxWaiting: Int
    private let maxLong: Int
    private let isLong: @Sendable (Request) -> Bool
    /// All open connections, including unused ones.
    private var connections: Set<Connection> = []
    /// The most recently used one is used next, so that the others expire.
    private var unused: [Connection] = []
    private var connecting = 0
    /// The connections that carry long requests.
    private var long: Set<Connection> = []
    private var waiting: [Waiting] = []
    private(set) var isClosed = false

    /// - Parameter isLong: whether a request may take long.
    init(maxConnections: Int, maxWaiting: Int, isLong: @escaping @Sendable (Request) -> Bool = { _ in false }) {
        self.isLong = isLong
        self.maxConnections = max(maxConnections, 1)
        maxLong = max(self.maxConnections / 2, 1)
        self.maxWaiting = max(maxWaiting, 0)
    }

    /// Existing connections and those being opened.
    var count: Int { connections.count + connecting }
    var unusedCount: Int { unused.count }
    var waitingCount: Int { waiting.count }
    /// Whether a request waits although there are connections: others have all of them, or as many as it may have.
    func waitsForOthers(_ request: Request) -> Bool {
        !connections.isEmpty && waiting.contains { $0.request == request }
    }

    /// How many waiting requests may start as soon as there are connections for them.
    private var startable: Int {
        let longOnes = waiting.count(where: \.isLong)
        return waiting.count - longOnes + min(longOnes, max(maxLong - long.count, 0))
    }

    private func mayStart(_ waiting: Waiting) -> Bool { !waiting.isLong || long.count < maxLong }

    private mutating func start(at index: Int, on connection: Connection) -> Action {
        let next = waiting.remove(at: index)
        if next.isLong { long.insert(connection) }
        return .start(next.request, connection)
    }

    mutating func add(_ request: Request) -> [Action] {
        if isClosed { return [.fail(request, .closed)] }
        let (isLong, longOnes) = (isLong(request), waiting.count(where: \.isLong))
        let mayStart = !isLong || long.count + longOnes < maxLong
        let hasPlace = mayStart && (!unused.isEmpty || count < maxConnections)
        // A request for which a connection is being opened does not count as waiting. Long requests leave half of the
        // room to others.
        let hasRoom = waiting.count - connecting < maxWaiting && (!isLong || longOnes < (maxWaiting + 1) / 2)
        guard hasPlace || hasRoom else { return [.fail(request, .overloaded)] }
        waiting.append(Waiting(request: request, isLong: isLong))
        return assign()
    }

    /// Adds a request again that failed because its connection, which had been unused, was closed. It goes first, and
    /// gets a new connection.
    mutating func addAgain(_ request: Request) -> [Action] {
        if isClosed { return [.fail(request, .closed)] }
        waiting.insert(Waiting(request: request, isLong: isLong(request), wantsNew: true), at: 0)
        return assign()
    }

    /// Removes a request that no longer waits.
    mutating func remove(_ request: Request) { waiting.removeAll { $0.request == request } }

    mutating func connected(_ connection: Connection) -> [Action] {
        connecting -= 1
        if isClosed { return [.close(connection)] }
        connections.insert(connection)
        guard let index = waiting.firstIndex(where: { mayStart($0) }) else {
            unused.append(connection)
            return [.keep(connection)]
        }
        return [start(at: index, on: connection)] + assign()
    }

    /// Called when a connection could not be opened.
    ///
    /// - Parameter error: the error for the request that has waited longest, unless another connection is being opened
    ///   for it.
    mutating func failedToConnect(_ error: S3Error) -> [Action] {
        connecting -= 1
        guard startable > connecting, let index = waiting.firstIndex(where: { mayStart($0) }) else { return [] }
        return [.fail(waiting.remove(at: index).request, error)] + assign()
    }

    /// Called when a connection is free again.
    mutating func free(_ connection: Connection) -> [Action] {
        guard connections.contains(connection) else { return [] }
        long.remove(connection)
        unused.append(connection)
        return assign()
    }

    /// Called when a connection is closed, or about to be.
    ///
    /// - Parameter request: a request that was not carried out and is retried.
    mutating func lose(_ connection: Connection, retrying request: Request? = nil) -> [Action] {
        connections.remove(connection)
        long.remove(connection)
        unused.removeAll { $0 == connection }
        guard let request else { return assign() }
        return addAgain(request)
    }

    /// Removes the connection if it is unused.
    mutating func retire(_ connection: Connection) -> Bool {
        guard let index = unused.firstIndex(of: connection) else { return false }
        unused.remove(at: index)
        connections.remove(connection)
        return true
    }

    /// Closes the pool: no further requests are started.
    ///
    /// - Returns: the waiting requests, and the existing connections.
    mutating func close() -> (waiting: [Request], connections: [Connection]) {
        defer {
            (isClosed, waiting, unused) = (true, [], [])
            connections = []
        }
        return (waiting.map(\.request), Array(connections))
    }

    private mutating func assign() -> [Action] {
        if isClosed { return [] }
        var actions: [Action] = []
        while let connection = unused.last, let index = waiting.firstIndex(where: { !$0.wantsNew && mayStart($0) }) {
            unused.removeLast()
            actions.append(start(at: index, on: connection))
        }
        while startable > connecting {
            if count >= maxConnections {
                // A request that needs a new connection replaces an unused one.
                guard !unused.isEmpty else { break }
                let oldest = unused.removeFirst()
                connections.remove(oldest)
                actions.append(.close(oldest))
            }
            connecting += 1
            actions.append(.connect)
        }
        return actions
    }
}
