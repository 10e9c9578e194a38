import NIOCore
import NIOHTTP1

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a connection's requests decide of its answers: how their bodies are framed, and when the connection ends. It tells the guard
/// of the connection of both.
final class ConnectionRequests: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What of a request its answer depends on.
    private struct Request {
        var isHead = false
        /// Whether the client knows no chunks (HTTP/1.0).
        var isOld = false
    }

    private let connectionGuard: ConnectionGuard
    private let takesBodies: Bool
    private let isLast: @Sendable () -> Bool
    /// Those whose answers are not all written, in order.
    private var requests = CircularBuffer<Request>()
    /// Whether the request has come behind which the connection ends.
    private var hasLastRequest = false
    /// Whether nothing more is read: the last request is over, or an answer has told the client that no other will follow.
    private var hasLastRequestEnded = false
    /// Whether the answer that is being written has no body, whatever is given as one.
    private var dropsBody = false
    /// Whether the answer that is being written has told the client of the end, unasked.
    private var closesBehindAnswer = false
    /// Whether the end of the connection is to tell the end of the body that is being written.
    private var endsByClosing = false

    /// - Parameters:
    ///   - takesBodies: whether requests may have bodies, for which clients are told to go on.
    ///   - isLast: whether a request that comes now is the last of its connection, whatever the client says.
    init(
        _ connectionGuard: ConnectionGuard, takesBodies: Bool = false,
        isLast: @escaping @Sendable () -> Bool = { false }
    ) {
        self.connectionGuard = connectionGuard
        self.takesBodies = takesBodies
        self.isLast = isLast
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasLastRequestEnded else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            guard Self.isWellFormed(head) else {
                // Hummingbird refuses it when its turn comes, as what cannot be parsed.
                hasLastRequestEnded = true
                return context.fireErrorCaught(HTTPParserError.unknown)
            }
            connectionGuard.requestBegan()
            requests.append(Request(isHead: head.method == .HEAD, isOld: head.version.minor == 0))
            // Of HTTP/1.0 no connection is kept. Hummingbird knows neither versions nor other spellings of this.
            if !head.isKeepAlive || head.version.minor == 0 || isLast() {
                hasLastRequest = true
                head.headers.replaceOrAdd(name: "connection", value: "close")
            }
            if takesBodies, requests.count == 1, Self.waitsToSendBody(head) {
                context.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
            }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: context.fireChannelRead(data)
        case .end:
            connectionGuard.requestEnded()
            hasLastRequestEnded = hasLastRequest
            context.fireChannelRead(data)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if hasLastRequest, connectionGuard.requestsInProgress == 1 {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else if Self.endsConnection(head.headers) {
                (closesBehindAnswer, hasLastRequestEnded) = (true, true)
            }
            frame(&head, for: requests.first ?? Request())
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where dropsBody: promise?.succeed()
        case .body: context.write(data, promise: promise)
        case .end:
            endsByClosing = false
            _ = requests.popFirst()
            guard closesBehindAnswer else {
                context.write(data, promise: promise)
                return connectionGuard.answered()
            }
            closesBehindAnswer = false
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            // The client has to read what was sent before the connection is gone: it closes its own side then.
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
            context.write(data, promise: sent)
            connectionGuard.answered()
        }
    }

    /// Resets the connection where its end would tell the client that a body is whole which has broken off.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard endsByClosing, mode != .input, let socket = context.channel as? any SocketOptionProvider else {
            return context.close(mode: mode, promise: promise)
        }
        _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(mode: .all, promise: promise)
    }

    /// Says how long the body is, or that it comes in chunks, so that the client knows its end (RFC 9112, 6.3).
    private func frame(_ head: inout HTTPResponseHead, for request: Request) {
        head.headers.remove(name: "Transfer-Encoding")
        dropsBody = request.isHead || !head.status.mayHaveResponseBody
        if !head.status.mayHaveResponseBody {
            if head.status != .notModified { head.headers.remove(name: "Content-Length") }
            return
        }
        // Without a length a client of HTTP/1.0 reads to the end of the connection.
        if request.isHead || head.headers.contains(name: "Content-Length") { return }
        if request.isOld {
            endsByClosing = true
            return
        }
        head.headers.add(name: "Transfer-Encoding", value: "chunked")
    }

    private static func endsConnection(_ headers: HTTPHeaders) -> Bool {
        headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
    }

    private static func waitsToSendBody(_ head: HTTPRequestHead) -> Bool {
        head.version.minor > 0 && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }

    /// Whether it names one host (RFC 9112, 3.2), and its body has an end (6.3).
    private static func isWellFormed(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        if hosts.count > 1 || hosts.isEmpty && head.version.minor > 0 { return false }
        if let host = hosts.first, host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || noHost.contains($0) }) {
            return false
        }
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        return codings.last.map { $0.lowercased() == "chunked" } ?? true
    }

    private static let noHost = Set("/?#@\\,<>\"".utf8)
}
