import HTTPTypes
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A manager that was made with a given cache.
@Suite struct ManagersCacheTests {
    private let url = "http://pictures.test/a.png"
    private let folders: [TemporaryFolder]
    private let body: [UInt8]

    init() throws {
        folders = [try TemporaryFolder(), try TemporaryFolder()]
        body = try Fixture.png(64, 48)
    }

    private func makeBench(
        _ cache: any ImageCaching, _ fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=600"],
        change: (inout ImageManager.Configuration) -> Void = { _ in }
    ) -> TestBench {
        let bench = TestBench(disk: folders[0].path) {
            $0.cache = cache
            change(&$0)
        }
        bench.answer(url, with: body, type: "image/png", fields: fields)
        return bench
    }

    private func makeCache() -> ImageCache {
        ImageCache(configuration: .init(disk: DiskCacheConfiguration(directory: folders[1].path)))
    }

    private func get(_ bench: TestBench, _ request: ImageRequest) async throws -> ImageSource {
        let source = try await bench.manager.image(for: request).source
        await bench.manager.finishStores()
        return source
    }

    @Test func twoManagersShareACache() async throws {
        let cache = makeCache()
        let (first, second) = (makeBench(cache), makeBench(cache))
        #expect(try await get(first, ImageRequest(url)) == .network)
        #expect(first.manager.memoryCache === cache.memoryCache && first.manager.cache === cache)
        #expect(second.manager.cachedImage(for: ImageRequest(url)) != nil)
        #expect(try await get(second, ImageRequest(url, size: TargetSize(width: 16))) == .disk)
        #expect(second.transport.requests.isEmpty && cache.usage.disk?.count == 1)
        // Shutting down one manager leaves the shared cache to the other.
        first.manager.shutDown()
        #expect(try await get(second, ImageRequest(url, size: TargetSize(width: 8))) == .disk)
        try await second.manager.cache.clear()
        #expect(cache.memoryCache.count == 0 && cache.usage.disk?.count == 0)
    }

    @Test func severalCachesAreOneForAManager() async throws {
        let (bundled, own) = (ImageCache(), makeCache())
        let known = "http://pictures.test/known.png"
        try await bundled.store(Fixture.gradient(20, 10), for: ImageRequest(known), in: .memory)
        let bench = makeBench(ImageCaches([bundled, own]))
        #expect(bench.manager.cachedImage(for: ImageRequest(known))?.size.width == 20)
        #expect(try await get(bench, ImageRequest(known)) == .memory)
        #expect(try await get(bench, ImageRequest(url)) == .network)
        // By the default policy of ``ImageCaches``, pictures are stored in the highest cache only.
        #expect(own.memoryCache.count == 1 && own.usage.disk?.count == 1 && bundled.memoryCache.count == 1)
        #expect(bench.manager.memoryCache.count == 0 && bench.manager.diskCache == nil)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) != nil)
        own.memoryCache.removeAll()
        #expect(try await get(bench, ImageRequest(url)) == .disk)
        #expect(try await get(bench, ImageRequest(url, size: TargetSize(width: 8))) == .disk)
        try await bench.manager.cache.remove(ImageRequest(url))
        #expect(try await get(bench, ImageRequest(url)) == .network)
        #expect(bench.transport.requests.count == 2)
    }

    @Test func aCustomCacheIsAskedAndFilled() async throws {
        let cache = DictionaryCache()
        let bench = makeBench(cache)
        let small = ImageRequest(url) { $0.size = TargetSize(width: 16) }
        #expect(try await get(bench, small) == .network)
        #expect(cache.pictures[small.variantKey]?.size.width == 16 && cache.originals[small.originalKey] == body)
        #expect(bench.manager.cachedImage(for: small) != nil && bench.manager.memoryCache.count == 0)
        // Another size is made from the original in the cache.
        #expect(try await get(bench, ImageRequest(url)) == .tier)
        #expect(try await get(bench, small) == .memory)
        var withData = small
        withData.includesData = true
        #expect(try await bench.manager.image(for: withData).data == body)
        #expect(try await bench.manager.data(for: ImageRequest(url)) == body)
        #expect(bench.transport.requests.count == 1)
        // This cache has no metadata, so the freshness of its entries is unknown.
        #expect(try await get(bench, ImageRequest(url) { $0.caching.policy = .protocol }) == .network)
        #expect(bench.transport.requests.count == 2)
    }

    @Test func cacheOnlyReadsOnlyTheCustomCache() async throws {
        let cache = DictionaryCache()
        let bench = makeBench(cache)
        let only = ImageRequest(url) { $0.caching.policy = .cacheOnly }
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: only) }
        #expect(try await get(bench, ImageRequest(url)) == .network)
        #expect(try await get(bench, only) == .memory)
        cache.forgetPictures()
        #expect(try await get(bench, only) == .tier)
        #expect(try await get(bench, ImageRequest(url) { $0.caching.policy = .noStore }) == .network)
    }

    @Test func aCustomCacheGetsOnlyPicturesForEveryone() async throws {
        let cache = DictionaryCache()
        let varying = makeBench(cache, [.vary: "Accept-Language", .cacheControl: "max-age=600"])
        #expect(try await get(varying, ImageRequest(url)) == .network)
        #expect(cache.pictures.isEmpty && cache.originals.isEmpty)
        let kept = makeBench(cache)
        let annas = ImageRequest(url) { $0.http.credentialScope = "anna" }
        #expect(try await get(kept, annas) == .network)
        #expect(cache.pictures.isEmpty && cache.originals.isEmpty)
        #expect(try await get(kept, ImageRequest(url)) == .network)
        #expect(cache.pictures.count == 1 && cache.originals.count == 1)
        #expect(try await get(kept, annas) == .network)
    }

    @Test func aCacheThatFailsCostsNoPicture() async throws {
        let cache = DictionaryCache()
        cache.fails(with: WebImageError(.cacheIO, "full"))
        let bench = makeBench(cache)
        #expect(try await get(bench, ImageRequest(url)) == .network)
        #expect(try await get(bench, ImageRequest(url)) == .network)
        cache.fails(with: nil)
        #expect(try await get(bench, ImageRequest(url)) == .network)
        #expect(try await get(bench, ImageRequest(url)) == .memory)
    }

    /// A custom cache whose store never returned once held up every wait for stores, and the drain, for ever.
    @Test func aCacheThatNeverFinishesAStoreHoldsUpNobody() async throws {
        let (cache, clock) = (DictionaryCache(), ManualClock())
        let gate = cache.holdStores()
        let bench = TestBench(clock: clock) { $0.cache = cache }
        bench.answer(url, with: body, type: "image/png")
        let ledger = Ledger()
        let ended = Guarded(false)
        bench.manager.load(ImageRequest(url) { $0.caching.waitsForStore = true }) { ledger.take($0) }
        #expect(await eventually { cache.heldStores == 1 })
        #expect(await eventually { bench.manager.runningLoads == 0 })
        let manager = bench.manager
        let drain = Task {
            await manager.drain(within: .zero)
            ended.withLock { $0 = true }
        }
        #expect(ledger.finishedCount == 0 && !ended.withLock { $0 })
        clock.advance(by: .seconds(30))
        #expect(try await ledger.finished().get().image.size.width == 64)
        await drain.value
        gate.open()
        #expect(await eventually { manager.loader.unencoded.admission.used == 0 })
    }

    @Test func aRequestsOwnCacheGoesBeforeTheManagers() async throws {
        let (cache, own) = (DictionaryCache(), makeCache())
        let bench = makeBench(cache)
        let request = ImageRequest(url) { $0.caching.cache = own }
        #expect(try await get(bench, request) == .network)
        #expect(cache.pictures.isEmpty && cache.originals.isEmpty && own.memoryCache.count == 1)
        #expect(
            bench.manager.cachedImage(for: request) != nil && bench.manager.cachedImage(for: ImageRequest(url)) == nil)
    }
}

/// A cache in a few lines: two dictionaries.
private final class DictionaryCache: ImageCaching {
    private struct State {
        var pictures: [CacheKey: Image] = [:]
        var originals: [CacheKey: [UInt8]] = [:]
        var failure: WebImageError?
        var gate: Gate?
        var heldStores = 0
    }

    private let state = Guarded(State())

    var heldStores: Int { state.withLock { $0.heldStores } }

    /// Makes stores of pictures wait for the gate, even if they are cancelled.
    func holdStores() -> Gate {
        let gate = Gate()
        state.withLock { $0.gate = gate }
        return gate
    }

    var pictures: [CacheKey: Image] { state.withLock { $0.pictures } }
    var originals: [CacheKey: [UInt8]] { state.withLock { $0.originals } }

    func fails(with error: WebImageError?) { state.withLock { $0.failure = error } }
    func forgetPictures() { state.withLock { $0.pictures = [:] } }

    private func check() throws(WebImageError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func cachedImage(for request: ImageRequest) -> Image? { state.withLock { $0.pictures[request.variantKey] } }

    func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage? {
        try check()
        guard layers.contains(.memory), let image = cachedImage(for: request) else { return nil }
        return CachedImage(
            image: image, source: .memory,
            data: request.includesData ? state.withLock { $0.originals[request.originalKey] } : nil)
    }

    func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]? {
        try check()
        return state.withLock { $0.originals[request.originalKey] }
    }

    func contains(_ request: ImageRequest, in layers: CacheLayers) async throws(WebImageError) -> CacheLayers {
        state.withLock { state in
            var found: CacheLayers = []
            if state.pictures[request.variantKey] != nil { found.insert(.memory) }
            if state.originals[request.originalKey] != nil { found.insert(.disk) }
            return found.intersection(layers)
        }
    }

    func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        try check()
        if let gate = state.withLock({ $0.gate }) {
            state.withLock { $0.heldStores += 1 }
            await Task.detached { await gate.opened() }.value
        }
        if layers.contains(.memory) { state.withLock { $0.pictures[request.variantKey] = image } }
        return true
    }

    func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        try check()
        state.withLock { $0.originals[request.originalKey] = data }
        return true
    }

    func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError) {
        try check()
        state.withLock { state in
            if layers.contains(.memory) { state.pictures[request.variantKey] = nil }
            if layers.contains(.disk) { state.originals[request.originalKey] = nil }
        }
    }

    func clear(_ layers: CacheLayers) async throws(WebImageError) {
        state.withLock { state in
            if layers.contains(.memory) { state.pictures = [:] }
            if layers.contains(.disk) { state.originals = [:] }
        }
    }

    func removeExpired() async throws(WebImageError) {}
}
