import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Synchronization
import Testing

@testable import FleetCoordination

/// Servers whose Redis changes all the time: two instances answer at one name, or one is emptied again and again.
@Suite struct UnsteadyRedisTests {
    /// Each reading finds another list of purges and would have to start again from its beginning. After some attempts
    /// the server works without Redis.
    @Test func aListThatChangesAllTheTimeHoldsUpNobody() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(UnsteadyRedis())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var redis = try RedisConfiguration(url: "redis://127.0.0.1:\(server.localAddress?.port ?? 0)")
        redis.deadline = .seconds(5)
        let client = try RedisClient(redis, group: group)
        let fleet = Fleet(FleetConfiguration(server: "one"), client, wall: { 1_700_000_000_000 })
        let job = Fleet.Job(result: "result", source: "https://a/b", sourceDigest: "source")
        let value = await fleet.once(job, patience: .seconds(60)) { _ in
            "taken"
        } work: { _ in
            ("made", nil)
        }
        #expect(value == "made" && fleet.statistics.alone == 1)
        await client.close()
        try await server.close()
    }
}

/// A fake Redis whose list of purges is another one in each answer. It expects one command in each read.
private final class UnsteadyRedis: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var lists = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let answer = answer(to: String(buffer: unwrapInboundIn(data)))
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }

    private func answer(to command: String) -> String {
        lists += 1
        let list = "list:\(lists)"
        let text = "$\(list.utf8.count)\r\n\(list)\r\n"
        if command.contains("HELLO") { return "%1\r\n+proto\r\n:3\r\n" }
        // Answers SCRIPT LOAD with "begin" or "read" as digests, by which the answers below recognise the scripts.
        if command.contains("LOAD") { return command.contains("'lead'") ? "$5\r\nbegin\r\n" : "$4\r\nread\r\n" }
        if command.contains("\r\nbegin\r\n") {
            return "*5\r\n+lead\r\n:1\r\n\(text):1700000000000\r\n:1700000000000\r\n"
        }
        return "*7\r\n:1700000000000\r\n\(text):0\r\n+\r\n:1\r\n:1\r\n*0\r\n"
    }
}
