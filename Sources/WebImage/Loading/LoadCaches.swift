import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Where loads look and keep: the manager's caches, and those that a request has of its own.
struct LoadCaches: Sendable {
    /// The manager's own.
    let own: ImageCache
    /// That of ``own``, beside it so that a hit asks one object less.
    let memory: MemoryCache
    /// Asked before ``own``, for requests without a cache of their own; nil: none was given to the manager.
    let foreign: ForeignCache?
    /// Where originals are, unless a request has a cache of its own.
    private let tiers: [any OriginalTier]
    private let decoding: DecodeService
    private let observer: LoadObserver

    init(_ own: ImageCache, foreign: ForeignCache?, _ decoding: DecodeService, _ observer: LoadObserver) {
        (self.own, memory, self.foreign) = (own, own.memoryCache, foreign)
        (self.decoding, self.observer) = (decoding, observer)
        tiers = Self.makeTiers(of: own, own.executor, decoding, observer)
    }

    /// Where pictures are kept.
    func cache(_ use: ImageRequest.Caching) -> ImageCache { use.cache ?? own }

    func memory(_ use: ImageRequest.Caching) -> MemoryCache { use.cache?.memoryCache ?? memory }

    /// What was given to the manager in place of its own caches, for requests without a cache of their own.
    func foreign(_ use: ImageRequest.Caching) -> ForeignCache? { use.cache == nil ? foreign : nil }

    /// Through which finished pictures are read from disk and written; nil where there is no disk.
    func front(_ use: ImageRequest.Caching) -> ImageCache? {
        let cache = cache(use)
        return cache.diskCache == nil ? nil : cache
    }

    /// Where originals are looked for and kept, in this order.
    func tiers(_ use: ImageRequest.Caching) -> [any OriginalTier] {
        guard let own = use.originalCache ?? use.cache else { return tiers }
        return Self.makeTiers(of: own, self.own.executor, decoding, observer)
    }

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

    /// What decides which bytes of a request's original are kept; nil: those that came. It holds also when the manager is gone
    /// and its last loads come to their end.
    func serializer(for request: ImageRequest) -> CacheSerializer? {
        if let own = request.options.caching.serializer { return own }
        let cache = cache(request.options.caching)
        return cache.diskCache == nil && cache.furtherTiers.isEmpty ? nil : cache.serializer
    }
}

// MARK: - What was removed meanwhile

extension LoadCaches {
    func removals(_ use: ImageRequest.Caching) -> RemovalCounts {
        func count(_ cache: ImageCache) -> Int { cache.pending.withLock { $0.removals.count } }
        return RemovalCounts(pictures: count(cache(use)), originals: count(originalCache(use)))
    }

    /// Whether the pictures of a load were removed from memory while it ran.
    func wasRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: cache(keeper.key.caching), .memory, since: keeper.removals.pictures)
    }

    /// Whether their original was removed from disk.
    func wasOriginalRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: originalCache(keeper.key.caching), .disk, since: keeper.removals.originals)
    }

    /// Where their originals are removed from.
    private func originalCache(_ use: ImageRequest.Caching) -> ImageCache { use.originalCache ?? cache(use) }

    private func hasRemoved(_ key: BytesKey, from cache: ImageCache, _ layers: CacheLayers, since begin: Int) -> Bool {
        cache.pending.withLock { $0.removals.hasRemoved(key.originalKey, from: layers, since: begin) }
    }
}
