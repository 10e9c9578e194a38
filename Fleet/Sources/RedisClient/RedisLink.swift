import FleetConnections
import NIOCore
import NIOPosix
import RESP

/// A connection to a server, which is opened, initialised, and reopened after it was lost. It belongs to its event
/// loop, on which every method must be called.
final class RedisLink: @unchecked Sendable {  // Its state is touched on its event loop only.
    private enum Phase {
        case idle
        case connecting
        case introducing(any Channel, answersLeft: Int)
        case ready(any Channel)
        /// The connection was lost, and will be reopened after a while.
        case waiting
        case closed
    }

    /// Receives the events of the connection, on its event loop.
    struct Observer {
        var ready: () -> Void
        /// A value came from the server.
        var received: (RESPValue) -> Void
        /// The connection is lost, or could not be opened.
        var lost: (RedisError) -> Void
        /// A lost connection may be reopened.
        var mayConnect: () -> Void = {}
    }

    private static let shortestGoodLife = TimeAmount.seconds(1)

    let loop: any EventLoop
    private let configuration: RedisConfiguration
    private let secure: SecureConnections?
    private var phase = Phase.idle
    private var observer: Observer?
    private var backoff: TimeAmount
    /// When the connection became ready.
    private var readySince = NIODeadline.now()
    private var timer: Scheduled<Void>?
    private var flushIsScheduled = false
    /// The reason why there is no connection; nil while there is one, and before the first attempt has failed.
    private(set) var failure: RedisError?

    init(_ configuration: RedisConfiguration, _ secure: SecureConnections?, on loop: any EventLoop) {
        self.configuration = configuration
        self.secure = secure
        self.loop = loop
        backoff = configuration.backoff.first
    }

    var isReady: Bool { if case .ready = phase { true } else { false } }

    /// Whether commands can be sent: there is a connection, or one is being opened.
    var acceptsCommands: Bool {
        switch phase {
        case .idle, .connecting, .introducing, .ready: true
        case .waiting, .closed: false
        }
    }

    func observe(_ observer: Observer) { self.observer = observer }

    /// Opens the connection if there is none. Does nothing while it waits after a failure.
    func connect() {
        guard case .idle = phase else { return }
        phase = .connecting
        let secure = secure
        let limits = configuration.limits
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(configuration.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let secure { try channel.pipeline.syncOperations.addHandler(secure.handler()) }
                    try channel.pipeline.syncOperations.addHandler(RedisChannelHandler(self, limits))
                }
            }
        let connection =
            switch configuration.address {
            case .tcp(let host, let port): bootstrap.connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connection.whenFailure { [weak self] error in self?.lose(.noConnection(ConnectionFailure.text(error))) }
    }

    /// Opens the connection, even while it waits after a failure.
    func connectNow() {
        if case .waiting = phase { endWait() }
        connect()
    }

    /// Writes a command. The connection must be ready.
    func write(_ bytes: ByteBuffer) {
        guard case .ready(let channel) = phase else { return }
        channel.write(bytes, promise: nil)
        // Other writes in this turn of the loop are flushed together.
        guard !flushIsScheduled else { return }
        flushIsScheduled = true
        loop.execute { [weak self] in
            guard let self else { return }
            flushIsScheduled = false
            if case .ready(let channel) = phase { channel.flush() }
        }
    }

    /// Gives up the connection, in order to reopen it.
    func drop(_ error: RedisError) {
        let channel = channel
        // `lose` comes first, so that closing the channel reports no other reason.
        lose(error)
        channel?.close(promise: nil)
    }

    private var channel: (any Channel)? {
        switch phase {
        case .ready(let channel), .introducing(let channel, _): channel
        case .idle, .connecting, .waiting, .closed: nil
        }
    }

    /// Closes the connection permanently.
    func close() {
        timer?.cancel()
        let channel = channel
        phase = .closed
        observer?.lost(.closed)
        observer = nil
        channel?.close(promise: nil)
    }

    // MARK: - Events of the channel

    /// The connection is established; a TLS handshake may still be in progress.
    func connected(_ channel: any Channel) {
        guard case .connecting = phase else { return channel.close(promise: nil) }
        var bytes = ByteBuffer()
        let commands = introduction
        for command in commands { RESPEncoder.write(command: command, to: &bytes) }
        phase = .introducing(channel, answersLeft: commands.count)
        channel.writeAndFlush(bytes, promise: nil)
        let failure = RedisError.noConnection(ConnectionFailure.silence(byTLS: configuration.usesTLS))
        timer = loop.scheduleTask(in: configuration.connectTimeout) { [weak self] in
            self?.drop(failure)
        }
    }

    func received(_ value: RESPValue, on channel: any Channel) {
        switch phase {
        case .introducing(let current, let left) where current === channel:
            if case .error(let text) = value { return drop(.refused(withoutCredentials(text))) }
            // The answer to HELLO, the first command, is a map.
            if left == introduction.count, value.pairs == nil {
                return drop(.noConnection("the server does not answer HELLO as Redis does"))
            }
            guard left == 1 else {
                phase = .introducing(channel, answersLeft: left - 1)
                return
            }
            timer?.cancel()
            readySince = loop.now
            failure = nil
            phase = .ready(channel)
            observer?.ready()
        case .ready(let current) where current === channel: observer?.received(value)
        default: break
        }
    }

    func failed(_ error: RedisError, on channel: any Channel) {
        switch phase {
        case .introducing(let current, _) where current === channel:
            drop(
                error == .connectionLost ? .noConnection(ConnectionFailure.early(byTLS: configuration.usesTLS)) : error)
        case .ready(let current) where current === channel: drop(error)
        // An earlier channel may end late with TLS. A failed attempt to connect is reported by its bootstrap.
        default: break
        }
    }

    private var introduction: [[RESPArgument]] {
        var hello: [RESPArgument] = ["HELLO", "3"]
        if let password = configuration.password {
            hello += ["AUTH", RESPArgument(configuration.user ?? "default"), RESPArgument(password)]
        }
        let greeting = hello + ["SETNAME", "webimage"]
        if configuration.database == 0 { return [greeting] }
        return [greeting, ["SELECT", RESPArgument(configuration.database)]]
    }

    /// Removes the password from a refusal: a Redis that does not know HELLO repeats its first arguments, which include
    /// the password.
    private func withoutCredentials(_ text: String) -> String {
        let end = text.firstRange(of: ", with args")?.lowerBound ?? text.endIndex
        let text = String(text[..<end])
        guard let password = configuration.password, !password.isEmpty, text.contains(password) else { return text }
        return "a refusal that repeats the password"
    }

    private func lose(_ error: RedisError) {
        switch phase {
        case .waiting, .closed, .idle: return
        case .connecting, .introducing: break
        case .ready:
            // A server may accept every connection and then refuse its commands, so that only a connection that has
            // lasted counts as good.
            if loop.now - readySince >= Self.shortestGoodLife { backoff = configuration.backoff.first }
        }
        failure = error
        timer?.cancel()
        phase = .waiting
        let pause = backoff.nanoseconds - Int64.random(in: 0...max(backoff.nanoseconds / 2, 0))
        backoff = min(backoff * 2, configuration.backoff.most)
        timer = loop.scheduleTask(in: .nanoseconds(pause)) { [weak self] in self?.endWait(andTell: true) }
        observer?.lost(error)
    }

    private func endWait(andTell tells: Bool = false) {
        guard case .waiting = phase else { return }
        timer?.cancel()
        phase = .idle
        if tells { observer?.mayConnect() }
    }
}

/// Parses the bytes of a channel into values for a link.
private final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: RedisLink
    private var parser: RESPParser

    init(_ link: RedisLink, _ limits: RESPLimits) {
        self.link = link
        parser = RESPParser(limits)
    }

    func channelActive(context: ChannelHandlerContext) {
        link.connected(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        do throws(RESPError) {
            while let value = try parser.next() { link.received(value, on: context.channel) }
        } catch {
            link.failed(.malformed(error), on: context.channel)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        link.failed(.connectionLost, on: context.channel)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isHandshakeFailure = SecureConnections.isHandshakeFailure(error)
        link.failed(
            isHandshakeFailure ? .noConnection(ConnectionFailure.handshake(error)) : .connectionLost,
            on: context.channel)
        context.close(promise: nil)
    }
}
