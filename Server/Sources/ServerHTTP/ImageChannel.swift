import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A client's connection: Hummingbird's for HTTP/1.1, with a guard at each end of the parser.
struct ImageChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limits: ConnectionDeadlines.Limits
    let connections: OpenConnections
    let onSlowReader: @Sendable () -> Void
    /// Makes the handler of answers that are in memory; nil: the connection has none.
    let memoryAnswers: (@Sendable () -> MemoryAnswers)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connectionGuard = ConnectionGuard(limits, among: connections, onSlowReader: onSlowReader)
            try pipeline.addHandler(connectionGuard)
            var parsing = NIOHTTPDecoderLimitConfiguration()
            parsing.maxHeaderFieldSize = 16 << 10
            parsing.maxHeaderListSize = 16 << 10
            parsing.maxHeaderFieldCount = 100
            // Hummingbird answers what cannot be parsed, and takes requests one by one.
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: parsing)
            try pipeline.addHandler(ConnectionRequests(connectionGuard))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            if let memoryAnswers { try pipeline.addHandler(memoryAnswers()) }
            try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}
