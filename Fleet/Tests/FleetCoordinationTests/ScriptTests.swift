import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

@testable import FleetCoordination

/// The fleet's commands, sent to this server.
func commands(_ server: RedisServer, prefix: String = "test") throws -> FleetCommands {
    var configuration = try RedisConfiguration(url: server.url)
    configuration.deadline = .seconds(5)
    return FleetCommands(
        try RedisClient(configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: 1)),
        FleetKeys(prefix: prefix))
}

@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct ScriptTests {
    /// Redis answers calls in random orders exactly as `ModelRedis` does.
    @Test func redisAgreesWithTheModel() async throws {
        let server = try await RedisServer()
        for seed in 0..<20 as Range<UInt64> {
            var numbers = SeededNumbers(seed: seed)
            let redis = try commands(server, prefix: "seed\(seed)")
            var model = ModelRedis(now: 0)
            // Leases and lifetimes are too long to end during the test. The model takes its time from the answers of
            // Redis.
            let forever = 1_000_000
            var (last, top) = (0, 0)
            for turn in 0..<120 {
                let result = "r\(Int.random(in: 0..<3, using: &numbers))"
                let source = "s\(Int.random(in: 0..<2, using: &numbers))"
                let token = "t\(Int.random(in: 0..<3, using: &numbers))"
                let member = PurgeMember(.url("u\(Int.random(in: 0..<8, using: &numbers))"))
                switch Int.random(in: 0..<8, using: &numbers) {
                case 0...2:
                    let notBefore = Bool.random(using: &numbers) ? 0 : top
                    let real = try await redis.begin(
                        result, source: source, token: token, lease: forever, notBefore: notBefore, newList: "list")
                    model.now = real.now
                    var expected = model.begin(
                        result, source: source, token: token, lease: forever, notBefore: notBefore, newList: "list")
                    if case .taken(let left) = real.answer, case .taken(let expectedLeft) = expected.answer {
                        #expect(abs(left - expectedLeft) < 30_000)
                        expected.answer = .taken(left: left)
                    }
                    // The name has the time when the list was created.
                    #expect(real.list.hasPrefix("list:list:"))
                    expected.list = real.list
                    #expect(real == expected, "seed \(seed), turn \(turn)")
                    if case .lead(let begun) = real.answer { top = begun }
                case 3, 4:
                    let kinds: [FleetOutcome.Kind?] = [.result, .failure, .unshared, nil]
                    let outcome = kinds[Int.random(in: 0..<4, using: &numbers)].map {
                        FleetOutcome($0, begun: top, content: Array("content \(turn)\r\n\0".utf8))
                    }
                    let ofSource = Int.random(in: 0..<4, using: &numbers) == 0
                    let notBefore = Bool.random(using: &numbers) ? 0 : max(top - 1, 0)
                    let real = try await redis.finish(
                        result, source: source, token: token, outcome, ofSource: ofSource, life: forever,
                        notBefore: notBefore)
                    let expected = model.finish(
                        result, source: source, token: token, outcome, ofSource: ofSource, life: forever,
                        notBefore: notBefore)
                    #expect(real == expected, "seed \(seed), turn \(turn)")
                case 5:
                    let real = try await redis.renew(result, token: token, lease: forever)
                    #expect(real == model.renew(result, token: token, lease: forever), "seed \(seed), turn \(turn)")
                case 6:
                    let members = [member, PurgeMember(.tag("t\(turn % 3)"))]
                    let most = Bool.random(using: &numbers) ? 5 : 100
                    let real = try await redis.purge(members, newList: "list", life: forever, most: most)
                    model.now = max(model.now, real - 1)
                    _ = model.purge(members, newList: "list", life: forever, most: most)
                    let news = try await redis.read(
                        after: 0, most: 100, server: "a", newList: "list", gone: forever)
                    // Redis chooses the times by its own clock. The test compares which purges there are, and their
                    // order.
                    let expected = model.read(after: 0, most: 100, server: "a", newList: "list", gone: forever)
                    #expect(news.purges.map(\.text) == expected.purges.map(\.text), "seed \(seed), turn \(turn)")
                    #expect(news.list.hasPrefix("list:list:") && news.created > 0 && news.created < news.now)
                    #expect(news.purges.map(\.time) == news.purges.map(\.time).sorted())
                    #expect(news.latestPurge == real)
                    #expect(Set(news.purges.map(\.time)).count == news.purges.count)
                    model.take(news)
                    last = news.latestPurge
                default:
                    let restored = [(member, Int.random(in: 0...1, using: &numbers) == 0 ? last : 1)]
                    try await redis.restore(restored, newList: "list")
                    model.restore(restored, newList: "list")
                    let news = try await redis.read(
                        after: 0, most: 100, server: "a", newList: "list", gone: forever)
                    let expected = model.read(after: 0, most: 100, server: "a", newList: "list", gone: forever)
                    #expect(news.purges.map(\.text) == expected.purges.map(\.text), "seed \(seed), turn \(turn)")
                    model.take(news)
                    last = news.latestPurge
                }
            }
            await redis.client.close()
        }
    }

    @Test func locksEndWithTheirLeases() async throws {
        let server = try await RedisServer()
        let redis = try commands(server)
        #expect(
            try await redis.begin("r", source: "s", token: "a", lease: 40, notBefore: 0, newList: "list").answer.isLead)
        while true {
            let second = try await redis.begin(
                "r", source: "s", token: "b", lease: 60_000, notBefore: 0, newList: "list"
            ).answer
            if second.isLead { break }
        }
        #expect(try await redis.renew("r", token: "a", lease: 60_000) == false)
        let late = try await redis.finish(
            "r", source: "s", token: "a", FleetOutcome(.result, begun: 1), ofSource: false, life: 1000)
        #expect(!late)
        #expect(try await redis.renew("r", token: "b", lease: 60_000))
        await redis.client.close()
    }

    /// Results that were made before a purge had a later time than it.
    @Test func aPurgeIsNotEarlierThanWorkOfBeforeTheClockWasSetBack() async throws {
        let server = try await RedisServer()
        let redis = try commands(server)
        let begin = try await redis.begin("r", source: "s", token: "a", lease: 1000, notBefore: 0, newList: "list")
        guard case .lead(let begun) = begin.answer else { throw RedisError.connectionLost }
        // The clock of Redis cannot be set in a test. As if it had been an hour ahead:
        let clock = RESPArgument(redis.keys.clock)
        #expect(try await redis.client.send(["GET", clock]).text == "\(begun)")
        _ = try await redis.client.send(["SET", clock, RESPArgument(begun + 3_600_000)])
        let purged = try await redis.purge([PurgeMember(.all)], newList: "list", life: 1_000_000, most: 10)
        #expect(purged == begun + 3_600_000)
        try await redis.restore([(PurgeMember(.url("u")), begun + 7_200_000)], newList: "list")
        let news = try await redis.read(after: 0, most: 10, server: "a", newList: "list", gone: 1_000_000)
        #expect(news.purges.map(\.time) == [purged, begun + 7_200_000])
        await redis.client.close()
    }

    @Test func rateLimitsHoldForAllServersTogether() async throws {
        let server = try await RedisServer()
        let (one, other) = (try commands(server), try commands(server))
        // The limit allows four calls at once, then one an hour.
        var waits: [Double?] = []
        for turn in 0..<6 {
            let asker = turn % 2 == 0 ? one : other
            waits.append(try await asker.rate("client", interval: 3600, tolerance: 3 * 3600))
        }
        #expect(waits.prefix(4).allSatisfy { $0 == nil })
        #expect(waits.suffix(2).allSatisfy { $0.map { $0 > 3500 && $0 <= 3600 } == true })
        #expect(try await one.rate("another client", interval: 3600, tolerance: 0) == nil)
        await one.client.close()
        await other.client.close()
    }

    /// A script that is no longer in the cache of Redis is loaded again, once for all who need it at the same time.
    @Test func forgottenScriptsAreLoadedAgainOnce() async throws {
        let server = try await RedisServer()
        let redis = try commands(server)
        func rateOfMany() async throws {
            try await withThrowingTaskGroup { group in
                for number in 0..<50 {
                    group.addTask { try await redis.rate("\(number)", interval: 1e-6, tolerance: 1) }
                }
                for try await wait in group { #expect(wait == nil) }
            }
        }
        try await rateOfMany()
        #expect(redis.client.statistics.commands == 50 + 1)

        _ = try await redis.client.send(["SCRIPT", "FLUSH"])
        try await rateOfMany()
        await redis.client.close()
    }

    /// A script that could not be loaded is loaded by the next who needs it.
    @Test func scriptsThatCouldNotBeLoadedAreTriedAgain() async throws {
        let server = try await RedisServer()
        let redis = try commands(server)
        let scripts = LoadedScripts(redis.client)
        _ = try await redis.client.send(["ACL", "SETUSER", "default", "-script"])
        let refused = scripts.loading(.rate)
        await #expect(throws: RedisError.self) { try await refused.value.get() }
        _ = try await redis.client.send(["ACL", "SETUSER", "default", "+script"])

        let loaded = scripts.loading(.rate)
        #expect(try await loaded.value.get().count == 40)
        #expect(scripts.loading(.rate) == loaded)
        let again = scripts.loading(.rate, insteadOf: loaded)
        #expect(again != loaded)
        #expect(scripts.loading(.rate, insteadOf: loaded) == again)
        await redis.client.close()
    }
}

extension FleetAnswer {
    var isLead: Bool { if case .lead = self { true } else { false } }
}

extension ModelRedis {
    /// Adopts the purges of a real Redis, with the times that it gave them.
    mutating func take(_ news: FleetCommands.News) { setPurges(news.purges, dropped: news.dropped) }
}
