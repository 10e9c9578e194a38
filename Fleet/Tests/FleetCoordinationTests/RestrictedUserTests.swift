import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

@testable import FleetCoordination

/// Servers whose Redis user has limited permissions.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct RestrictedUserTests {
    private func client(_ server: RedisServer, _ user: String? = nil) throws -> RedisClient {
        var configuration = try RedisConfiguration(url: server.url)
        configuration.deadline = .seconds(5)
        configuration.backoff = (.milliseconds(1), .milliseconds(20))
        if let user { (configuration.user, configuration.password) = (user, "secret") }
        return try RedisClient(configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
    }

    private func fleet(_ server: RedisServer) throws -> Fleet {
        // The servers poll the list of purges once an hour only, so that a test passes only if messages arrive.
        var configuration = FleetConfiguration(server: "\(UInt32.random(in: 0 ... .max))")
        configuration.readInterval = 3_600_000
        return Fleet(configuration, try client(server, "limited"), wall: { 1_700_000_000_000 })
    }

    /// A usual restriction, and the rules that the guide recommends.
    @Test(arguments: [
        "allkeys allchannels +@all -@admin -@dangerous",
        "~{wi:1}:* &{wi:1}:* +@read +@write +@pubsub +@connection +@scripting +time -@admin -@dangerous",
    ])
    func aRestrictedUserCanPurgeAndShareResults(rules: String) async throws {
        let server = try await RedisServer()
        let words = ["ACL", "SETUSER", "limited", "on", ">secret"] + rules.split(separator: " ").map(String.init)
        _ = try await client(server).send(words.map { RESPArgument($0) })
        let (one, other) = (try fleet(server), try fleet(server))
        let tasks = [one, other].map { fleet in Task { await fleet.run() } }
        defer { for task in tasks { task.cancel() } }
        let begin = ContinuousClock.now
        while !other.isInTouch, ContinuousClock.now - begin < .seconds(20) { await Task.yield() }
        try #require(other.isInTouch)
        let begun = one.stamp
        try await one.purge([.url("https://a/b")])
        while other.purges.verdict(source: "https://a/b", begun: begun) != .purged { await Task.yield() }
        let job = Fleet.Job(result: "result", source: "https://a/c", sourceDigest: "c")
        for fleet in [one, other] {
            let value = await fleet.once(job, patience: .seconds(60)) { _ in
                true
            } work: { _ in
                (true, nil)
            }
            #expect(value == true)
            #expect(fleet.statistics.alone == 0)
        }
        #expect(try await one.count("client", interval: 1, tolerance: 1) == nil)
        #expect(one.redis.failures == 0)
    }
}
