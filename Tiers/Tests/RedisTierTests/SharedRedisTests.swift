import FleetTesting
import Foundation
import HTTPTypes
import RESP
import RedisClient
import Testing
import TierEntries
import WebImage
import WebImageTesting

@testable import RedisTier

/// Several image managers share one redis-server. Each has a memory cache, a disk cache and connections of its own, as
/// if it were in a program of its own.
@Suite(.enabled(if: RedisServer.isInstalled, "no redis-server is installed"))
struct SharedRedisTests {
    private let redis: RedisServer
    private let origin = FakeTransport()
    private let url = "http://pictures.test/a.png"
    private let picture: [UInt8]

    init() async throws {
        redis = try await RedisServer()
        picture = try Image(size: PixelSize(width: 3, height: 2), alpha: .opaque) {
            $0.initializeMemory(as: UInt8.self, repeating: 255)
        }
        .encoded(as: .png)
    }

    /// A temporary folder that is removed when the object is released.
    private final class Folder: Sendable {
        let path = FileManager.default.temporaryDirectory.path + "/tier-\(UInt64.random(in: 0 ... .max))"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// A manager with a disk cache and a tier of its own, which stands for one program.
    private final class Program: Sendable {
        let manager: ImageManager
        let tier: RedisTier
        let following: RemovalFollowing
        private let folder: Folder

        init(_ redis: RedisServer, _ origin: FakeTransport, deadline: Duration = .seconds(20)) throws {
            folder = try Folder()
            tier = try RedisTierTests.tier(redis) { $0.deadline = deadline }
            var configuration = ImageManager.Configuration()
            configuration.disk = DiskCacheConfiguration(directory: folder.path)
            configuration.tiers = [tier]
            manager = ImageManager(configuration: configuration, transport: origin)
            following = try tier.follow(removalsInto: manager)
        }

        func source(_ url: String, _ policy: CachePolicy = .cacheFirst) async throws -> ImageSource {
            var request = ImageRequest(url)
            request.caching.policy = policy
            let source = try await manager.image(for: request).source
            await manager.finishStores()
            return source
        }

        func wait(until isMet: (Program) async throws -> Bool) async throws {
            while try await !isMet(self) { await Task.yield() }
        }

        /// Removes a picture in the other program again and again until this program has heard of a removal.
        func hears(_ other: Program) async throws {
            try await wait { program in
                try await other.manager.cache.remove(ImageRequest("http://pictures.test/other.png"))
                return program.tier.statistics.removalsHeard > 0
            }
        }

        func isOnDisk(_ url: String) async throws -> Bool {
            try await !manager.cache.contains(ImageRequest(url), in: .disk).isEmpty
        }
    }

    @Test func aPictureFetchedByOneProgramIsSharedWithOthers() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png", headers: [.cacheControl: "max-age=1000"]))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        #expect(try await first.source(url) == .network)
        #expect(try await second.source(url) == .tier)
        #expect(try await second.source(url) == .memory)
        second.manager.memoryCache.removeAll()
        #expect(try await second.source(url) == .disk)
        #expect(origin.hits(url) == 1)
    }

    @Test func privatePicturesAreFetchedByEachProgram() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png", headers: [.cacheControl: "private, max-age=1000"]))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        #expect(try await first.source(url) == .network)
        #expect(try await second.source(url) == .network)
        #expect(first.tier.statistics.refusals == 1 && first.tier.statistics.puts == 0)
    }

    @Test(arguments: [nil, "public"]) func picturesBehindCredentialsAreSharedOnlyIfPublic(
        _ control: String?
    ) async throws {
        origin.answer(
            url, .bytes(picture, contentType: "image/png", headers: control.map { [.cacheControl: $0] } ?? [:]))
        let first = try Program(redis, origin)
        var request = ImageRequest(url)
        request.http.headers[.authorization] = "Bearer secret"
        _ = try await first.manager.image(for: request)
        await first.manager.finishStores()
        #expect(first.tier.statistics.puts == (control == nil ? 0 : 1))
    }

    @Test func aRemovalReachesAllPrograms() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        _ = try await first.source(url)
        _ = try await second.source(url)
        try await second.hears(first)
        #expect(try await second.isOnDisk(url))
        try await first.manager.cache.remove(ImageRequest(url))
        try await second.wait { try await !$0.isOnDisk(url) }
        #expect(second.manager.memoryCache.count == 0)
        #expect(try await second.source(url) == .network)
        #expect(first.tier.statistics.removalsHeard == 0, "nobody hears of his own")
    }

    @Test func removalsDuringALostConnectionAreHeard() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        _ = try await first.source(url)
        _ = try await second.source(url)
        try await second.hears(first)
        let client = first.tier.store.client
        // Redis closes the connections of all subscribers, so that nobody hears the next removal when it is published.
        _ = try await client.send(["CLIENT", "KILL", "TYPE", "pubsub"])
        try await first.manager.cache.remove(ImageRequest(url))
        try await second.wait { try await !$0.isOnDisk(url) }
    }

    @Test func aCacheIsClearedWhenRemovalsMayBeLost() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        _ = try await second.source(url)
        try await second.hears(first)
        #expect(try await second.isOnDisk(url))
        let client = first.tier.store.client
        _ = try await client.send(["FLUSHALL"])
        _ = try await client.send(["CLIENT", "KILL", "TYPE", "pubsub"])
        try await second.wait { try await !$0.isOnDisk(url) }
    }

    /// The list of removals has a lifetime. The first removal after its end once seemed to follow others that the
    /// program had missed.
    @Test func afterTheListOfRemovalsExpiresNothingCountsAsMissed() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let (first, second) = (try Program(redis, origin), try Program(redis, origin))
        _ = try await second.source(url)
        try await second.hears(first)
        // Waits until the last removal so far has been heard. Otherwise it would really be missed.
        let last = "http://pictures.test/last.png"
        origin.answer(last, .bytes(picture, contentType: "image/png"))
        _ = try await second.source(last)
        try await first.manager.cache.remove(ImageRequest(last))
        try await second.wait { try await !$0.isOnDisk(last) }
        let client = first.tier.store.client
        _ = try await client.send(["DEL", "{wi:t1}:removed"])
        // All programs subscribe anew, and the next removal begins a new list.
        _ = try await client.send(["CLIENT", "KILL", "TYPE", "pubsub"])
        let heard = second.tier.statistics.removalsHeard
        try await first.manager.cache.remove(ImageRequest("http://pictures.test/other.png"))
        try await second.wait { $0.tier.statistics.removalsHeard > heard }
        #expect(try await second.isOnDisk(url))
    }

    /// Somebody who can write to Redis but does not know the secret cannot remove pictures from other caches.
    @Test func aRemovalThatIsNotSignedIsNotHeard() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let program = try Program(redis, origin)
        _ = try await program.source(url)
        let (stranger, other) = (
            try RedisTierTests.tier(redis, secret: "another secret, as long"), try Program(redis, origin)
        )
        _ = try await stranger.remove(ImageRequest(url).originalKey)
        try await program.hears(other)
        #expect(try await program.isOnDisk(url))
    }

    @Test func aPausedOrLostRedisDoesNotStopLoading() async throws {
        origin.answer(url, .bytes(picture, contentType: "image/png"))
        let other = "http://pictures.test/b.png"
        origin.answer(other, .bytes(picture, contentType: "image/png"))
        let program = try Program(redis, origin, deadline: .milliseconds(50))
        redis.pause()
        #expect(try await program.source(url) == .network)
        redis.resume()
        await redis.kill()
        #expect(try await program.source(other) == .network)
    }
}
