#if TLS
    import HTTPTypes
    import NIOCore
    import NIOHTTPTypes

    /// Reports the request and the answer of a stream to the guard of its connection.
    final class StreamRequest: ChannelDuplexHandler {
        typealias InboundIn = HTTPRequestPart
        typealias InboundOut = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        typealias OutboundOut = HTTPResponsePart

        /// The size of the parts in which a body is written. The client must take each within the reading time limit.
        private static let partBytes = 16 << 10

        private let connectionGuard: ConnectionGuard
        private var isRunning = false
        private var hasEnded = false
        private var isRefused = false

        init(_ connectionGuard: ConnectionGuard) { self.connectionGuard = connectionGuard }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                isRunning = true
                connectionGuard.requestBegan()
                connectionGuard.requestEnded()
                isRefused = head.headerFields.count > ImageChannel.maxHeaderFields
                if isRefused { refuse(context) }
            case .body: break
            case .end: hasEnded = true
            }
            if !isRefused { context.fireChannelRead(data) }
        }

        /// NIO limits the number of header fields for HTTP/1.1 only, with this answer.
        private func refuse(_ context: ChannelHandlerContext) {
            let fields: HTTPFields = [.contentLength: "0"]
            write(
                context: context, data: wrapOutboundOut(.head(HTTPResponse(status: .badRequest, headerFields: fields))),
                promise: nil)
            write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
            context.flush()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch unwrapOutboundIn(data) {
            case .head(var head):
                // The fields of HTTP/1.1 that control the connection are not allowed in HTTP/2 (RFC 9113, 8.2.2).
                head.headerFields[.connection] = nil
                Self.limitTable(&head.headerFields)
                context.write(wrapOutboundOut(.head(head)), promise: promise)
            case .body(var body):
                while body.readableBytes > Self.partBytes, let part = body.readSlice(length: Self.partBytes) {
                    write(.body(part), context, nil)
                }
                write(.body(body), context, promise)
            case .end:
                let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
                // A request body that is not read would keep the stream open as long as the client likes.
                if !hasEnded {
                    sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
                }
                write(unwrapOutboundIn(data), context, sent)
                answered()
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            answered()
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { answered() }

        /// The fields that have one of a few values in all answers of a server.
        private static let repeatedFields: Set<HTTPField.Name> = [
            .server, .contentSecurityPolicy, .named("X-Content-Type-Options"), .cacheStatus, .vary, .acceptRanges,
            .accessControlAllowOrigin, .accessControlAllowMethods,
        ]

        /// Keeps fields whose values differ out of the table of HPACK. NIO lets the client determine the size of that
        /// table, up to 4 GiB, and searches all of it for each field.
        private static func limitTable(_ fields: inout HTTPFields) {
            for index in fields.indices where !repeatedFields.contains(fields[index].name) {
                fields[index].indexingStrategy = .avoid
            }
        }

        private func write(
            _ part: HTTPResponsePart, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
        ) {
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            connectionGuard.partWaits()
            sent.futureResult.assumeIsolated().whenComplete { [connectionGuard] _ in connectionGuard.partWent() }
            context.write(wrapOutboundOut(part), promise: sent)
        }

        private func answered() {
            guard isRunning else { return }
            isRunning = false
            connectionGuard.answered()
        }
    }
#endif
