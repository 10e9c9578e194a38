import NIOCore
import NIOHTTP1

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Frames the bodies of answers, and ends the connection, as the requests of the connection demand. It reports requests
/// and answers to the connection's guard.
final class ConnectionRequests: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The properties of a request that determine how its answer is framed.
    private struct Request {
        var isHead = false
        /// Whether the client does not understand chunked encoding (HTTP/1.0).
        var isOld = false
    }

    private let connectionGuard: ConnectionGuard
    private let takesBodies: Bool
    private let isLast: @Sendable () -> Bool
    /// The requests whose answers are not completely written, oldest first.
    private var requests = CircularBuffer<Request>()
    /// Whether the last request of this connection has arrived.
    private var hasLastRequest = false
    /// Whether nothing more is read: the last request is complete, or an answer has announced that the connection
    /// closes.
    private var hasLastRequestEnded = false
    /// Whether the body of the current answer is discarded, because the answer must not have one.
    private var dropsBody = false
    /// Whether the current answer has announced that the connection closes, although the request did not ask for it.
    private var closesBehindAnswer = false
    /// Whether the client recognizes the end of the current body by the end of the connection.
    private var endsByClosing = false

    /// - Parameters:
    ///   - takesBodies: whether requests may have bodies, for which clients that ask get `100 Continue`.
    ///   - isLast: whether a request that arrives now is the last of its connection, whatever the client asks for.
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
                // Hummingbird answers it in its turn, as it does requests that cannot be parsed.
                hasLastRequestEnded = true
                return context.fireErrorCaught(HTTPParserError.unknown)
            }
            connectionGuard.requestBegan()
            requests.append(Request(isHead: head.method == .HEAD, isOld: head.version.minor == 0))
            // Connections of HTTP/1.0 are not kept open. Hummingbird does not check the version, nor other spellings of
            // `close`.
            if !head.isKeepAlive || head.version.minor == 0 || Self.leavesHTTP(head) || isLast() {
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
            // The client must be able to read everything before the connection is closed; it then closes its own side.
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
            context.write(data, promise: sent)
            connectionGuard.answered()
        }
    }

    /// Resets the connection if the client would take its end for the end of a body that has broken off.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard endsByClosing, mode != .input, let socket = context.channel as? any SocketOptionProvider else {
            return context.close(mode: mode, promise: promise)
        }
        _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(mode: .all, promise: promise)
    }

    /// Declares the length of the body or chunked encoding, so that the client finds the end (RFC 9112, 6.3).
    private func frame(_ head: inout HTTPResponseHead, for request: Request) {
        head.headers.remove(name: "Transfer-Encoding")
        dropsBody = request.isHead || !head.status.mayHaveResponseBody
        if !head.status.mayHaveResponseBody {
            if head.status != .notModified { head.headers.remove(name: "Content-Length") }
            return
        }
        if request.isHead || head.headers.contains(name: "Content-Length") { return }
        // Without a length, a client of HTTP/1.0 reads until the connection is closed.
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

    /// Whether the parser treats everything after this request as another protocol, and stops reading.
    private static func leavesHTTP(_ head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT || head.headers.contains(name: "upgrade")
    }

    /// Whether the request names exactly one host (RFC 9112, 3.2), and its body has a defined end (6.3).
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
