import HTTPTypes
import Testing
import WebImageCache
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Requests with caches of their own, and serializers (SDWebImage's rows C-04, C-16, C-21, C-27 and M-18).
@Suite struct OwnCacheTests {
    private let url = "http://pictures.test/a.png"
    private let folders: [TemporaryFolder]
    private let body: [UInt8]

    init() throws {
        folders = [try TemporaryFolder(), try TemporaryFolder()]
        body = try Fixture.png(64, 48)
    }

    private func makeBench(_ change: (inout ImageManager.Configuration) -> Void = { _ in }) -> TestBench {
        let bench = TestBench(disk: folders[0].path, change: change)
        bench.answer(url, with: body, type: "image/png", fields: [.eTag: "\"1\"", .cacheControl: "max-age=600"])
        return bench
    }

    private func makeCache(_ folder: TemporaryFolder?) -> ImageCache {
        ImageCache(configuration: .init(disk: folder.map { DiskCacheConfiguration(directory: $0.path) }))
    }

    @Test(arguments: [CachePolicy.cacheFirst, .protocol])
    func aRequestsOwnCacheTakesThePlaceOfTheManagers(policy: CachePolicy) async throws {
        let (bench, cache) = (makeBench(), makeCache(folders[1]))
        let manager = bench.manager
        var request = ImageRequest(url)
        request.caching.policy = policy
        request.caching.cache = cache
        #expect(try await manager.image(for: request).source == .network)
        await manager.finishStores()
        #expect(manager.memoryCache.count == 0 && manager.diskCache?.usage.count == 0)
        #expect(cache.memoryCache.count == 1 && cache.usage.disk?.count == 1)
        #expect(manager.cachedImage(for: request) != nil && manager.cachedImage(for: ImageRequest(url)) == nil)
        #expect(try await manager.image(for: request).source == .memory)
        cache.memoryCache.removeAll()
        #expect(try await manager.image(for: request).source == .disk)
        // The manager's own caches do not have the picture.
        #expect(try await manager.image(for: ImageRequest(url)).source == .network)
        #expect(bench.transport.requests.count == 2)
    }

    /// Pictures that the cache itself had put into its memory were once served although a load had brought a newer
    /// original.
    @Test func aNewerOriginalOutdatesThePicturesOfTheRequestsOwnCache() async throws {
        let (bench, cache) = (makeBench(), makeCache(folders[1]))
        bench.transport.answer(
            url, .bytes(body, contentType: "image/png", headers: [.eTag: "\"1\""]),
            .bytes(try Fixture.png(32, 24), contentType: "image/png", headers: [.eTag: "\"2\""]))
        var (small, plain) = (ImageRequest(url, size: TargetSize(width: 16)), ImageRequest(url))
        small.caching.cache = cache
        plain.caching.cache = cache
        _ = try await bench.manager.image(for: plain)
        await bench.manager.finishStores()
        #expect(try await cache.image(for: small)?.source == .disk)
        #expect(bench.manager.cachedImage(for: small) != nil)
        plain.caching.policy = .reload
        #expect(try await bench.manager.image(for: plain).image.size.width == 32)
        #expect(bench.manager.cachedImage(for: small) == nil)
    }

    @Test func twoCachesAreTwoLoads() async throws {
        let (bench, cache) = (makeBench(), makeCache(nil))
        var own = ImageRequest(url)
        own.caching.cache = cache
        let ledger = Ledger()
        for request in [own, ImageRequest(url), own] { bench.manager.load(request) { ledger.take($0) } }
        _ = try await ledger.finished(3).get()
        #expect(ledger.failures.isEmpty && cache.memoryCache.count == 1 && bench.manager.memoryCache.count == 1)
        #expect(own.caching == own.caching && own.caching != ImageRequest.Caching())
    }

    @Test func originalsMayHaveACacheOfTheirOwn() async throws {
        let (bench, originals, pictures) = (makeBench(), makeCache(folders[1]), makeCache(nil))
        let manager = bench.manager
        var request = ImageRequest(url, size: TargetSize(width: 16))
        request.caching.cache = pictures
        request.caching.originalCache = originals
        _ = try await manager.image(for: request)
        await manager.finishStores()
        #expect(pictures.memoryCache.count == 1 && originals.memoryCache.count == 0)
        #expect(originals.usage.disk?.count == 1 && manager.diskCache?.usage.count == 0)
        request.size = TargetSize(width: 8)
        #expect(try await manager.image(for: request).source == .disk)
        // The cache of originals also works with the manager's own memory cache.
        var other = ImageRequest(url, size: TargetSize(width: 4))
        other.caching.originalCache = originals
        #expect(try await manager.image(for: other).source == .disk && manager.memoryCache.count == 1)
        #expect(bench.transport.requests.count == 1)
    }

    @Test func finishedPicturesGoToTheRequestsOwnDisk() async throws {
        let (bench, cache, counting) = (makeBench(), makeCache(folders[1]), CountingTransformer())
        var request = ImageRequest(url, size: TargetSize(width: 16))
        request.transformers = [counting]
        request.caching.cache = cache
        request.caching.store = .all
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(cache.usage.disk?.count == 2 && bench.manager.diskCache?.usage.count == 0)
        cache.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: request).source == .disk && counting.count == 1)
    }

    // MARK: What is written

    @Test func aSerializerDecidesWhatIsKeptOfAnOriginal() async throws {
        let bench = makeBench {
            $0.cacheSerializer = CacheSerializer { image, data, _ throws(WebImageError) in
                data == nil ? nil : try image.encoded(as: .bmp)
            }
        }
        let (manager, request) = (bench.manager, ImageRequest(url))
        _ = try await manager.image(for: request)
        await manager.finishStores()
        let entry = try #require(try await manager.diskCache?.read(request.originalKey))
        #expect(entry.metadata.format == .bmp && entry.body.starts(with: Array("BM".utf8)))
        manager.memoryCache.removeAll()
        #expect(try await manager.image(for: request).source == .disk)
    }

    @Test func aRequestsSerializerMayKeepThePictureOffTheDisk() async throws {
        let bench = makeBench()
        var request = ImageRequest(url)
        request.caching.serializer = CacheSerializer { _, _, _ in nil }
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 0 && bench.manager.memoryCache.count == 1)
        request.caching.serializer = CacheSerializer { _, _, _ throws(WebImageError) in throw .cancelled }
        request.caching.policy = .reload
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 0, "what a serializer cannot make is not stored")
    }

    /// Its picture was once stored as the original, so that all others got that one.
    @Test func thePictureOfARequestsOwnCoderIsNotStoredForAll() async throws {
        let bench = makeBench {
            $0.cacheSerializer = CacheSerializer { image, _, _ throws(WebImageError) in try image.encoded(as: .bmp) }
        }
        var request = ImageRequest(url)
        request.decoding.coder = WhiteCoder()
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(try await bench.manager.diskCache?.read(request.originalKey)?.body == body)
    }

    @Test func theSerializerStoresThePictureOfBytesThatOnlyARequestsOwnCoderReads() async throws {
        let bench = makeBench {
            $0.cacheSerializer = CacheSerializer { image, _, _ throws(WebImageError) in try image.encoded(as: .bmp) }
        }
        bench.answer(url, with: [77, 40], type: "image/x-grey")
        var request = ImageRequest(url)
        request.decoding.coder = GreyCoder()
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(try await bench.manager.diskCache?.read(request.originalKey)?.metadata.format == .bmp)
    }

    /// Serializers hold the picture and its original until they have run.
    @Test func anOriginalIsNotSerializedWhileTooManyPicturesWait() async throws {
        let bench = makeBench { $0.cacheSerializer = CacheSerializer { _, data, _ in data } }
        let manager = bench.manager
        manager.loader.unencoded.admission.charge(128 << 20)
        var request = ImageRequest(url)
        _ = try await manager.image(for: request)
        await manager.finishStores()
        #expect(manager.diskCache?.usage.count == 0 && manager.memoryCache.count == 1)
        manager.memoryCache.removeAll()
        request.caching.waitsForStore = true
        #expect(try await manager.image(for: request).storeError == nil && manager.diskCache?.usage.count == 1)
    }

    /// If only another size is wanted, the original is not decoded in full, so there is no picture to serialize.
    @Test func anOriginalThatIsNotDecodedInFullIsStoredUnserialized() async throws {
        let bench = makeBench { $0.cacheSerializer = CacheSerializer { _, _, _ in nil } }
        let request = ImageRequest(url, size: TargetSize(width: 16))
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(try await bench.manager.diskCache?.read(request.originalKey)?.body == body)
    }

    @Test func theEncodingOfFinishedPicturesCanBeChosen() async throws {
        let bench = makeBench { $0.cacheEncoding = .always(.qoi) }
        var request = ImageRequest(url, size: TargetSize(width: 16))
        request.caching.store = .all
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        #expect(try await bench.manager.diskCache?.read(request.variantKey)?.metadata.format == .qoi)
    }
}
