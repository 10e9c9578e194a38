import Testing
import WebImage
import WebImageCore
import WebImageTesting

@Suite struct ImageCacheTests {
    private let url = "http://pictures.test/a.png"

    @Test func aStoredPictureIsFoundInMemoryAndThenOnDisk() async throws {
        let folder = try TemporaryFolder()
        let first = CacheBench(folder.path).cache
        let image = try await Image(data: Fixture.png(40, 30))
        #expect(try await first.store(image, for: "avatar"))
        #expect(try await first.contains("avatar") == .all)
        #expect(try await first.image(for: "avatar")?.source == .memory)
        #expect(first.usage.memoryCount == 1 && first.usage.disk?.count == 1)

        let second = CacheBench(folder.path).cache
        #expect(second.cachedImage(for: "avatar") == nil)
        #expect(try await second.contains("avatar") == .disk)
        let found = try #require(try await second.image(for: "avatar"))
        #expect(found.source == .disk && found.metadata?.format == .png)
        #expect(try #require(PixelComparison(found.image, image)).isEqual)
        #expect(try await second.image(for: "avatar")?.source == .memory)
        #expect(try await second.contains("avatar") == .all)
    }

    @Test func anEmptyCacheFindsNothing() async throws {
        let folder = try TemporaryFolder()
        for cache in [CacheBench(folder.path).cache, CacheBench(nil).cache] {
            #expect(try await cache.image(for: "nothing") == nil)
            #expect(try await cache.data(for: "nothing") == nil)
            #expect(try await cache.contains("nothing") == [])
            try await cache.remove("nothing")
        }
    }

    @Test func aLookThatDoesNotPromoteLeavesMemoryAsItIs() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        try await cache.storeOriginal(Fixture.png(8, 8), for: "a")
        #expect(try await cache.image(for: "a", promotes: false)?.source == .disk)
        #expect(try await cache.image(for: "a", in: .memory) == nil)
        #expect(try await cache.image(for: "a")?.source == .disk)
        #expect(try await cache.image(for: "a", in: .memory)?.source == .memory)
    }

    @Test(arguments: [CacheLayers.memory, .disk])
    func aStoreInOneLayerLeavesTheOtherEmpty(layer: CacheLayers) async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        #expect(try await cache.store(Fixture.gradient(8, 8), for: "a", in: layer))
        #expect(try await cache.contains("a") == layer)
    }

    @Test func aThumbnailIsDecodedFromTheOriginalAndKeptUnderItsOwnKey() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let original = try Fixture.png(400, 300)
        try await cache.storeOriginal(original, for: ImageRequest(url))
        let request = ImageRequest(url, size: TargetSize(width: 100))
        let found = try #require(try await cache.image(for: request))
        #expect(found.image.size == PixelSize(width: 100, height: 75))
        #expect(cache.cachedImage(for: request) != nil && cache.cachedImage(for: ImageRequest(url)) == nil)
        #expect(cache.usage.disk?.count == 1)
        #expect(try await cache.data(for: request) == original)
    }

    @Test func aRequestsPictureIsMadeAsALoadWouldMakeIt() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.png(120, 90), type: "image/png")
        var request = ImageRequest(url, size: TargetSize(width: 50, height: 50, fit: .cover))
        request.decoding.scalesInLinearLight = true
        request.transformers = [Inverting()]
        let loaded = try await bench.manager.image(for: request).image
        await bench.manager.finishStores()
        let found = try #require(try await CacheBench(folder.path).cache.image(for: request))
        #expect(found.source == .disk && found.image.size == PixelSize(width: 50, height: 50))
        #expect(try #require(PixelComparison(found.image, loaded)).isEqual)
        request.transformers = []
        request.decoding.scalesInLinearLight = false
        let plainer = try #require(try await CacheBench(folder.path).cache.image(for: request))
        #expect(try #require(PixelComparison(plainer.image, loaded)).maxDifference > 50)
    }

    @Test func aPictureThatWasStoredFinishedIsNotTransformedAgain() async throws {
        let folder = try TemporaryFolder()
        let inverting = Inverting()
        var request = ImageRequest(url, size: TargetSize(width: 50))
        request.transformers = [inverting]
        let finished = try await Image(data: Fixture.png(50, 40))
        try await CacheBench(folder.path).cache.store(finished, for: request)
        let cache = CacheBench(folder.path).cache
        let found = try #require(try await cache.image(for: request))
        #expect(try #require(PixelComparison(found.image, finished)).isEqual && inverting.count == 0)
        #expect(try await cache.contains(ImageRequest(url)) == [], "it is no original")
    }

    @Test func bytesThatComeWithAPictureAreKeptAsTheyAre() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let data = try Fixture.jpeg(30, 20)
        #expect(try await cache.store(Fixture.gradient(30, 20), data: data, for: "a"))
        #expect(try await cache.data(for: "a") == data)
        let path = try #require(try await cache.diskCache?.path(for: CacheKey("a")))
        #expect(path == cache.diskCache?.defaultPath(for: CacheKey("a")))
    }

    @Test func aPictureInMemoryComesWithItsBytesWhenTheyAreWanted() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let data = try Fixture.png(8, 8)
        try await cache.store(Fixture.gradient(8, 8), data: data, for: ImageRequest(url))
        var request = ImageRequest(url)
        request.includesData = true
        let found = try #require(try await cache.image(for: request))
        #expect(found.source == .memory && found.data == data)
        cache.memoryCache.removeAll()
        let read = try #require(try await cache.image(for: request))
        #expect(read.source == .disk && read.data == data)
    }

    @Test func aRemovedPictureIsNowhere() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let thumbnail = ImageRequest(url, size: TargetSize(width: 4))
        try await cache.storeOriginal(Fixture.png(8, 8), for: thumbnail)
        for request in [ImageRequest(url), thumbnail] { _ = try await cache.image(for: request) }
        try await cache.store(Fixture.gradient(4, 4), for: thumbnail, in: .disk)
        try await cache.store(Fixture.gradient(4, 4), for: url + "s")
        #expect(cache.usage.memoryCount == 3 && cache.usage.disk?.count == 3)

        try await cache.remove(ImageRequest(url), from: .memory)
        #expect(cache.usage.memoryCount == 1, "every size goes")
        #expect(try await cache.contains(ImageRequest(url)) == .disk)

        try await cache.remove(thumbnail)
        for request in [ImageRequest(url), thumbnail] { #expect(try await cache.contains(request) == []) }
        #expect(try await cache.contains(url + "s") == .all, "another key begins with it")
    }

    @Test func layersAreClearedEachForItself() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        for key in ["a", "b"] { try await cache.store(Fixture.gradient(8, 8), for: key) }
        try await cache.clear(.memory)
        #expect(cache.usage.memoryCount == 0 && cache.usage.disk?.count == 2)
        _ = try await cache.image(for: "a")
        try await cache.clear(.disk)
        #expect(cache.usage.memoryCount == 1 && cache.usage.disk?.count == 0)
        try await cache.store(Fixture.gradient(8, 8), for: "b")
        try await cache.clear()
        #expect(cache.usage.memoryCount == 0 && cache.usage.disk?.count == 0)
    }

    @Test func anEntrysLifetimeEndsInBothLayers() async throws {
        let folder = try TemporaryFolder()
        let bench = CacheBench(folder.path)
        var options = CacheStoreOptions()
        options.metadata.expiresAt = bench.clock.wallTime + 60
        options.metadata.extendedData = [1, 2, 3]
        try await bench.cache.store(Fixture.gradient(8, 8), for: "a", options)
        try await bench.cache.store(Fixture.gradient(8, 8), for: "b")
        bench.cache.memoryCache.removeAll()
        #expect(try await bench.cache.image(for: "a")?.metadata?.extendedData == [1, 2, 3])
        bench.clock.advance(by: .seconds(59))
        #expect(try await bench.cache.contains("a") == .all)
        bench.clock.advance(by: .seconds(1))
        #expect(bench.cache.cachedImage(for: "a") == nil)
        #expect(try await bench.cache.image(for: "a") == nil)
        try await bench.cache.removeExpired()
        #expect(bench.cache.usage.disk?.count == 1)
        #expect(try await bench.cache.image(for: "b")?.source == .disk)
    }

    @Test func anEntryThatIsNoPictureIsAnError() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        try await cache.storeOriginal(Array("no picture".utf8), for: "a")
        let error = await #expect(throws: WebImageError.self) { try await cache.image(for: "a") }
        #expect(error?.code == .badImageData && error?.location == "a")
        #expect(cache.usage.memoryCount == 0)
    }

    @Test func aPictureOfWhichAPartIsMissingIsNotKept() async throws {
        let cache = CacheBench(nil).cache
        let part = Fixture.gradient(8, 8).with { $0.isPartial = true }
        #expect(try await !cache.store(part, for: "a", in: .memory))
        #expect(cache.usage.memoryCount == 0)
    }

    @Test func managersAndCachesFindWhatTheOtherStored() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        _ = try await bench.manager.image(for: ImageRequest(url))
        await bench.manager.finishStores()
        let cache = CacheBench(folder.path).cache
        #expect(try await cache.image(for: ImageRequest(url))?.source == .disk)
        #expect(try await cache.image(for: url)?.source == .memory, "the text is the same key")
        try await cache.storeOriginal(Fixture.png(4, 4), for: "avatar")
        #expect(try await bench.manager.image(for: ImageRequest(cacheKey: "avatar")).source == .disk)
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest(cacheKey: "nothing"))
        }
        #expect(error?.code == .cacheMiss && bench.transport.requests.count == 1)
    }

    @Test func blockingLookupsFindTheStoredOriginal() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let data = try Fixture.png(40, 30)
        let request = ImageRequest(url, size: TargetSize(width: 20))
        #expect(try cache.imageBlocking(for: request) == nil && cache.containsBlocking(request) == [])
        try await cache.storeOriginal(data, for: request)
        #expect(try cache.containsBlocking(request) == .disk && cache.dataBlocking(for: request) == data)
        let found = try #require(try cache.imageBlocking(for: request))
        #expect(found.source == .disk && found.image.size == PixelSize(width: 20, height: 15))
        #expect(try cache.imageBlocking(for: request)?.source == .memory && cache.containsBlocking(request) == .all)
        try await cache.storeOriginal([1, 2, 3], for: "no picture")
        let error = #expect(throws: WebImageError.self) {
            try cache.imageBlocking(for: ImageRequest(cacheKey: "no picture"))
        }
        #expect(error?.code == .badImageData)
    }
}
