import HTTPTypes
import Testing
import WebImage
import WebImageTesting

@Suite struct CachingTests {
    private let url = "http://pictures.test/a.png"

    @Test func aNewManagerFindsThePictureOnDisk() async throws {
        let folder = try TemporaryFolder()
        let first = TestBench(disk: folder.path)
        first.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        let loaded = try await first.manager.image(for: ImageRequest(url))
        #expect(loaded.source == .network)
        await first.manager.finishStores()
        let second = TestBench(disk: folder.path)
        let found = try await second.manager.image(for: ImageRequest(url))
        #expect(found.source == .disk && found.byteCount == loaded.byteCount)
        #expect(second.transport.requests.isEmpty)
        #expect(try #require(PixelComparison(found.image, loaded.image)).differingPixels == 0)
    }

    @Test func aPictureReadFromDiskIsInMemoryAfterwards() async throws {
        let folder = try TemporaryFolder()
        let first = TestBench(disk: folder.path)
        first.answer(url, with: try Fixture.png(16, 16), type: "image/png")
        _ = try await first.manager.image(for: ImageRequest(url))
        await first.manager.finishStores()
        let second = TestBench(disk: folder.path)
        #expect(try await second.manager.image(for: ImageRequest(url)).source == .disk)
        #expect(try await second.manager.image(for: ImageRequest(url)).source == .memory)
        #expect(second.manager.diskCache?.statistics.hits == 1)
    }

    @Test func oneOriginalOnDiskServesEverySize() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.png(400, 300), type: "image/png")
        _ = try await bench.manager.image(for: ImageRequest(url))
        await bench.manager.finishStores()
        for width in [200, 100, 50] {
            var request = ImageRequest(url)
            request.size = TargetSize(width: width)
            let response = try await bench.manager.image(for: request)
            #expect(response.source == .disk && response.image.size.width == width)
        }
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func policiesReadAndStoreAsDocumented() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        var request = ImageRequest(url)

        request.caching.policy = .cacheOnly
        let miss = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(miss?.code == .cacheMiss && miss?.location == url && bench.transport.requests.isEmpty)

        request.caching.policy = .noStore
        #expect(try await bench.manager.image(for: request).source == .network)
        await bench.manager.finishStores()
        #expect(bench.manager.memoryCache.count == 0 && bench.manager.diskCache?.usage.count == 0)

        request.caching.policy = .reload
        #expect(try await bench.manager.image(for: request).source == .network)
        #expect(try await bench.manager.image(for: request).source == .network)
        await bench.manager.finishStores()
        #expect(bench.transport.hits(url) == 3)
        #expect(bench.manager.memoryCache.count == 1 && bench.manager.diskCache?.usage.count == 1)

        request.caching.policy = .cacheOnly
        #expect(try await bench.manager.image(for: request).source == .memory)
        bench.manager.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: request).source == .disk)
    }

    @Test(arguments: ["no-store", "max-age=60, No-Store", "private, no-store=\"x\""])
    func noStoreAnswersAreNotStored(control: String) async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png", fields: [.cacheControl: control])
        for _ in 0..<2 { #expect(try await bench.manager.image(for: ImageRequest(url)).source == .network) }
        await bench.manager.finishStores()
        #expect(bench.transport.hits(url) == 2 && bench.manager.diskCache?.usage.count == 0)
    }

    @Test func aBrokenPictureIsNotStored() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: Array(try Fixture.png(64, 64).dropLast(200)), type: "image/png")
        var request = ImageRequest(url)
        request.retriesFailed = true
        for _ in 0..<2 {
            let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
            #expect(error?.code == .badImageData)
        }
        await bench.manager.finishStores()
        #expect(bench.transport.hits(url) == 2)
        #expect(bench.manager.memoryCache.count == 0 && bench.manager.diskCache?.usage.count == 0)
    }

    @Test func aBrokenEntryIsFetchedAgain() async throws {
        let folder = try TemporaryFolder()
        let first = TestBench(disk: folder.path)
        first.answer(url, with: try Fixture.png(64, 64), type: "image/png")
        _ = try await first.manager.image(for: ImageRequest(url))
        await first.manager.finishStores()
        let path = try #require(await first.manager.diskCache?.path(for: ImageRequest(url).originalKey))
        try FileTree.write([1, 2, 3], to: path)
        let second = TestBench(disk: folder.path)
        second.answer(url, with: try Fixture.png(64, 64), type: "image/png")
        #expect(try await second.manager.image(for: ImageRequest(url)).source == .network)
        await second.manager.finishStores()
        let third = TestBench(disk: folder.path)
        #expect(try await third.manager.image(for: ImageRequest(url)).source == .disk)
    }

    @Test func aDiskThatCannotBeWrittenCostsNoPicture() async throws {
        let folder = try TemporaryFolder()
        try FileTree.write([0], to: "\(folder.path)/file")
        let bench = TestBench(disk: "\(folder.path)/file/cache")
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .network)
        await bench.manager.finishStores()
    }

    @Test func callersWithOtherCredentialsShareNothing() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        var mine = ImageRequest(url)
        mine.http.headers[.authorization] = "Bearer mine"
        var yours = ImageRequest(url)
        yours.http.headers[.authorization] = "Bearer yours"
        #expect(mine.originalKey != yours.originalKey && mine.originalKey != ImageRequest(url).originalKey)
        #expect(!mine.originalKey.text.contains("mine"))
        _ = try await bench.manager.image(for: mine)
        #expect(bench.manager.cachedImage(for: yours) == nil)
        _ = try await bench.manager.image(for: yours)
        #expect(bench.transport.hits(url) == 2)
    }

    /// Keys must not change: disk entries of every version of the library are found by them.
    @Test func cacheKeysStayTheSameInEveryVersion() {
        let plain = ImageRequest("https://User:Secret@Example.com:443/a/../b.jpg?x=1#top")
        #expect(
            plain.originalKey.text
                == "https://example.com/b.jpg?x=1\u{1E}who#\(KeyDigest.hex("user:\(KeyDigest.hex("User").prefix(32))").prefix(32))"
        )
        #expect(ImageRequest("http://example.com/a").variantKey.text == "http://example.com/a\u{1F}g1:2;")
        var request = ImageRequest("http://example.com/a")
        request.size = TargetSize(width: 320, height: 240, fit: .cover, upscale: true)
        request.decoding.appliesOrientation = false
        request.decoding.keepsBitDepth = true
        request.decoding.convertsToSRGB = false
        request.decoding.bitmapLimit = 4096
        request.transformers = [CountingTransformer()]
        #expect(
            request.variantKey.text
                == "http://example.com/a\u{1F}g1:2;s7:320x240;f5:cover;u1:1;o4:keep;d2:16;c4:keep;b4:4096;t8:counting;")
        request.caching.key = "avatar"
        request.http.headers[.acceptLanguage] = "de"
        // The field's value in the key is the first half of SHA-256("de").
        #expect(request.originalKey.text == "avatar\u{1E}accept-language#959a45d44e6fcf58361ed004681556fe")
    }
}
