import Synchronization
import Testing
import WebImage
import WebImageCore
import WebImageTesting

@Suite struct ImageCachesTests {
    private let request = ImageRequest("http://pictures.test/a.png")

    @Test func anEmptyListOfCachesFindsAndStoresNothing() async throws {
        let caches = ImageCaches()
        for policy in ImageCaches.Policy.allCases {
            caches.policies = .all(policy)
            #expect(caches.cachedImage(for: request) == nil)
            #expect(try await caches.image(for: request) == nil)
            #expect(try await caches.data(for: request) == nil)
            #expect(try await caches.contains(request) == [])
            #expect(try await !caches.store(Fixture.gradient(4, 4), for: request))
            #expect(try await !caches.storeOriginal([1], for: request))
            try await caches.remove(request)
            try await caches.clear()
            try await caches.removeExpired()
        }
    }

    @Test func theCacheAddedLastIsAskedFirst() async throws {
        let (lower, higher) = (ScriptedCache(width: 4), ScriptedCache(width: 8))
        let caches = ImageCaches([lower])
        caches.add(higher)
        #expect(try await caches.image(for: request)?.image.size.width == 8)
        #expect(caches.cachedImage(for: request)?.size.width == 8)
        #expect(lower.calls.isEmpty)
        caches.remove(cache: higher)
        #expect(try await caches.image(for: request)?.image.size.width == 4)
    }

    @Test func theNextCacheIsAskedOnlyAfterAMiss() async throws {
        let (lower, higher) = (ScriptedCache(width: 4), ScriptedCache())
        let caches = ImageCaches([lower, higher])
        #expect(try await caches.image(for: request)?.image.size.width == 4)
        #expect(try await caches.contains(request) == .memory)
        #expect(try await caches.data(for: request) == [4])
        #expect(higher.calls == ["image", "contains", "data"] && lower.calls == higher.calls)
    }

    /// query and contains serially, store in the highest, remove and clear everywhere.
    @Test func theDefaultsAreSDWebImages() async throws {
        let (lower, higher) = (ScriptedCache(width: 4), ScriptedCache(width: 8))
        let caches = ImageCaches([lower, higher])
        _ = try await caches.image(for: request)
        _ = try await caches.contains(request)
        #expect(try await caches.store(Fixture.gradient(4, 4), for: request))
        #expect(lower.calls.isEmpty && higher.calls == ["image", "contains", "store"])
        try await caches.remove(request)
        try await caches.clear()
        #expect(lower.calls == ["remove", "clear"] && higher.calls.suffix(2) == ["remove", "clear"])
    }

    @Test func eachKindOfCallHasItsOwnPolicy() async throws {
        let (lower, higher) = (ScriptedCache(width: 4), ScriptedCache(width: 8))
        let caches = ImageCaches([lower, higher])
        // In SDWebImage, the policy of `clear` also decides about `contains`.
        caches.policies.contains = .lowestOnly
        caches.policies.clear = .highestOnly
        caches.policies.query = .highestOnly
        caches.policies.remove = .lowestOnly
        caches.policies.store = .serial
        _ = try await caches.contains(request)
        try await caches.clear()
        _ = try await caches.image(for: request)
        try await caches.remove(request)
        #expect(try await caches.store(Fixture.gradient(4, 4), for: request))
        #expect(lower.calls == ["contains", "remove", "store"] && higher.calls == ["clear", "image", "store"])
    }

    @Test func theFirstHitOfConcurrentLookupsCounts() async throws {
        let (slow, missing, quick) = (ScriptedCache(width: 4), ScriptedCache(), ScriptedCache(width: 8))
        slow.waitsForEver = true
        let caches = ImageCaches([quick, missing, slow], policies: .all(.concurrent))
        #expect(try await caches.image(for: request)?.image.size.width == 8)
        #expect(slow.wasCancelled && missing.calls == ["image"])
    }

    @Test(arguments: [ImageCaches.Policy.serial, .concurrent])
    func aCacheThatFailsDoesNotHideWhatAnotherHas(policy: ImageCaches.Policy) async throws {
        let (lower, broken) = (ScriptedCache(width: 4), ScriptedCache())
        broken.failure = WebImageError(.cacheIO, "broken")
        let caches = ImageCaches([lower, broken], policies: .all(policy))
        #expect(try await caches.image(for: request)?.image.size.width == 4)
        lower.width = nil
        let error = await #expect(throws: WebImageError.self) { try await caches.image(for: request) }
        #expect(error?.code == .cacheIO)
        let failed = await #expect(throws: WebImageError.self) { try await caches.remove(request) }
        #expect(failed?.code == .cacheIO && lower.calls.last == "remove", "the others are done all the same")
    }

    @Test func cachesOfCachesAreCaches() async throws {
        let inner = ScriptedCache(width: 4)
        let caches = ImageCaches([ImageCaches([inner])])
        #expect(try await caches.image(for: "a text")?.image.size.width == 4)
        let folder = try TemporaryFolder()
        let real = CacheBench(folder.path).cache
        caches.add(real)
        try await caches.store(Fixture.gradient(8, 8), for: request)
        #expect(try await real.contains(request) == .all && inner.calls == ["image"])
        #expect(try await caches.image(for: request)?.image.size.width == 8)
    }
}

extension ImageCaches.Policies {
    fileprivate static func all(_ policy: ImageCaches.Policy) -> Self {
        var policies = Self()
        (policies.query, policies.store, policies.remove) = (policy, policy, policy)
        (policies.contains, policies.clear) = (policy, policy)
        return policies
    }
}

/// A cache that has a picture of a given width or none, and records the calls to it.
private final class ScriptedCache: ImageCaching {
    private struct State {
        var width: Int?
        var failure: WebImageError?
        var waitsForEver = false
        var wasCancelled = false
        var calls: [String] = []
    }

    private let state: Mutex<State>

    init(width: Int? = nil) { state = Mutex(State(width: width)) }

    var calls: [String] { state.withLock { $0.calls } }
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }
    var width: Int? {
        get { state.withLock { $0.width } }
        set { state.withLock { $0.width = newValue } }
    }
    var failure: WebImageError? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }
    var waitsForEver: Bool {
        get { state.withLock { $0.waitsForEver } }
        set { state.withLock { $0.waitsForEver = newValue } }
    }

    private func note(_ call: String) throws(WebImageError) -> Int? {
        let (width, failure) = state.withLock { state in
            state.calls.append(call)
            return (state.width, state.failure)
        }
        if let failure { throw failure }
        return width
    }

    func cachedImage(for request: ImageRequest) -> Image? { width.map { Fixture.gradient($0, 4) } }

    func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage? {
        let width = try note("image")
        if waitsForEver {
            await Gate().opened()
            state.withLock { $0.wasCancelled = true }
            throw .cancelled
        }
        return width.map { CachedImage(image: Fixture.gradient($0, 4), source: .memory) }
    }

    func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]? {
        try note("data").map { [UInt8($0)] }
    }

    func contains(_ request: ImageRequest, in layers: CacheLayers) async throws(WebImageError) -> CacheLayers {
        try note("contains") == nil ? [] : .memory
    }

    func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        _ = try note("store")
        return true
    }

    func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        _ = try note("storeOriginal")
        return true
    }

    func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError) {
        _ = try note("remove")
    }
    func clear(_ layers: CacheLayers) async throws(WebImageError) { _ = try note("clear") }
    func removeExpired() async throws(WebImageError) { _ = try note("removeExpired") }
}
