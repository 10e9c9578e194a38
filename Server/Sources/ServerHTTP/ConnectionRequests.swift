import NIOCore
import NIOHTTP1

/// Tells the guard of a connection of its requests and answers, and ends the connection behind the last answer that the client wants.
final class ConnectionRequests: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connectionGuard: ConnectionGuard
    /// Whether the request has come behind which the connection ends.
    private var hasLastRequest = false
    private var hasLastRequestEnded = false

    init(_ connectionGuard: ConnectionGuard) { self.connectionGuard = connectionGuard }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasLastRequestEnded else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            connectionGuard.requestBegan()
            // Of HTTP/1.0 no connection is kept. Hummingbird knows neither versions nor other spellings of this.
            if !head.isKeepAlive || head.version.minor == 0 {
                hasLastRequest = true
                head.headers.replaceOrAdd(name: "connection", value: "close")
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
        case .head(var head) where hasLastRequest && connectionGuard.requestsInProgress == 1:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            connectionGuard.answered()
        default: context.write(data, promise: promise)
        }
    }
}
