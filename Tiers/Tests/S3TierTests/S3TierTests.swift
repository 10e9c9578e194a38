import FleetTesting
import NIOCore
import NIOPosix
import S3Client
import S3Signing
import S3Tier
import Testing
import TierEntries
import WebImage

/// Tests of the tier with a real SeaweedFS, which all tests share. Each test has a random prefix of its own.
@Suite(.enabled(if: S3Server.isInstalled, "\(S3Server.reason)")) struct S3TierTests {
    private let client: S3Client
    private let tier: S3Tier
    private let key = CacheKey("http://pictures.test/a.png")

    init() async throws {
        var configuration = try S3Configuration(
            bucket: S3Server.bucket, prefix: "\(UInt32.random(in: 0 ... .max))",
            endpoint: try await S3Server.shared().endpoint,
            credentials: S3Credentials(accessKey: S3Server.accessKey, secretKey: S3Server.secretKey))
        configuration.readDeadline = .seconds(60)
        client = try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton)
        tier = S3Tier(client, longestBody: 1_000_000)
    }

    private func entry(_ control: String = "max-age=60", body: [UInt8] = [1, 2, 3]) -> TierEntry {
        var metadata = DiskMetadata()
        metadata.status = 200
        metadata.url = key.text
        metadata.headers = [.init(name: "cache-control", value: control), .init(name: "etag", value: "\"1\"")]
        return TierEntry(body: body, metadata: metadata)
    }

    @Test func anEntryOfOneTierIsFoundByAnother() async throws {
        let other = S3Tier(client)
        for body in [[], [1], [UInt8](repeating: 7, count: 300_000)] {
            #expect(try await tier.put(entry(body: body), for: key))
            #expect(try await other.entry(for: key) == entry(body: body))
            #expect(try await other.metadata(for: key) == entry().metadata)
        }
        #expect(try await tier.entry(for: CacheKey("http://pictures.test/b.png")) == nil)
        #expect(other.statistics.hits == 6 && tier.statistics.puts == 3 && tier.statistics.misses == 1)
    }

    @Test func metadataIsReadWithoutTheBody() async throws {
        let long = [UInt8](repeating: 7, count: 900_000)
        try await tier.put(entry(body: long), for: key)
        let before = client.statistics.bytesRead
        #expect(try await tier.metadata(for: key) == entry().metadata)
        #expect(client.statistics.bytesRead - before < 20_000)
        // Metadata that is longer than the part that the first request reads.
        var other = entry(body: long)
        other.metadata.headers.append(.init(name: "x", value: String(repeating: "x", count: 30_000)))
        try await tier.put(other, for: key)
        #expect(try await tier.metadata(for: key) == other.metadata)
        #expect(tier.statistics.hits == 2 && tier.statistics.damaged == 0)
    }

    @Test func entriesOlderThanTheLifetimeAreAbsent() async throws {
        var old = entry()
        old.metadata.storedAt = 1_000_000_000
        #expect(try await tier.put(old, for: key))
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.metadata(for: key) == nil)
        let patient = S3Tier(client, lifetime: .seconds(3_000_000_000))
        #expect(try await patient.entry(for: key) == old)
    }

    @Test func anEntryIsRemoved() async throws {
        try await tier.put(entry(), for: key)
        try await tier.remove(key)
        #expect(try await tier.entry(for: key) == nil)
        try await tier.remove(key)
    }

    @Test func aShortEntryIsRenewed() async throws {
        let change: @Sendable (DiskMetadata) -> DiskMetadata? = { old in
            var new = old
            new.responseTime = 77
            return new
        }
        try await tier.put(entry(), for: key)
        #expect(try await tier.renew(key) { _ in nil } == false)
        #expect(try await tier.renew(key, change))
        #expect(try await tier.metadata(for: key)?.responseTime == 77)
        try await tier.put(entry(body: [UInt8](repeating: 1, count: 100_000)), for: key)
        #expect(try await tier.renew(key, change) == false)
        #expect(try await tier.renew(CacheKey("other"), change) == false)
    }

    @Test(arguments: ["private", "no-store"]) func entriesThatMustNotBeSharedAreNotStored(_ control: String)
        async throws
    {
        try await tier.put(entry(), for: key)
        #expect(try await tier.put(entry(control), for: key) == false)
        #expect(try await tier.entry(for: key) == nil)
        try await tier.put(entry(body: [UInt8](repeating: 1, count: 100_000)), for: key)
        let isDone = try await tier.renew(key) { old in
            var new = old
            new.headers = [.init(name: "cache-control", value: control)]
            return new
        }
        #expect(isDone)
        #expect(try await tier.entry(for: key) == nil)
        #expect(try await tier.put(entry(body: [UInt8](repeating: 1, count: 1_000_001)), for: key) == false)
        #expect(tier.statistics.refusals == 3)
    }

    /// The body is as long as it may be, and its metadata longer than usual. The older entry was once left then.
    @Test func anEntryThatIsTooLongWithItsHeadRemovesTheOlderOne() async throws {
        let tier = S3Tier(client)
        try await tier.put(entry(), for: key)
        var long = entry(body: [UInt8](repeating: 1, count: (8 << 20) - (4 << 10)))
        #expect(try await tier.put(long, for: key))
        long.metadata.headers.append(.init(name: "x", value: String(repeating: "x", count: 30_000)))
        #expect(try await tier.put(long, for: key) == false)
        #expect(try await tier.entry(for: key) == nil && tier.statistics.refusals == 1)
    }

    @Test func damagedEntriesAreNotTaken() async throws {
        try await tier.put(entry(), for: key)
        let other = CacheKey("http://pictures.test/b.png")
        try await tier.put(entry(body: [9]), for: other)
        let names = [key, other].map { EntrySeal.checksum.name(of: $0) }.map { "originals-1/\($0.prefix(2))/\($0)" }
        let object = try #require(try await client.get(names[0]))
        // The entry of another key, an entry that is cut off, and bytes that never were an entry.
        try await client.put(names[1], object.body)
        #expect(try await tier.entry(for: other) == nil)
        try await client.put(
            names[0], object.body.getSlice(at: 0, length: object.body.readableBytes - 1) ?? ByteBuffer())
        #expect(try await tier.entry(for: key) == nil)
        for nonsense in ["", "abc", "\u{7F}\u{7F}\u{7F}\u{7F}abc"] {
            try await client.put(names[0], ByteBuffer(string: nonsense))
            #expect(try await tier.entry(for: key) == nil)
        }
        #expect(tier.statistics.damaged == 5)
    }

    @Test func aStorageThatIsGoneIsAnError() async throws {
        let configuration = try S3Configuration(
            bucket: S3Server.bucket, endpoint: "http://127.0.0.1:\(RedisServer.freePort())")
        let tier = S3Tier(try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton))
        for _ in 0..<5 { await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) } }
        #expect(!tier.isAvailable)
        // The manager does not blame the tier for calls that it did not make.
        let spared = await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) }
        #expect(spared?.code == .circuitOpen)
        await tier.close()
        let closed = await #expect(throws: WebImageError.self) { _ = try await tier.entry(for: key) }
        #expect(closed?.code == .shutDown)
    }
}
