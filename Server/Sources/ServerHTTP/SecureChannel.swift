#if TLS
    import HummingbirdCore
    import Logging
    import NIOCore
    import NIOHTTP2
    import NIOHTTPTypes
    import NIOHTTPTypesHTTP2

    /// A client's TLS connection, which speaks HTTP/2, or HTTP/1.1 if the client does not support that.
    struct SecureChannel: ServerChildChannel {
        typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
        typealias Version = NIONegotiatedHTTPVersion<ImageChannel.Value, NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>>

        struct Value: ServerChildChannelValue {
            let version: EventLoopFuture<Version>
            let channel: any Channel
        }

        let images: ImageChannel
        let certificate: ServerCertificate

        /// How many streams of one client are answered at the same time.
        private static let maxStreams = 100
        /// High, because a client that scrolls through many pictures cancels many requests.
        private static let maxResets = 1000
        /// With this many waiting parts of answers, Hummingbird answers all further requests of the connection, even
        /// for results in memory: see ``MemoryAnswers``.
        private static let maxWaitingParts = 16

        func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
            let version = channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(certificate.handler())
                // The guard also limits the time of the handshake, although it sees no bytes of it.
                let connectionGuard = images.newGuard()
                try pipeline.addHandler(connectionGuard)
                return NIOLoopBound(connectionGuard, eventLoop: channel.eventLoop)
            }.flatMap { (connectionGuard: NIOLoopBound<ConnectionGuard>) in
                channel.configureHTTP2AsyncSecureUpgrade { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try images.speak(on: channel, behind: connectionGuard.value, isSecure: true, logger)
                    }
                } http2ConnectionInitializer: { channel in
                    channel.eventLoop.makeCompletedFuture {
                        connectionGuard.value.becomesMultiplexed()
                        return try multiplexer(on: channel, behind: connectionGuard)
                    }
                }
            }
            return version.map { Value(version: $0, channel: channel) }
        }

        private func multiplexer(
            on channel: any Channel, behind connectionGuard: NIOLoopBound<ConnectionGuard>
        ) throws -> NIOHTTP2Handler.AsyncStreamMultiplexer<Stream> {
            var handling = NIOHTTP2Handler.Configuration()
            handling.connection.initialSettings = [
                HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maxStreams),
                HTTP2Setting(parameter: .maxHeaderListSize, value: ImageChannel.maxHeaderBytes),
            ]
            handling.stream.streamResetFrameRateLimit.maximumCount = Self.maxResets
            let management = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: channel.eventLoop,
                configuration: .init(
                    maxIdleTime: images.limits.idle, maxAge: nil, maxGraceTime: images.limits.reading, keepalive: nil))
            let pipeline = channel.pipeline.syncOperations
            let multiplexer = try pipeline.configureAsyncHTTP2Pipeline(
                mode: .server, streamDelegate: management.http2StreamDelegate,
                frameDelegate: BrokenConnection(connectionGuard: connectionGuard.value), configuration: handling
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    let pipeline = stream.pipeline.syncOperations
                    try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                    try pipeline.addHandler(StreamRequest(connectionGuard.value))
                    try pipeline.addHandler(ClientPresence(goesWithInput: false))
                    if let makeAnswers = images.memoryAnswers {
                        let answers = makeAnswers { connectionGuard.value.waitingParts < Self.maxWaitingParts }
                        try pipeline.addHandler(answers)
                    }
                    return try Stream(wrappingChannelSynchronously: stream)
                }
            }
            try pipeline.addHandler(management)
            return multiplexer
        }

        func handle(value: Value, logger: Logger) async {
            do {
                switch try await value.version.get() {
                case .http1_1(let channel): await images.handle(value: channel, logger: logger)
                case .http2(let connection):
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await stream in connection.inbound {
                            group.addTask { await images.handle(value: stream, logger: logger) }
                        }
                    }
                }
            } catch {
                // The client has disconnected, or violates the protocol.
                logger.trace("a connection has ended: \(error)")
            }
        }
    }
#endif
