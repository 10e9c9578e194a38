import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

@testable import FleetCoordination

/// A replica takes the place of a Redis that is gone.
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

    /// The last purge had not reached the replica: a server that knows it tells it again, and one that comes later knows it.
    @Test func aPurgeThatTheReplicaHasNotIsToldAgain() async throws {
        let port = RedisServer.freePort()
        let first = try await RedisServer(["--port", "\(port)"])
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
            while one.purges.verdict(source: "any", begun: 1) != .current { await Task.yield() }
            let begun = one.stamp
            try await one.purge([.url("https://a/both")])
            while try await control.send(["ZCARD", RESPArgument(one.commands.keys.purges)]).integer != 2 {
                await Task.yield()
            }
            // From here on it hears nothing of the first.
            _ = try await control.send(["REPLICAOF", "NO", "ONE"])
            try await one.purge([.url("https://a/lost")])
            await first.kill()
            #expect(try await control.send(["ZCARD", RESPArgument(one.commands.keys.purges)]).integer == 2)
            // As a sentinel or a balancer does it: the address leads to the replica.
            _ = try await control.send(["CONFIG", "SET", "port", "\(port)"])
            try await reading(later) {
                await isPurged(later, "https://a/both", begun)
                await isPurged(later, "https://a/lost", begun)
            }
            #expect(one.purges.verdict(source: "https://a/lost", begun: begun) == .purged)
            #expect(one.purges.verdict(source: "https://a/other", begun: one.stamp) == .current)
        }
    }
}
