import Testing
import WebImageTesting

@testable import WebImage

/// Whether a tier that several users share may keep an answer, and for how long (RFC 9111 sections 3, 3.5 and 5.2.2).
@Suite struct SharedLifetimeTests {
    private func lifetime(_ fields: [(String, String)], now: Int64 = 1_000, status: Int? = 200) -> Int64? {
        var metadata = DiskMetadata()
        metadata.status = status
        metadata.responseTime = 1_000
        metadata.headers = fields.map { .init(name: $0.0, value: $0.1) }
        return metadata.sharedLifetime(now: now, most: 5_000)
    }

    @Test(
        arguments: [
            ("", 5_000), ("max-age=1", 5_000), ("private", nil), ("no-store", nil), ("s-maxage=60", 60),
            ("max-age=9, s-maxage=60", 60), ("s-maxage=0", nil), ("s-maxage=9999", 5_000), ("private=\"a\"", 5_000),
            ("no-cache", 5_000), ("s-maxage=nonsense", nil), ("private, s-maxage=60", nil),
        ] as [(String, Int64?)])
    func cacheControlSetsTheSharedLifetime(_ control: String, _ seconds: Int64?) {
        #expect(lifetime([("Cache-Control", control)]) == seconds)
    }

    @Test(
        arguments: [
            ("", nil), ("max-age=60", nil), ("public", 5_000), ("s-maxage=60", 60), ("must-revalidate", 5_000),
            ("public, private", nil),
        ] as [(String, Int64?)])
    func answersToCredentialsAreSharedOnlyWhereAllowed(_ control: String, _ seconds: Int64?) {
        #expect(lifetime([("cache-control", control), (":scope", "digest")]) == seconds)
    }

    @Test(
        arguments: [("", nil), ("must-revalidate", nil), ("public", 5_000), ("s-maxage=60", 60)]
            as [(String, Int64?)])
    func answersToCookiesAreSharedOnlyWhereAllowed(_ control: String, _ seconds: Int64?) {
        #expect(lifetime([("cache-control", control), (":cookies a", "digest")]) == seconds)
        #expect(lifetime([("cache-control", ""), (":cookies a", "")]) == 5_000, "a jar without a cookie for it")
    }

    @Test func theAgeShortensTheSharedLifetime() {
        let control = ("cache-control", "s-maxage=60")
        #expect(lifetime([control, ("age", "10")]) == 50)
        #expect(lifetime([control], now: 1_020) == 40)
        #expect(lifetime([control, ("age", "40")], now: 1_020) == nil)
        #expect(lifetime([control], now: 900) == 60, "a clock that was put back")
        #expect(lifetime([control, ("age", "-5")]) == 60)
    }

    @Test func anEntryWithoutAnHTTPStatusIsNotShared() {
        #expect(lifetime([], status: nil) == nil)
    }

    // MARK: Serialization

    @Test func metadataComeBackForTheirKeyOnly() throws {
        var metadata = DiskMetadata()
        metadata.url = "http://pictures.test/a.png"
        metadata.headers = [.init(name: "etag", value: "\"1\"")]
        metadata.extendedData = [0, 1, 2]
        let key = CacheKey("http://pictures.test/a.png")
        let bytes = metadata.serialized(for: key)
        #expect(DiskMetadata(serialized: bytes, for: key) == metadata)
        #expect(DiskMetadata(serialized: bytes, for: CacheKey("http://pictures.test/b.png")) == nil)
        for length in 0..<bytes.count {
            // If the cut bytes can be read at all, the fields in them are right; only fields after the cut are missing.
            guard let part = DiskMetadata(serialized: Array(bytes[..<length]), for: key) else { continue }
            #expect(part.url == nil || part.url == metadata.url)
        }
    }

    @Test func removeHereEmptiesMemoryAndDiskButNoTier() async throws {
        let (folder, tier) = (try TemporaryFolder(), MemoryTier())
        let clock = ManualClock()
        let bench = TestBench(disk: folder.path, clock: clock) { $0.tiers = [tier] }
        let request = ImageRequest("http://pictures.test/a.png")
        bench.answer("http://pictures.test/a.png", with: try Fixture.png(3, 2), type: "image/png")
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        let cache = try #require(bench.manager.cache as? ImageCache)
        #expect(cache.memoryCache.count == 1 && cache.usage.disk?.count == 1)
        // Not just after the store, which would be undone.
        clock.advance(by: .seconds(3))
        try await cache.removeHere(original: request.originalKey)
        #expect(cache.memoryCache.count == 0 && cache.usage.disk?.count == 0)
        #expect(tier.count(.remove) == 0 && tier.entries.count == 1)
    }

    /// Another program removes an original while this one stores it in the tier that both use.
    @Test func removeHereUndoesAStoreThatRuns() async throws {
        let (folder, tier) = (try TemporaryFolder(), MemoryTier())
        tier.setTrouble { $0 == .put ? .waits : .none }
        let bench = TestBench(disk: folder.path) { $0.tiers = [tier] }
        let request = ImageRequest("http://pictures.test/a.png")
        bench.answer("http://pictures.test/a.png", with: try Fixture.png(3, 2), type: "image/png")
        _ = try await bench.manager.image(for: request)
        #expect(await eventually { tier.count(.put) == 1 })
        let cache = try #require(bench.manager.cache as? ImageCache)
        try await cache.removeHere(original: request.originalKey)
        tier.open()
        #expect(await eventually { tier.count(.remove) == 1 })
        #expect(tier.entries.isEmpty)
    }

    /// Such a time in an entry of a tier that others can write to once crashed the process.
    @Test func anAnswerWithAnExtremeAgeHasNoSharedLifetime() {
        var metadata = DiskMetadata()
        metadata.status = 200
        metadata.responseTime = 1_000 - .max
        metadata.headers = [.init(name: "cache-control", value: "s-maxage=0"), .init(name: "age", value: "2147483648")]
        #expect(metadata.sharedLifetime(now: 1_000, most: 5_000) == nil)
    }
}
