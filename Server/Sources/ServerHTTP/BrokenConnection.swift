#if TLS
    import NIOCore
    import NIOHTTP2

    /// Closes connections whose client violates the protocol. NIO reports this as an error, but leaves the connection
    /// open.
    final class BrokenConnection: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let connectionGuard: ConnectionGuard

        init(_ connectionGuard: ConnectionGuard) { self.connectionGuard = connectionGuard }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            switch error {
            // The error concerns only one stream, which has been reset.
            case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.StreamClosed: break
            default:
                connectionGuard.breaks()
                context.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
        }
    }
#endif
