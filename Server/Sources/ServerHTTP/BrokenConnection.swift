#if TLS
    import NIOCore
    import NIOHTTP2

    /// Ends a connection whose client does not keep to the protocol: NIO tells it so, and leaves the connection open.
    final class BrokenConnection: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let connectionGuard: ConnectionGuard

        init(_ connectionGuard: ConnectionGuard) { self.connectionGuard = connectionGuard }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            switch error {
            // Of one stream alone, which has been reset.
            case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.StreamClosed: break
            default:
                connectionGuard.breaks()
                context.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
        }
    }
#endif
