import FleetConnections
import NIOCore
import NIOPosix
import S3Signing
import Synchronization

/// The connections of a client. Any thread may use it.
final class ConnectionPool: Sendable {
    private typealias State = Places<Exchange, S3Connection>

    let longestBody: Int
    let idleLimit: TimeAmount
    private let host: String
    private let port: Int
    private let connectTimeout: TimeAmount
    private let secure: SecureConnections?
    private let resolver: (any Resolver & Sendable)?
    private let loops: [any EventLoop]
    private let nextLoop = Atomic<Int>(0)
    private let state: Mutex<State>

    /// - Parameter resolver: nil: the system finds the addresses.
    /// - Throws: `configuration`.
    init(
        _ configuration: S3Configuration, group: any EventLoopGroup, resolver: (any Resolver & Sendable)?
    ) throws(S3Error) {
        self.resolver = resolver
        let endpoint = configuration.endpoint
        host = configuration.location("").hostName
        port = endpoint.port ?? endpoint.scheme.defaultPort
        longestBody = configuration.longestBody
        idleLimit = configuration.idleLimit
        connectTimeout = configuration.connectTimeout
        loops = Array(group.makeIterator())
        state = Mutex(
            State(maxConnections: configuration.maxConnections, maxWaiting: configuration.maxWaiting) {
                $0.request.body != nil
            })
        do throws(SecureConnectionError) {
            secure =
                endpoint.scheme == .https
                ? try SecureConnections(to: host, certificateAuthorities: configuration.certificateAuthorities) : nil
        } catch {
            throw .configuration("S3 cannot be asked by https://: \(error)")
        }
    }

    /// How many open connections carry no request.
    var unusedCount: Int { state.withLock { $0.unusedCount } }

    /// Sends a request when there is a connection for it.
    func submit(_ exchange: Exchange, deadline: TimeAmount) {
        guard !exchange.isOver else { return }
        exchange.setTimer(
            loop().scheduleTask(in: deadline) { [weak self, weak exchange] in
                guard let self, let exchange else { return }
                // The server is not to blame if others have all connections.
                abandon(exchange, state.withLock { $0.waitsForOthers(exchange) } ? .overloaded : .timedOut)
            })
        act { $0.add(exchange) }
    }

    /// Ends a request before its answer has come.
    func abandon(_ exchange: Exchange, _ error: S3Error) {
        if let connection = exchange.end(.failure(error)) {
            connection.loop.execute { connection.abandon(exchange) }
        } else {
            state.withLock { $0.remove(exchange) }
        }
    }

    /// Closes all connections. All requests end with `closed`.
    func close() async {
        for connection in beginClose() {
            try? await connection.loop.submit { connection.close() }.get()
        }
    }

    /// The same as ``close()``, without waiting.
    func closeLater() {
        for connection in beginClose() {
            connection.loop.execute { connection.close() }
        }
    }

    private func beginClose() -> [S3Connection] {
        let left = state.withLock { $0.close() }
        for exchange in left.waiting { exchange.end(.failure(.closed)) }
        return left.connections
    }

    // MARK: - Events of connections

    func free(_ connection: S3Connection) { act { $0.free(connection) } }

    func lose(_ connection: S3Connection, retrying exchange: Exchange? = nil) {
        act { $0.lose(connection, retrying: exchange) }
    }

    func retry(_ exchange: Exchange) { act { $0.addAgain(exchange) } }

    /// - Returns: whether the connection was unused; the pool then never uses it again.
    func retire(_ connection: S3Connection) -> Bool { state.withLock { $0.retire(connection) } }

    // MARK: - Actions

    private func act(_ change: (inout State) -> [State.Action]) {
        for action in state.withLock({ change(&$0) }) {
            switch action {
            case .connect: connect()
            case .start(let exchange, let connection):
                // The request starts in a later turn of the loop, so that data that is being read now is not taken for
                // its answer.
                connection.loop.execute { connection.start(exchange) }
            // The connection has just been opened, so that this is its event loop.
            case .keep(let connection): connection.waitForUse()
            case .fail(let exchange, let error): exchange.end(.failure(error))
            case .close(let connection): connection.loop.execute { connection.close() }
            }
        }
    }

    private func loop() -> any EventLoop {
        loops[nextLoop.wrappingAdd(1, ordering: .relaxed).newValue & Int.max % loops.count]
    }

    private func connect() {
        let loop = loop()
        // A host with several addresses may get several connections at a time, one of which becomes the result.
        let made = NIOLoopBoundBox<[S3Connection]>.makeBoxSendingValue([], eventLoop: loop)
        ClientBootstrap(group: loop).resolver(resolver).connectTimeout(connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    made.value.append(try S3Connection.add(to: channel, self, secure))
                }
            }
            .connect(host: host, port: port)
            .whenComplete { [self] result in
                // The connection may already have ended, for example because its certificate is not trusted.
                guard case .success(let channel) = result,
                    let connection = made.value.first(where: { $0.isOf(channel) }), !connection.isGone
                else {
                    let error = made.value.lazy.compactMap(\.end).first ?? .connectionLost
                    return act { $0.failedToConnect(error) }
                }
                act { $0.connected(connection) }
            }
    }
}
