import FleetConnections
import NIOCore
import NIOHTTP1

/// A connection to the server, which carries one request at a time. It belongs to its event loop, on which every method
/// must be called.
final class S3Connection: ChannelInboundHandler, @unchecked Sendable {  // Its state is touched on its event loop only.
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The maximum length of the status line and headers of an answer, in bytes.
    static let longestHead = 64 << 10

    private struct Work {
        let exchange: Exchange
        var reader: AnswerReader
        /// Whether the connection was unused before this request, so that the server may have closed it meanwhile.
        let wasUnused: Bool
        var isWritten = false
    }

    let loop: any EventLoop
    private let channel: any Channel
    private let pool: ConnectionPool
    private let notice = FirstByteNotice()
    private var secure: (any ChannelHandler)?
    private var work: Work?
    private var wasUnused = false
    private var idleTimer: Scheduled<Void>?
    /// The reason why the connection is closed or about to be, which the pool already knows; nil while it is open.
    private(set) var end: S3Error?

    private init(_ channel: any Channel, _ pool: ConnectionPool) {
        self.channel = channel
        self.pool = pool
        loop = channel.eventLoop
    }

    var isGone: Bool { end != nil }

    func isOf(_ channel: any Channel) -> Bool { channel === self.channel }

    /// Turns a channel into a connection of the pool.
    static func add(
        to channel: any Channel, _ pool: ConnectionPool, _ secure: SecureConnections?
    ) throws -> S3Connection {
        let connection = S3Connection(channel, pool)
        let pipeline = channel.pipeline.syncOperations
        if let secure {
            let handler = try secure.handler()
            try pipeline.addHandler(handler)
            connection.secure = handler
        }
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (longestHead, longestHead)
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop, limitConfiguration: limits)
        try pipeline.addHandlers([
            connection.notice, HTTPRequestEncoder(), ByteToMessageHandler(decoder), connection,
        ])
        return connection
    }

    /// Sends a request that the pool has assigned to this connection.
    func start(_ exchange: Exchange) {
        idleTimer?.cancel()
        guard exchange.begin(on: self) else {
            if !isGone { becomeIdle() }
            return
        }
        if let end {
            exchange.leaveConnection()
            // The connection was closed before the request was sent.
            if wasUnused { pool.retry(exchange) } else { exchange.end(.failure(end)) }
            return
        }
        notice.hasSeenBytes = false
        let request = exchange.request
        let reader = AnswerReader(isHead: request.head.method == .HEAD, longestBody: pool.longestBody)
        work = Work(exchange: exchange, reader: reader, wasUnused: wasUnused)
        channel.write(HTTPClientRequestPart.head(request.head), promise: nil)
        if let body = request.body, body.readableBytes > 0 {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil)).whenComplete { [weak self] result in
            guard let self, work?.exchange === exchange else { return }
            // The failed write is the only sign that the channel was already closed.
            if case .success = result { work?.isWritten = true } else { fail(.connectionLost) }
        }
    }

    /// Gives up a request. Its answer would still arrive, so the connection cannot be reused.
    func abandon(_ exchange: Exchange) {
        if work?.exchange === exchange { fail(.cancelled) }
    }

    /// Closes the connection. Its request, if any, ends with `closed`.
    func close() { fail(.closed) }

    /// Closes the connection unless the pool gives it a request in time.
    func waitForUse() {
        wasUnused = true
        idleTimer = loop.scheduleTask(in: pool.idleLimit) { [weak self] in self?.expire() }
    }

    private func becomeIdle() {
        waitForUse()
        pool.free(self)
    }

    private func expire() {
        guard !isGone, pool.retire(self) else { return }
        end = .connectionLost
        channel.close(promise: nil)
    }

    /// Ends the connection and its request with an error. A request on a connection that had been unused is retried.
    private func fail(_ error: S3Error) {
        guard !isGone else { return }
        end = error
        idleTimer?.cancel()
        let work = work
        self.work = nil
        if let work, error == .connectionLost, work.wasUnused, !notice.hasSeenBytes, !work.exchange.isOver {
            work.exchange.leaveConnection()
            pool.lose(self, retrying: work.exchange)
        } else {
            pool.lose(self)
            work?.exchange.end(.failure(error))
        }
        closeAtOnce()
    }

    private func closeAtOnce() {
        // Skips TLS, which would send a closing message and wait for that of the server.
        if let secure, let context = try? channel.pipeline.syncOperations.context(handler: secure) {
            context.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func finish(_ answer: Answer, isReusable: Bool) {
        guard let work else { return }
        self.work = nil
        if isReusable, work.isWritten {
            // `becomeIdle` comes first, so that the receiver of the answer finds the connection free.
            becomeIdle()
        } else {
            end = .connectionLost
            pool.lose(self)
            closeAtOnce()
        }
        work.exchange.end(.success(answer))
    }

    // MARK: - Events of the channel

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Data without a request ends the connection. The reader is changed in place, so that its buffer is not copied.
        switch work?.reader.read(unwrapInboundIn(data)) {
        case .finished(let answer, let isReusable): finish(answer, isReusable: isReusable)
        case .failed(let error): fail(error)
        case .unfinished, nil: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.connectionLost)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: fail(.tooLarge(limit: Self.longestHead))
        case HTTPParserError.invalidEOFState: fail(.connectionLost)
        case let error as HTTPParserError: fail(.malformed("\(error)"))
        case is NIOHTTPDecoderError: fail(.malformed("an answer to no request"))
        default: fail(SecureConnections.isHandshakeFailure(error) ? .handshakeFailed : .connectionLost)
        }
    }
}

extension S3Connection: Hashable {
    static func == (left: S3Connection, right: S3Connection) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Notices when an answer begins.
private final class FirstByteNotice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var hasSeenBytes = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasSeenBytes = true
        context.fireChannelRead(data)
    }
}
