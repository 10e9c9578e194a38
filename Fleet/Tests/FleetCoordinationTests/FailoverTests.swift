import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

@testable import FleetCoordination

/// A replica takes over after its primary Redis has died.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct FailoverTests {
    private func client(_ url: String) throws -> RedisClient {
        var redis = try RedisConfiguration(url: url)
        redis.deadline = .seconds(5)
        redis.backoff = (.milliseconds(1), .milliseconds(20))
        return try RedisClient(redis, group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
    }

    private func fleet(_ port: Int) throws -> Fleet {
        var configuration = FleetConfiguration(server: "\(UInt32.random(in: 0 ... .max))")
        configuration.readInterval = 20
        return Fleet(
            configuration, try client("redis://127.0.0.1:\(port)"), wall: { 1_700_000_000_000 })
    }

    private func reading(_ fleet: Fleet, _ work: () async throws -> Void) async throws {
        let task = Task { await fleet.run() }
        defer { task.cancel() }
        try await work()
    }

    private func isPurged(_ fleet: Fleet, _ source: String, _ begun: Int) async {
        while fleet.purges.verdict(source: source, begun: begun) != .purged { await Task.yield() }
    }

    /// Makes a Redis listen on a port that another Redis had until now. The system may need a moment to free it.
    private func takePort(_ port: Int, _ redis: RedisClient) async throws {
        for _ in 0..<1000 where (try? await redis.send(["CONFIG", "SET", "port", "\(port)"])) != nil { return }
        _ = try await redis.send(["CONFIG", "SET", "port", "\(port)"])
    }

    /// The last purge before the failover has not reached the replica. A server that knows the purge writes it again,
    /// so that a server that starts later learns of it.
    @Test func aPurgeThatTheReplicaHasNotIsToldAgain() async throws {
        let port = RedisServer.freePort()
        let first = try await RedisServer(["--port", "\(port)", "--repl-diskless-sync-delay", "0"])
        let replica = try await RedisServer([
            "--port", "\(RedisServer.freePort())", "--replicaof", "127.0.0.1", "\(port)", "--repl-ping-replica-period",
            "1",
        ])
        let control = try client(replica.url)
        while try await control.send(["INFO", "replication"]).text?.contains("master_link_status:up") != true {
            await Task.yield()
        }
        let (one, later) = (try fleet(port), try fleet(port))
        try await reading(one) {
            while !one.isInTouch { await Task.yield() }
            let begun = one.stamp
            try await one.purge([.url("https://a/both")])
            while try await control.send(["ZCARD", RESPArgument(one.commands.keys.purges)]).integer != 2 {
                await Task.yield()
            }
            // From here on the replica receives nothing from the first Redis.
            _ = try await control.send(["REPLICAOF", "NO", "ONE"])
            try await one.purge([.url("https://a/lost")])
            await first.kill()
            #expect(try await control.send(["ZCARD", RESPArgument(one.commands.keys.purges)]).integer == 2)
            // The replica takes over the address of the first Redis, as a sentinel or a load balancer would arrange it.
            try await takePort(port, control)
            try await reading(later) {
                await isPurged(later, "https://a/both", begun)
                await isPurged(later, "https://a/lost", begun)
            }
            #expect(one.purges.verdict(source: "https://a/lost", begun: begun) == .purged)
            #expect(one.purges.verdict(source: "https://a/other", begun: one.stamp) == .current)
        }
    }
}
