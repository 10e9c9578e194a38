import Dispatch
import FleetTesting
import Foundation
import RESP
import RedisClient
import Testing
import TierEntries
import WebImage

@testable import RedisTier

/// Tests of the tier with a real redis-server, one for each test.
@Suite(.enabled(if: RedisServer.isInstalled, "no redis-server is installed"))
struct RedisTierTests {
    private let redis: RedisServer
    private let tier: RedisTier
    private let key = CacheKey("http://pictures.test/a.png")

    init() async throws {
        redis = try await RedisServer()
        tier = try Self.tier(redis)
    }

    static func tier(
        _ redis: RedisServer, secret: String = "a secret of all programs",
        _ change: (inout RedisTier.Configuration) -> Void = { _ in }
    ) throws -> RedisTier {
        var configuration = try RedisTier.Configuration(url: redis.url, secret: Array(secret.utf8))
        // A machine that is busy with other tests may be slow to answer.
        configuration.deadline = .seconds(20)
        change(&configuration)
        return try RedisTier(configuration)
    }

    /// An entry as an answer of an origin with these header fields would make it.
    private func entry(_ fields: (String, String)..., body: [UInt8] = [1, 2, 3]) -> TierEntry {
        var metadata = DiskMetadata()
        metadata.status = 200
        metadata.url = key.text
        metadata.headers = fields.map { .init(name: $0.0, value: $0.1) }
        return TierEntry(body: body, metadata: metadata)
    }

    private func life(_ key: CacheKey) async throws -> Int {
        try await tier.store.client.send(["TTL", RESPArgument("{wi:t1}:o:\(tier.seal.name(of: key))")]).integer ?? 0
    }

    @Test func anEntryOfOneTierIsFoundByAnother() async throws {
        let other = try Self.tier(redis)
        let entry = entry(("etag", "\"1\""), ("cache-control", "max-age=60"), body: Array(repeating: 7, count: 100_000))
        #expect(try await other.entry(for: key) == nil)
        #expect(try await tier.put(entry, for: key))
        #expect(try await other.entry(for: key) == entry)
        #expect(try await other.metadata(for: key) == entry.metadata)
        #expect(try await other.entry(for: CacheKey("http://pictures.test/b.png")) == nil)
        #expect(other.statistics.hits == 2 && other.statistics.misses == 2 && tier.statistics.puts == 1)
    }

    /// Removals are published on a channel, to which not every user may subscribe.
    @Test func aRefusedSubscriptionIsReported() async throws {
        let words = ["ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "resetchannels"]
        _ = try await tier.store.client.send(words.map { RESPArgument($0) })
        let notices = EventLog<RedisClient.Notice>()
        var configuration = try RedisTier.Configuration(url: redis.url, secret: Array("a secret of all programs".utf8))
        (configuration.redis.user, configuration.redis.password) = ("limited", "secret")
        let limited = try RedisTier(configuration, onNotice: { notices.append($0) })
        let following = limited.follow { _ in }
        await notices.wait { !$0.isEmpty }
        #expect("\(notices.events)".contains("NOPERM"))
        following.stop()
        await limited.close()
    }

    @Test func onlyAMatchingEntryIsRenewed() async throws {
        try await tier.put(entry(("etag", "\"1\"")), for: key)
        #expect(try await tier.renew(key) { $0.value(of: "etag") == "\"2\"" ? $0 : nil } == false)
        let isRenewed = try await tier.renew(key) { old in
            var new = old
            new.responseTime = 77
            return new
        }
        #expect(isRenewed)
        #expect(try await tier.metadata(for: key)?.responseTime == 77)
        #expect(try await tier.entry(for: key)?.body == [1, 2, 3])
        #expect(try await tier.renew(CacheKey("other")) { $0 } == false)
    }

    @Test func aHeadIsNotReplacedIfTheEntryHasChanged() async throws {
        try await tier.put(entry(("etag", "\"1\"")), for: key)
        let head = try #require(try await tier.store.head(tier.seal.name(of: key)))
        try await tier.put(entry(("etag", "\"2\"")), for: key)
        #expect(try await tier.store.replace(tier.seal.name(of: key), head: head, by: head, life: 5) == false)
        #expect(try await tier.metadata(for: key)?.value(of: "etag") == "\"2\"")

        // Another program replaces the entry after `renew` has read it, once for each of these.
        func renewed(_ others: [TierEntry], _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?) async throws
            -> (isDone: Bool, seen: [String?])
        {
            let other = try Self.tier(redis)
            let (seen, key) = (EventLog<String?>(), key)
            let isDone = try await tier.renew(key) { old in
                let turn = seen.events.count
                seen.append(old.value(of: "etag"))
                if turn < others.count { OwnThreads.wait { _ = try? await other.put(others[turn], for: key) } }
                return change(old)
            }
            return (isDone, seen.events)
        }
        @Sendable func stamped(_ old: DiskMetadata) -> DiskMetadata {
            var new = old
            new.responseTime = 77
            return new
        }
        let third = try await renewed([entry(("etag", "\"3\""), body: [3])], stamped)
        #expect(third.isDone && third.seen == ["\"2\"", "\"3\""])
        let found = try #require(try await tier.entry(for: key))
        #expect(found.body == [3] && found.metadata.value(of: "etag") == "\"3\"" && found.metadata.responseTime == 77)
        // The second look finds an entry that is not to be renewed.
        let fourth = try await renewed([entry(("etag", "\"4\""))]) { $0.value(of: "etag") == "\"3\"" ? $0 : nil }
        #expect(!fourth.isDone && fourth.seen == ["\"3\"", "\"4\""])
        #expect(try await tier.entry(for: key) == entry(("etag", "\"4\"")))
        let error = await #expect(throws: WebImageError.self) {
            _ = try await renewed((0..<20).map { entry(("etag", "\($0)")) }, stamped)
        }
        #expect(error?.code == .locked)
    }

    @Test func anEntryIsRemovedAlsoWhereRedisIsFull() async throws {
        try await tier.put(entry(), for: key)
        _ = try await tier.store.client.send(["CONFIG", "SET", "maxmemory", "1"])
        await #expect(throws: WebImageError.self) { try await tier.put(entry(), for: key) }
        let before = try await tier.store.removals(after: nil).last
        #expect(try await tier.remove(key))
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.store.removals(after: before).items.count == 1)
    }

    @Test func anEntryIsRemoved() async throws {
        try await tier.put(entry(), for: key)
        #expect(try await tier.remove(key))
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.remove(key) == false)
    }

    @Test func entriesExpireWithTheirLifetime() async throws {
        try await tier.put(entry(), for: key)
        #expect((86_390...86_400).contains(try await life(key)))
        try await tier.put(entry(("cache-control", "max-age=9, s-maxage=600")), for: key)
        #expect((590...600).contains(try await life(key)))
        let isRenewed = try await tier.renew(key) { old in
            var new = old
            new.headers = [.init(name: "cache-control", value: "s-maxage=300")]
            return new
        }
        #expect(isRenewed)
        #expect((290...300).contains(try await life(key)))
    }

    @Test(arguments: ["private", "no-store", "s-maxage=0"]) func entriesThatMustNotBeSharedAreNotStored(
        _ control: String
    ) async throws {
        try await tier.put(entry(), for: key)
        #expect(try await tier.put(entry(("cache-control", control)), for: key) == false)
        #expect(try await tier.entry(for: key) == nil, "the older one is not there any more, either")
        try await tier.put(entry(), for: key)
        let isDone = try await tier.renew(key) { old in
            var new = old
            new.headers = [.init(name: "cache-control", value: control)]
            return new
        }
        #expect(isDone)
        #expect(try await tier.entry(for: key) == nil)
        #expect(tier.statistics.refusals == 1)
    }

    @Test func entriesThatAreTooLongAreNotStored() async throws {
        let small = try Self.tier(redis) { $0.longestBody = ByteCount(3) }
        #expect(try await small.put(entry(), for: key))
        #expect(try await small.put(entry(body: [1, 2, 3, 4]), for: key) == false)
        #expect(try await small.entry(for: key) == nil)
    }

    /// Somebody who can write to Redis but does not know the secret can remove an entry, but not forge one.
    @Test func entriesThatAreNotSignedAreNotTaken() async throws {
        try await tier.put(entry(), for: key)
        let name = RESPArgument("{wi:t1}:o:\(tier.seal.name(of: key))")
        let client = tier.store.client
        _ = try await client.send(["HSET", name, "b", "other bytes"])
        #expect(try await tier.entry(for: key) == nil)
        _ = try await client.send(["HSET", name, "m", "nonsense"])
        #expect(try await tier.metadata(for: key) == nil)
        #expect(try await tier.renew(key) { $0 } == false)
        #expect(tier.statistics.damaged == 2)
        _ = try await client.send(["DEL", name])
        _ = try await client.send(["SET", name, "no hash"])
        await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) }
        #expect(try await Self.tier(redis, secret: "another secret, as long").entry(for: key) == nil)
    }

    @Test func aServerThatIsGoneIsAnErrorAndComesBack() async throws {
        let tier = try Self.tier(redis) { $0.deadline = .seconds(2) }
        try await tier.put(entry(), for: key)
        await redis.kill()
        let error = await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) }
        #expect(error?.code == .cacheIO)
        try await redis.start()
        // The tier reconnects by itself.
        while (try? await tier.entry(for: key)) == nil {
            guard (try? await tier.put(entry(), for: key)) == nil else { break }
            await Task.yield()
        }
        #expect(try await tier.entry(for: key) == entry())
    }

    @Test func aClosedTierFails() async throws {
        await tier.close()
        let error = await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) }
        #expect(error?.code == .shutDown)
    }

    /// A large entry may take longer to store than a look-up may take.
    @Test func changesMayTakeLongerThanLookUps() async throws {
        let tier = try Self.tier(redis) { $0.deadline = .milliseconds(500) }
        #expect(tier.changeDeadline == .seconds(5))
        while (try? await tier.entry(for: key)) == nil, tier.statistics.misses == 0 {}
        // Redis lets all other clients wait for a moment that is longer than the deadline of a look-up.
        _ = try await self.tier.store.client.send(["CLIENT", "PAUSE", "1000", "ALL"])
        #expect(try await tier.put(entry(), for: key))
    }

    @Test func aWrongConfigurationIsRefused() {
        #expect(throws: TierSetupError.self) { try RedisTier.Configuration(url: "http://a", secret: []) }
        #expect(throws: TierSetupError.self) { try RedisTier(.init(url: "redis://a", secret: [1])) }
    }
}

/// Runs asynchronous work on threads of its own, for closures that cannot be asynchronous.
private final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when the work is done. Blocks the thread, but needs no other thread of Swift's pool.
    static func wait(for work: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task(executorPreference: OwnThreads()) {
            await work()
            done.signal()
        }
        done.wait()
    }
}
