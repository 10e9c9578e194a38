import FleetConnections
public import NIOCore
import NIOHTTP1
import NIOPosix
import S3Signing
import Synchronization

/// Reads and writes the objects of one bucket, whose keys begin with one prefix. Any thread may use it.
///
/// Every request ends within its deadline, with an answer or an error. A task that is cancelled stops waiting at once.
public final class S3Client: Sendable {
    /// Counts since the client was made.
    public struct Statistics: Hashable, Sendable {
        public var requests = 0
        public var failures = 0
        /// Requests that were not sent because the server had failed and was not asked for a while.
        public var spared = 0
        /// How often the server failed so often that it was not asked for a while.
        public var openings = 0
        /// Bytes of objects that were read.
        public var bytesRead = 0
        /// Bytes of objects that were written.
        public var bytesWritten = 0

        public init() {}
    }

    /// A notice about the state of the server.
    public enum Notice: Hashable, Sendable {
        /// The server is not asked for a while, because it failed with this error. Sent once until ``recovered``.
        case failing(S3Error)
        /// The server carries out requests again.
        case recovered
    }

    private struct State {
        var circuit = Circuit()
        var statistics = Statistics()
        var isClosed = false
        /// Whether the storage has not refused a conditional PUT.
        var knowsConditions = true
    }

    let configuration: S3Configuration
    private let pool: ConnectionPool
    private let probeLoop: any EventLoop
    private let state = Mutex(State())
    private let onNotice: @Sendable (Notice) -> Void

    /// - Parameters:
    ///   - group: the event loops of the connections.
    ///   - onNotice: called when the server fails and when it works again.
    /// - Throws: `configuration`.
    public convenience init(
        _ configuration: S3Configuration, group: any EventLoopGroup,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws(S3Error) {
        try self.init(configuration, group: group, resolver: nil, onNotice: onNotice)
    }

    /// - Parameter resolver: finds the addresses of the server; nil: the system's resolver.
    init(
        _ configuration: S3Configuration, group: any EventLoopGroup, resolver: (any Resolver & Sendable)?,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws(S3Error) {
        self.configuration = configuration
        self.onNotice = onNotice
        probeLoop = group.next()
        pool = try ConnectionPool(configuration, group: group, resolver: resolver)
    }

    deinit { pool.closeLater() }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Whether requests are sent. False for a while after several failures in a row, and after ``close()``.
    public var isAvailable: Bool { state.withLock { !$0.circuit.isOpen && !$0.isClosed } }

    var knowsConditions: Bool { state.withLock { $0.knowsConditions } }

    func forgetConditions() { state.withLock { $0.knowsConditions = false } }

    /// See ``S3Configuration/longestBody``.
    public var longestBody: Int { configuration.longestBody }

    /// How many PUT requests are sent at a time at most.
    public var maxWrites: Int { max(configuration.maxConnections / 2, 1) }

    /// How many open connections carry no request.
    var unusedConnections: Int { pool.unusedCount }

    /// Closes all connections. Waiting requests end with `closed`.
    public func close() async {
        state.withLock { $0.isClosed = true }
        await pool.close()
    }

    /// - Returns: an answer with a status of 200 to 299, or 404 if there is no such object.
    func send(_ request: S3Request, _ body: ByteBuffer? = nil, deadline: TimeAmount) async throws(S3Error) -> Answer {
        try state.withLock { (state) throws(S3Error) in
            if state.isClosed { throw .closed }
            if state.circuit.isOpen {
                state.statistics.spared += 1
                throw .circuitOpen
            }
            state.statistics.requests += 1
        }
        let result = await carry(request, body, deadline)
        note(result, written: body?.readableBytes ?? 0)
        return try result.get()
    }

    private func carry(
        _ request: S3Request, _ body: ByteBuffer?, _ deadline: TimeAmount
    ) async -> Result<Answer, S3Error> {
        let exchange: Exchange
        do throws(S3Error) { exchange = Exchange(try wireRequest(request, body)) } catch { return .failure(error) }
        let result = await withTaskCancellationHandler {
            pool.submit(exchange, deadline: deadline)
            return await exchange.result()
        } onCancel: {
            pool.abandon(exchange, .cancelled)
        }
        return result.flatMap { answer in answer.error(to: request).map { .failure($0) } ?? .success(answer) }
    }

    private func wireRequest(_ request: S3Request, _ body: ByteBuffer?) throws(S3Error) -> WireRequest {
        var fields = request.headers + [S3Field("host", request.location.host)]
        if let credentials = try configuration.credentialsForRequest() {
            let time = S3Timestamp(secondsSince1970: WallClock.now)
            fields = S3Signature(of: request, by: credentials, at: time).headers
        }
        var headers = HTTPHeaders(fields.map { ($0.name, $0.value) })
        headers.add(name: "user-agent", value: "webimage")
        if let body { headers.add(name: "content-length", value: String(body.readableBytes)) }
        let method = HTTPMethod(rawValue: request.method)
        return WireRequest(
            head: HTTPRequestHead(version: .http1_1, method: method, uri: request.target, headers: headers), body: body)
    }

    // MARK: - The circuit

    private func note(_ result: Result<Answer, S3Error>, written: Int) {
        let action = state.withLock { state -> Circuit.Action in
            switch result {
            case .failure(let error) where error.isFailure:
                state.statistics.failures += 1
                let action = state.circuit.fail()
                if case .open = action { state.statistics.openings += 1 }
                return action
            case .success(let answer):
                if answer.status < 300 {
                    state.statistics.bytesRead += answer.body.readableBytes
                    state.statistics.bytesWritten += written
                }
                return state.circuit.succeed()
            case .failure(let error): return error.isAnswer ? state.circuit.succeed() : .nothing
            }
        }
        switch (action, result) {
        case (.open(let pause), .failure(let error)):
            onNotice(.failing(error))
            probe(after: pause)
        case (.probe(let pause), _): probe(after: pause)
        case (.recovered, _): onNotice(.recovered)
        default: break
        }
    }

    private func probe(after pause: TimeAmount) {
        probeLoop.scheduleTask(in: pause) { [weak self] in
            Task { await self?.probe() }
        }
    }

    /// Requests the head of an object with the name of the prefix. That it does not exist, or that access is denied, is
    /// an answer, too.
    private func probe() async {
        guard !state.withLock({ $0.isClosed }) else { return }
        let request = S3Request("HEAD", configuration.location(configuration.prefix))
        let succeeded =
            switch await carry(request, nil, configuration.readDeadline) {
            case .success: true
            case .failure(let error): error.isAnswer
            }
        guard !state.withLock({ $0.isClosed }) else { return }
        if case .probe(let pause) = state.withLock({ $0.circuit.endProbe(succeeded: succeeded) }) {
            probe(after: pause)
        }
    }
}
