public import WebImageCore
import WebImageSystem

/// A small HTTP/1.1 server on 127.0.0.1 whose answers, and faults, a test or demo decides.
///
/// It has threads of its own, one a connection; any thread may use it. It stops when it goes out of memory, or with
/// ``stop()``. A path that nothing is served at answers 404. Hit counts are exact.
public final class OriginServer: Sendable {
    /// Makes the response to a request; runs on the connection's thread, which it may block.
    public typealias Handler = @Sendable (RecordedRequest) -> OriginResponse

    /// The most connections that are served at once; more wait until one ends.
    public static let mostConnections = 256

    private let house: OriginHouse
    public let port: Int

    /// Starts listening.
    ///
    /// - Parameter port: 0, the default, takes a free one.
    /// - Throws: `connectionRefused` when the port is taken.
    public init(port: UInt16 = 0) throws(WebImageError) {
        let listener = try LoopbackSocket.listening(port: port)
        self.port = Int(listener.port)
        house = OriginHouse(listener)
        let house = house
        startThread(named: "wi-origin") { house.acceptConnections() }
    }

    deinit { stop() }

    /// Closes the port and all connections, and ends all waits for something to happen here.
    public func stop() { house.stop() }

    // MARK: - What is served

    /// Serves `responses` at a path: the n-th to the n-th request, the last to all that follow. A path with a query
    /// goes before the same path without.
    public func serve(_ path: String, _ responses: OriginResponse...) {
        precondition(!responses.isEmpty, "a path needs a response")
        serve(path) { responses[min($0.earlierHits, responses.count - 1)] }
    }

    /// Serves what `handler` answers at a path.
    public func serve(_ path: String, _ handler: @escaping Handler) {
        house.serve(path, handler)
    }

    /// Serves what `handler` answers at all paths that begin so and have no response of their own.
    public func serve(under prefix: String, _ handler: @escaping Handler) {
        house.serve(under: prefix, handler)
    }

    /// The URL of a path on this server.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    // MARK: - What happened

    /// How many requests came for a path; for one query of it when `path` has one.
    public func hits(_ path: String) -> Int { house.ledger.read { $0.tally(path).hits } }

    /// The requests that came, in order; for one path only, if given, or one query of it.
    public func requests(_ path: String? = nil) -> [RecordedRequest] {
        house.ledger.read { $0.requests }.filter { path == nil || $0.path == path || $0.target == path }
    }

    /// How many bytes of bodies were handed to the system for a path.
    public func bodyBytesSent(_ path: String) -> Int { house.ledger.read { $0.tally(path).bodyBytes } }

    /// How many connections were accepted so far.
    public var connectionCount: Int { house.ledger.read { $0.accepted } }

    /// How many connections are open.
    public var openConnections: Int { house.ledger.read { $0.open } }
}

/// Waits for something to happen, without polling. Each returns whether it did within the timeout (30 s by default);
/// false also when the task is cancelled or the server stops.
extension OriginServer {
    /// Waits until a path was asked for so many times.
    @discardableResult
    public func waitForHits(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await house.ledger.wait(timeout) { $0.tally(path).hits >= count }
    }

    /// Waits until so many responses came to a gate (open or not) or a stall, all before it sent.
    @discardableResult
    public func waitForHeld(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await house.ledger.wait(timeout) { $0.tally(path).held >= count }
    }

    /// Waits until the client went away during so many responses.
    @discardableResult
    public func waitForClosed(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await house.ledger.wait(timeout) { $0.tally(path).abandoned >= count }
    }

    /// Waits until so many responses were sent to their end, or to the cut or reset that they were made for.
    @discardableResult
    public func waitForFinished(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await house.ledger.wait(timeout) { $0.tally(path).finished >= count }
    }

    /// Waits until no more than so many connections are open.
    @discardableResult
    public func waitForOpenConnections(atMost count: Int, timeout: Duration = .seconds(120)) async -> Bool {
        await house.ledger.wait(timeout) { $0.open <= count }
    }
}
