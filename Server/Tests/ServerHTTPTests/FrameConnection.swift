#if TLS
    import HTTPTypes
    import NIOCore
    import NIOHPACK
    import NIOHTTP2
    import NIOPosix
    import NIOSSL
    import Synchronization

    /// The client's end of an HTTP/2 connection. The test chooses each frame, and when the client has room for more of
    /// an answer.
    final class FrameConnection: Sendable {
        struct Stream: Sendable {
            var status: String?
            var fields: [String: String] = [:]
            var body: [UInt8] = []
            var hasEnded = false
            var isReset = false

            var isOver: Bool { hasEnded || isReset }
        }

        struct Inbox: Sendable {
            var streams: [Int: Stream] = [:]
            /// How often the server has sent GOAWAY.
            var leavings = 0
            /// The names of the fields that the server has added to the HPACK table.
            var kept: Set<String> = []

            var isLeaving: Bool { leavings > 0 }
        }

        private final class Collector: ChannelInboundHandler, Sendable {
            typealias InboundIn = HTTP2Frame
            let inbox = Mutex(Inbox())

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let frame = unwrapInboundIn(data)
                inbox.withLock { inbox in
                    var stream = inbox.streams[Int(frame.streamID)] ?? Stream()
                    switch frame.payload {
                    case .headers(let headers):
                        for (name, value, indexing) in headers.headers {
                            stream.fields[name] = value
                            if case .indexable = indexing, !name.hasPrefix(":") { inbox.kept.insert(name) }
                        }
                        stream.status = stream.fields[":status"]
                        stream.hasEnded = headers.endStream
                    case .data(let data):
                        if case .byteBuffer(let bytes) = data.data {
                            stream.body.append(contentsOf: bytes.readableBytesView)
                        }
                        stream.hasEnded = data.endStream
                    case .rstStream: stream.isReset = true
                    case .goAway: inbox.leavings += 1
                    default: return
                    }
                    inbox.streams[Int(frame.streamID)] = stream
                }
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        }

        /// Discards everything that the client would send.
        private final class Silence: ChannelOutboundHandler, Sendable {
            typealias OutboundIn = IOData

            func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
                promise?.succeed()
            }
        }

        private let collector: Collector
        private let channel: any Channel

        /// - Parameter tableSize: The size in bytes that the client allows for the server's HPACK table.
        init(port: Int, tableSize: Int = 4096) async throws {
            let collector = Collector()
            self.collector = collector
            var settings = TLSConfiguration.makeClientConfiguration()
            settings.certificateVerification = .none
            settings.applicationProtocols = ["h2"]
            let context = try NIOSSLContext(configuration: settings)
            let table = HTTP2Setting(parameter: .headerTableSize, value: tableSize)
            channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(try NIOSSLClientHandler(context: context, serverHostname: nil))
                        let http = NIOHTTP2Handler(
                            mode: .client, initialSettings: [table], headerBlockValidation: .disabled)
                        try pipeline.addHandler(http)
                        try pipeline.addHandler(collector)
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
        }

        var inbox: Inbox { collector.inbox.withLock { $0 } }
        var isOpen: Bool { channel.isActive }

        func stream(_ id: Int) -> Stream { inbox.streams[id] ?? Stream() }

        /// - Parameters:
        ///   - id: The stream: an odd number, higher than all before.
        ///   - isWhole: Whether the request ends with its head. Otherwise the server waits for a body.
        ///   - others: The number of additional fields.
        func get(
            _ path: String, _ id: Int, method: String = "GET", isWhole: Bool = true, others: Int = 0
        ) async throws {
            var fields: HPACKHeaders = [":method": method, ":scheme": "https", ":authority": "test", ":path": path]
            for number in 0..<others { fields.add(name: "x-\(number)", value: "1") }
            try await send(id, .headers(.init(headers: fields, endStream: isWhole)))
        }

        func reset(_ id: Int) async throws { try await send(id, .rstStream(.cancel)) }

        /// Announces room for `count` more bytes on the connection and, if given, on one stream.
        func takes(_ count: Int, _ id: Int? = nil) async throws {
            try await send(0, .windowUpdate(windowSizeIncrement: count))
            if let id { try await send(id, .windowUpdate(windowSizeIncrement: count)) }
        }

        private func send(_ id: Int, _ payload: HTTP2Frame.FramePayload) async throws {
            let frame = HTTP2Frame(streamID: HTTP2StreamID(id), payload: payload)
            try await channel.writeAndFlush(frame).get()
        }

        /// Sends these bytes as they are, also if they break the protocol.
        func sendUnchecked(_ bytes: [UInt8]) async throws {
            try await channel.eventLoop.submit { [channel] in
                let http = try channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
                http.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
            }.get()
        }

        /// Sends nothing from now on, not even acknowledgements, like a client that has lost its network.
        func fallSilent() async throws {
            try await channel.eventLoop.submit { [channel] in
                let pipeline = channel.pipeline.syncOperations
                let http = try pipeline.handler(type: NIOHTTP2Handler.self)
                try pipeline.addHandler(Silence(), position: .before(http))
            }.get()
        }

        /// Returns when the other end has closed the connection.
        func closed() async throws { try await channel.closeFuture.get() }

        /// Returns when `isDone` is true of the received frames, or when the connection has ended.
        func wait(until isDone: (Inbox) -> Bool) async throws {
            while !isDone(inbox), isOpen {
                try await channel.eventLoop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get()
            }
        }
    }
#endif
