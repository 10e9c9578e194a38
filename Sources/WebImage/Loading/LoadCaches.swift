import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The caches of loads: the manager's, and those of a request.
struct LoadCaches: Sendable {
    /// The manager's own.
    let own: ImageCache
    /// The memory cache of ``own``. It is stored here, too, so that a hit follows one reference less.
    let memory: MemoryCache
    /// A cache of another type that the manager was given; it is asked before ``own``, for requests without their own
    /// cache. Nil: none.
    let foreign: ForeignCache?
    /// The tiers of originals, for requests without their own cache.
    private let tiers: [any OriginalTier]
    private let decoding: DecodeService
    private let observer: LoadObserver

    init(_ own: ImageCache, foreign: ForeignCache?, _ decoding: DecodeService, _ observer: LoadObserver) {
        (self.own, memory, self.foreign) = (own, own.memoryCache, foreign)
        (self.decoding, self.observer) = (decoding, observer)
        tiers = Self.makeTiers(of: own, own.executor, decoding, observer)
    }

    /// The cache for pictures.
    func cache(_ use: ImageRequest.Caching) -> ImageCache { use.cache ?? own }

    func memory(_ use: ImageRequest.Caching) -> MemoryCache { use.cache?.memoryCache ?? memory }

    /// The cache that replaces the manager's own caches, for requests without their own cache.
    func foreign(_ use: ImageRequest.Caching) -> ForeignCache? { use.cache == nil ? foreign : nil }

    /// The cache that reads and writes finished pictures on disk; nil without a disk.
    func front(_ use: ImageRequest.Caching) -> ImageCache? {
        let cache = cache(use)
        return cache.diskCache == nil ? nil : cache
    }

    /// The tiers in which originals are looked up and stored, in this order.
    func tiers(_ use: ImageRequest.Caching) -> [any OriginalTier] {
        guard let own = use.originalCache ?? use.cache else { return tiers }
        return Self.makeTiers(of: own, self.own.executor, decoding, observer)
    }

    /// The store of the beginnings of interrupted originals; nil without a disk.
    func partials(_ use: ImageRequest.Caching) -> PartialStore? { originalCache(use).partials }

    private static func makeTiers(
        of cache: ImageCache, _ executor: any WorkExecutor, _ decoding: DecodeService, _ observer: LoadObserver
    ) -> [any OriginalTier] {
        let disk = cache.diskCache.map { disk in
            DiskTier(
                disk: disk, executor: executor, inputMemory: decoding.inputMemory, clock: decoding.clock,
                observer: observer)
        }
        return (disk.map { [$0] } ?? []) + cache.furtherTiers
    }

    /// The serializer that decides which bytes of a request's original are stored; nil: the received bytes. It also
    /// works after the manager has been released, while its last loads finish.
    func serializer(for request: ImageRequest) -> CacheSerializer? {
        if let own = request.options.caching.serializer { return own }
        let cache = cache(request.options.caching)
        return cache.diskCache == nil && cache.furtherTiers.isEmpty ? nil : cache.serializer
    }
}

// MARK: - Removals during a load

extension LoadCaches {
    /// The numbers that a load of `original` records when it begins.
    func removals(of original: CacheKey, _ use: ImageRequest.Caching) -> RemovalNumbers {
        let (pictures, originals) = (cache(use), originalCache(use))
        var numbers = originals.pending.withLock { pending in
            let last = pending.removals.last
            return RemovalNumbers(
                pictures: last, originals: last, ofOriginal: pending.removals.lastFromDisk(of: original))
        }
        if pictures !== originals { numbers.pictures = pictures.pending.withLock { $0.removals.last } }
        return numbers
    }

    /// Whether the pictures of a load were removed from memory while it ran.
    func wasRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: cache(keeper.key.caching), .memory, since: keeper.removals.pictures)
    }

    /// Whether their original was removed from disk.
    func wasOriginalRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: originalCache(keeper.key.caching), .disk, since: keeper.removals.originals)
    }

    /// The cache from which the originals of requests are removed.
    private func originalCache(_ use: ImageRequest.Caching) -> ImageCache { use.originalCache ?? cache(use) }

    private func hasRemoved(_ key: BytesKey, from cache: ImageCache, _ layers: CacheLayers, since begin: Int) -> Bool {
        cache.pending.withLock { $0.removals.hasRemoved(key.originalKey, from: layers, since: begin) }
    }
}
