import NIOCore
import NIOPosix
import Synchronization

/// The client's end of a TCP connection. The test chooses each byte that is sent, and when the client reads.
final class RawConnection: Sendable {
    private final class Inbox: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes = Mutex<[UInt8]>([])
        let hasFailed = Atomic(false)

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            bytes.withLock { $0.append(contentsOf: buffer.readableBytesView) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            hasFailed.store(true, ordering: .relaxed)
            context.close(promise: nil)
        }
    }

    private let inbox: Inbox
    private let channel: any Channel

    /// - Parameter reads: Whether the client reads by itself. If false, it reads up to 64 KiB at each ``read()``.
    init(port: Int, reads: Bool = true) async throws {
        let inbox = Inbox()
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: reads)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(inbox) }
            }
        // A small receive buffer, so that the system holds little unread data.
        if !reads { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 32 << 10) }
        channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
        self.inbox = inbox
    }

    var received: [UInt8] { inbox.bytes.withLock { $0 } }
    var text: String { String(decoding: received, as: UTF8.self) }
    var isOpen: Bool { channel.isActive }
    /// Whether the connection was reset.
    var hasFailed: Bool { inbox.hasFailed.load(ordering: .relaxed) }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// Sends the same text at this interval until the connection ends.
    func send(_ text: String, every interval: TimeAmount) {
        channel.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [channel] task in
            guard channel.isActive else { return task.cancel() }
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        }
    }

    func read() { channel.read() }

    /// Reads up to 64 KiB at this interval until the connection ends.
    func read(every interval: TimeAmount) {
        channel.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [channel] task in
            channel.isActive ? channel.read() : task.cancel()
        }
    }

    /// Reads everything that arrives from now on.
    func readOn() async throws { try await channel.setOption(.autoRead, value: true).get() }

    func close() async throws { try await channel.close().get() }

    /// Returns when the other end has closed the connection.
    func closed() async throws { try await channel.closeFuture.get() }

    /// Returns when `isDone` is true of the received text, or when the connection has ended.
    func wait(until isDone: (String) -> Bool) async throws {
        while !isDone(text), isOpen {
            try await channel.eventLoop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get()
        }
    }

    /// Sends `head` on a new connection, and returns everything that the server sends until it closes the connection.
    static func answer(_ head: String, port: Int) async throws -> String {
        let connection = try await RawConnection(port: port)
        try await connection.send(head)
        try await connection.closed()
        return connection.text
    }
}
