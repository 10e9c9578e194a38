import FleetTesting
import NIOCore
import NIOPosix
import Synchronization

#if TLS
    import NIOSSL
#endif

/// An HTTP server on loopback that answers each request with the steps that the test's closure returns. It stops when
/// it is released.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        /// The number of the connection, counted from 0.
        var connection: Int
        /// The number of the request on its connection, counted from 0.
        var number: Int
        var head: String
        var body: ByteBuffer

        var line: String { String(head.prefix { $0 != "\r\n" }) }
    }

    enum Step: Sendable {
        case send(String)
        case sendBytes(ByteBuffer)
        case close
    }

    enum Event: Hashable, Sendable {
        case connected(Int)
        case asked(Int)
        case closed(Int)
    }

    let events = EventLog<Event>()
    let requests = EventLog<Request>()
    let port: Int
    private let channel: any Channel

    /// - Parameters:
    ///   - certificate: The paths of a certificate and its key in PEM format. Nil for a server without TLS.
    ///   - script: Returns the steps that answer a request.
    init(
        certificate: (String, String)? = nil, _ script: @escaping @Sendable (Request) -> [Step]
    ) async throws {
        let (events, requests, last) = (events, requests, Counter())
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    #if TLS
                        if let certificate {
                            let context = try Self.context(certificate)
                            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        }
                    #endif
                    let handler = ScriptHandler(last.next(), script, events, requests)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Stops accepting connections. Those that exist stay open.
    func stop() async { try? await channel.close() }

    #if TLS
        private static func context(_ certificate: (String, String)) throws -> NIOSSLContext {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate.0).map { NIOSSLCertificateSource.certificate($0) }
            let key = try NIOSSLPrivateKey(file: certificate.1, format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
        }
    #endif
}

private final class Counter: Sendable {
    private let last = Atomic<Int>(-1)

    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Reads the requests of a connection and carries out the steps that the script returns.
private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: Int
    private let script: (ScriptedServer.Request) -> [ScriptedServer.Step]
    private let events: EventLog<ScriptedServer.Event>
    private let requests: EventLog<ScriptedServer.Request>
    private var bytes = ByteBuffer()
    private var number = 0

    init(
        _ connection: Int, _ script: @escaping (ScriptedServer.Request) -> [ScriptedServer.Step],
        _ events: EventLog<ScriptedServer.Event>, _ requests: EventLog<ScriptedServer.Request>
    ) {
        self.connection = connection
        self.script = script
        self.events = events
        self.requests = requests
    }

    func channelActive(context: ChannelHandlerContext) { events.append(.connected(connection)) }

    func channelInactive(context: ChannelHandlerContext) { events.append(.closed(connection)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var piece = unwrapInboundIn(data)
        bytes.writeBuffer(&piece)
        while let request = takeRequest() {
            requests.append(request)
            events.append(.asked(connection))
            for step in script(request) {
                switch step {
                case .send(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                case .sendBytes(let bytes): context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
                case .close: context.close(promise: nil)
                }
            }
        }
    }

    private func takeRequest() -> ScriptedServer.Request? {
        let view = bytes.readableBytesView
        guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: view[..<end.lowerBound], as: UTF8.self)
        let lengths = head.split(separator: "\r\n").filter { $0.hasPrefix("content-length: ") }
        let length = lengths.first.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
        let headLength = end.upperBound - view.startIndex
        guard bytes.readableBytes >= headLength + length else { return nil }
        bytes.moveReaderIndex(forwardBy: headLength)
        guard let body = bytes.readSlice(length: length) else { return nil }
        defer { number += 1 }
        return ScriptedServer.Request(connection: connection, number: number, head: head, body: body)
    }
}

/// A complete answer with a `Content-Length`.
func answer(_ status: Int, _ body: String = "", _ headers: String...) -> ScriptedServer.Step {
    let lines = ["HTTP/1.1 \(status) Some words", "Content-Length: \(body.utf8.count)"] + headers
    return .send(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
}

/// An error document as S3 sends it when it refuses a request.
func refusal(_ status: Int, _ code: String, _ message: String = "Because.") -> ScriptedServer.Step {
    answer(
        status,
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <Error><Code>\(code)</Code><Message>\(message)</Message><Resource>/a</Resource></Error>
        """)
}
