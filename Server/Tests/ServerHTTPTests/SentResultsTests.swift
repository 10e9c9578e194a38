import Logging
import ServerGrammar
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP
@testable import ServerImages

/// Results that clients have not read yet.
@Suite struct SentResultsTests {
    /// Longer than what is kept in memory.
    private static let length = 1 << 20

    private func result(_ byte: UInt8 = 1) -> StoredResult {
        let size = PixelSize(width: 1, height: 1)
        return StoredResult(
            bytes: [UInt8](repeating: byte, count: Self.length), mediaType: "image/png", fileExtension: "png",
            storedAt: 0, freshness: SourceFreshness(freshUntil: 100), sourceSize: size, resultSize: size, sourceBytes: 1
        )
    }

    private func disk(_ folder: ScratchDirectory) -> DiskCache {
        DiskCache(
            DiskCacheConfiguration(directory: folder.path, namespace: "results", limits: .init(bytes: .mebibytes(64))))
    }

    private func cache(_ disk: DiskCache, _ sent: SentResults) -> ResultCache {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ResultCache(memoryLimit: 1 << 20, disk: disk, sent: sent, logger: logger)
    }

    @Test func aHundredReadersOfALargeResultShareOneCopy() async throws {
        let folder = try ScratchDirectory()
        let (disk, sent) = (disk(folder), SentResults())
        let cache = cache(disk, sent)
        cache.keep(result(), "a")
        await cache.flush()
        #expect(sent.bytes == 0)
        var shares = await withTaskGroup(of: SentResults.Share?.self) { group in
            for _ in 0..<50 { group.addTask { await cache.result("a").flatMap { cache.share($0.0, "a") } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for _ in 0..<50 { shares.append(await cache.result("a").flatMap { cache.share($0.0, "a") }) }
        #expect(shares.allSatisfy { $0?.bytes.count == Self.length } && shares.count == 100)
        #expect(disk.statistics.hits == 1 && sent.bytes == Self.length)
        shares = []
        #expect(sent.bytes == 0 && sent.result("a") == nil)
        #expect(await cache.result("a")?.1 == .disk)
        #expect(disk.statistics.hits == 2)
    }

    @Test func whatIsBeingSentIsFoundAsItIsNow() async throws {
        let folder = try ScratchDirectory()
        let sent = SentResults()
        let cache = cache(disk(folder), sent)
        let share = try #require(cache.share(result(), "a"))
        var renewed = result()
        renewed.freshness.freshUntil = 200
        cache.renew(renewed, "a")
        #expect(await cache.result("a")?.0.freshness.freshUntil == 200)
        #expect(cache.share(renewed, "a") === share)
        // The bytes of another answer count for themselves.
        let other = try #require(cache.share(result(2), "a"))
        #expect(sent.bytes == 2 * Self.length && sent.result("a")?.bytes.first == 2)
        cache.keep(result(3), "a")
        #expect(sent.result("a") == nil)
        withExtendedLifetime((share, other)) {}
        await cache.flush()
    }

    @Test func whatMustNotBeStoredIsNotFound() throws {
        let sent = SentResults()
        var secret = result()
        secret.freshness.forbidsStoring = true
        let share = try #require(sent.share(secret, "a"))
        #expect(sent.result("a") == nil && sent.bytes == share.bytes.count)
    }

    @Test func theLimitHolds() throws {
        let sent = SentResults(most: Self.length * 3 / 2)
        var share = sent.share(result(), "a")
        #expect(share != nil && sent.share(result(), "a") === share && sent.share(result(2), "b") == nil)
        share = nil
        // A single one always fits.
        #expect(SentResults(most: 1).share(result(), "a") != nil && sent.share(result(2), "b") != nil)
    }

    @Test func whatClientsDoNotReadRefusesOthers() async throws {
        let server = try TestServer(sent: SentResults(most: 1))
        try server.serve()
        try server.serve("/b.png", PixelSize(width: 20, height: 30))
        let first = await server.picture("w:10")
        #expect(first.status == 200 && first.share != nil)
        let second = await server.picture("w:10", "/b.png")
        #expect(second.status == 503 && second.fields[.retryAfter] == "1")
        #expect(await server.picture("w:10").status == 200)
        let tag = try #require(first.fields[.eTag])
        #expect(await server.picture("w:10", "/a.png", [.ifNoneMatch: tag]).share == nil)
        withExtendedLifetime(first) {}
    }
}
