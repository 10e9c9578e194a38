public import WebImageCore
import WebImageSystem

/// A small HTTP/1.1 server on 127.0.0.1. A test or demo decides its answers and faults.
///
/// It has threads of its own, one for each connection; any thread may use it. It stops when it is released, or with
/// ``stop()``. It answers 404 to paths for which nothing is served. Hit counts are exact.
public final class OriginServer: Sendable {
    /// Makes the response to a request; runs on the connection's thread, which it may block.
    public typealias Handler = @Sendable (RecordedRequest) -> OriginResponse

    /// The most connections that are served at a time; further ones wait until one ends.
    public static let maxConnections = 256

    private let state: OriginState
    public let port: Int

    /// Starts listening.
    ///
    /// - Parameter port: the port; 0, the default, takes a free one.
    /// - Throws: `connectionRefused` if the port is taken.
    public init(port: UInt16 = 0) throws(WebImageError) {
        let listener = try LoopbackSocket.listening(port: port)
        self.port = Int(listener.port)
        state = OriginState(listener)
        let state = state
        startThread(named: "wi-origin") { state.acceptConnections() }
    }

    deinit { stop() }

    /// Closes the port and all connections, and ends all waits for events at this server.
    public func stop() { state.stop() }

    // MARK: - What is served

    /// Serves `responses` at a path: the n-th response answers the n-th request, and the last one all further requests.
    /// A path with a query takes precedence over the same path without one.
    public func serve(_ path: String, _ responses: OriginResponse...) {
        precondition(!responses.isEmpty, "a path needs a response")
        serve(path) { responses[min($0.earlierHits, responses.count - 1)] }
    }

    /// Serves the answers of `handler` at a path.
    public func serve(_ path: String, _ handler: @escaping Handler) {
        state.serve(path, handler)
    }

    /// Serves the answers of `handler` at all paths with this prefix that have no response of their own.
    public func serve(under prefix: String, _ handler: @escaping Handler) {
        state.serve(under: prefix, handler)
    }

    /// The URL of a path on this server.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    // MARK: - What happened

    /// The number of requests for a path; if `path` has a query, only those with that query.
    public func hits(_ path: String) -> Int { state.ledger.read { $0.tally(path).hits } }

    /// The requests in order; if `path` is given, only those for that path or with that query.
    public func requests(_ path: String? = nil) -> [RecordedRequest] {
        state.ledger.read { $0.requests }.filter { path == nil || $0.path == path || $0.target == path }
    }

    /// The number of bytes of bodies that were handed to the system for a path.
    public func bodyBytesSent(_ path: String) -> Int { state.ledger.read { $0.tally(path).bodyBytes } }

    /// The number of connections that were accepted so far.
    public var connectionCount: Int { state.ledger.read { $0.accepted } }

    /// The number of open connections.
    public var openConnections: Int { state.ledger.read { $0.open } }
}

/// Waits for events without polling. Each function returns whether the event happened within the timeout (120 s by
/// default). It also returns false if the task is cancelled or the server stops.
extension OriginServer {
    /// Waits until `count` requests have come for a path.
    @discardableResult
    public func waitForHits(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await state.ledger.wait(timeout) { $0.tally(path).hits >= count }
    }

    /// Waits until `count` responses have reached a gate (open or not) or a stall, with everything before it sent.
    @discardableResult
    public func waitForHeld(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await state.ledger.wait(timeout) { $0.tally(path).held >= count }
    }

    /// Waits until the client has closed the connection during `count` responses.
    @discardableResult
    public func waitForClosed(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await state.ledger.wait(timeout) { $0.tally(path).abandoned >= count }
    }

    /// Waits until `count` responses were sent to their end, or to the cut or reset that they are scripted to have.
    @discardableResult
    public func waitForFinished(_ path: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await state.ledger.wait(timeout) { $0.tally(path).finished >= count }
    }

    /// Waits until at most `count` connections are open.
    @discardableResult
    public func waitForOpenConnections(atMost count: Int, timeout: Duration = .seconds(120)) async -> Bool {
        await state.ledger.wait(timeout) { $0.open <= count }
    }
}
