import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A client's connection: Hummingbird's for HTTP/1.1, with our handlers before and after the parser.
struct ImageChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limits: ConnectionDeadlines.Limits
    let connections: OpenConnections
    let onSlowReader: @Sendable () -> Void
    /// Makes the handler that answers from memory; nil: the connection has none.
    let memoryAnswers: MemoryAnswers.Make?
    /// Whether requests may have bodies.
    let takesBodies: Bool
    /// Whether a request that comes now is the last of its connection.
    let isLast: @Sendable () -> Bool

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let connectionGuard = newGuard()
            try channel.pipeline.syncOperations.addHandler(connectionGuard)
            return try speak(on: channel, behind: connectionGuard, isSecure: false, logger)
        }
    }

    func newGuard() -> ConnectionGuard { ConnectionGuard(limits, among: connections, onSlowReader: onSlowReader) }

    /// Configures the pipeline for HTTP/1.1.
    func speak(
        on channel: any Channel, behind connectionGuard: ConnectionGuard, isSecure: Bool, _ logger: Logger
    ) throws -> Value {
        let pipeline = channel.pipeline.syncOperations
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = Self.maxHeaderBytes
        parsing.maxHeaderListSize = Self.maxHeaderBytes
        parsing.maxHeaderFieldCount = Self.maxHeaderFields
        // NIO's encoder does not know the request, so ``ConnectionRequests`` frames the answer.
        var writing = HTTPResponseEncoder.Configuration()
        writing.automaticallySetFramingHeaders = false
        // Hummingbird answers requests that cannot be parsed, and processes requests one by one.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: writing, withDecoderLimitConfiguration: parsing)
        try pipeline.addHandler(ConnectionRequests(connectionGuard, takesBodies: takesBodies, isLast: isLast))
        try pipeline.addHandler(ClientPresence(goesWithInput: true))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
        if let memoryAnswers { try pipeline.addHandler(memoryAnswers { true }) }
        try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    static let maxHeaderBytes = 16 << 10
    static let maxHeaderFields = 100

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}
