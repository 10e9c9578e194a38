import FleetTesting
import NIOCore
import NIOPosix
import RedisClient
import Testing

@testable import FleetCoordination

/// Purges that Redis has not received yet.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct UnsentPurgesTests {
    private func fleet(_ server: RedisServer, wall: Int = 1_700_000_000_000) throws -> Fleet {
        var redis = try RedisConfiguration(url: server.url)
        redis.deadline = .seconds(5)
        redis.backoff = (.milliseconds(1), .milliseconds(20))
        var configuration = FleetConfiguration(server: "\(UInt32.random(in: 0 ... .max))")
        configuration.readInterval = 20
        let client = try RedisClient(redis, group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
        return Fleet(configuration, client, wall: { wall })
    }

    private func isPurged(_ fleet: Fleet, _ source: String, _ begun: Int) async {
        while fleet.purges.verdict(source: source, begun: begun) != .purged { await Task.yield() }
    }

    /// A server is told to purge while Redis is down, and ends before Redis is back.
    @Test func theNextRunOfAServerSendsThem() async throws {
        let server = try await RedisServer()
        await server.kill()
        let before = try fleet(server)
        #expect(before.unsent.isEmpty)
        before.purgeHere([.url("https://a/b"), .tag("t")])
        let kept = before.unsent
        await before.leave()

        let (after, other) = (try fleet(server), try fleet(server))
        after.restore(unsent: kept)
        #expect(after.unsent == kept)
        #expect(after.purges.verdict(source: "https://a/b", begun: 1) == .purged)
        try await server.start()
        let tasks = [after, other].map { fleet in Task { await fleet.run() } }
        defer { for task in tasks { task.cancel() } }
        await isPurged(other, "https://a/b", 1)
        while !after.unsent.isEmpty { await Task.yield() }
        #expect(after.purges.verdict(source: "https://a/b", begun: 1) == .purged)
    }

    /// The file of unsent purges cannot be read.
    @Test func whereTheyAreLostEarlierResultsAreUnsure() async throws {
        let server = try await RedisServer()
        let first = try fleet(server)
        let reading = Task { await first.run() }
        while !first.isInTouch { await Task.yield() }
        let begun = first.stamp
        reading.cancel()
        // It could still learn of the second one's purges.
        await reading.value

        let now = 4_000_000_000_000
        let second = try fleet(server, wall: now)
        second.restore(unsent: nil)
        let task = Task { await second.run() }
        defer { task.cancel() }
        while !second.isInTouch { await Task.yield() }
        #expect(first.purges.verdict(source: "https://a/b", begun: begun) == .current)
        #expect(second.purges.floor >= now)
        await first.leave()
        await second.leave()
    }

    /// Each of many requests once read the list by itself, and sent all purges again.
    @Test func manyRequestsShareAReading() async throws {
        let server = try await RedisServer()
        let fleet = try fleet(server)
        fleet.purgeHere((0..<5000).map { .url("https://a/\($0)") })
        await withTaskGroup { group in
            for number in 0..<100 {
                let job = Fleet.Job(result: "\(number)", source: "https://b/\(number)", sourceDigest: "\(number)")
                group.addTask {
                    let value = await fleet.once(job, patience: .seconds(60)) { _ in
                        false
                    } work: { _ in
                        (true, nil)
                    }
                    #expect(value == true)
                }
            }
        }
        #expect(fleet.unsent.isEmpty)
        // Each request asks for its result and releases its lock. The purges take five commands, and the three or four
        // scripts one each. The rest are renewals of locks on a busy machine, and readings one after the other.
        #expect(fleet.redis.commands < 100 * 2 + 100)
    }
}
