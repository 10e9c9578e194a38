import Synchronization
public import WebImageCore
import WebImageSystem

/// Joins several caches, such as a shared cache and one with pictures that came with the program. The cache that was
/// added last is the highest: it is asked first.
///
/// When one cache fails, the others are still asked. Its error is thrown only when no other cache has an answer.
/// Without caches no call fails: nothing is found and nothing is stored.
///
/// The equivalent of SDWebImage's `SDImageCachesManager`.
public final class ImageCaches: ImageCaching {
    /// Which caches a call goes to, and in which order.
    public enum Policy: Int, Hashable, Sendable, CaseIterable {
        /// One cache after the other, from the highest down. A look-up ends at the first cache that has an answer.
        case serial = 0
        /// All caches at once. The first answer to a look-up is used, and the other look-ups are cancelled.
        case concurrent = 1
        /// Only the cache that was added last.
        case highestOnly = 2
        /// Only the cache that was added first.
        case lowestOnly = 3
    }

    /// A policy for each kind of call, with SDWebImage's defaults.
    public struct Policies: Hashable, Sendable {
        /// For pictures and bytes. The synchronous look-up in memory treats `concurrent` as `serial`.
        public var query = Policy.serial
        public var store = Policy.highestOnly
        public var remove = Policy.concurrent
        public var contains = Policy.serial
        /// For clearing, and for removing expired entries.
        public var clear = Policy.concurrent

        public init() {}
    }

    private struct State {
        /// The lowest first.
        var caches: [any ImageCaching]
        var policies: Policies
    }

    private let state: Guarded<State>

    /// - Parameters:
    ///   - caches: the lowest first.
    ///   - policies: which caches each kind of call goes to.
    public init(_ caches: [any ImageCaching] = [], policies: Policies = Policies()) {
        state = Guarded(State(caches: caches, policies: policies))
    }

    /// The caches, the lowest first. Changing them does not affect running calls.
    public var caches: [any ImageCaching] {
        get { state.withLock { $0.caches } }
        set { state.withLock { $0.caches = newValue } }
    }

    public var policies: Policies {
        get { state.withLock { $0.policies } }
        set { state.withLock { $0.policies = newValue } }
    }

    /// Adds a cache as the highest.
    public func add(_ cache: any ImageCaching) { state.withLock { $0.caches.append(cache) } }

    public func remove(cache: any ImageCaching) { state.withLock { $0.caches.removeAll { $0 === cache } } }

    // MARK: - Asking

    public func cachedImage(for request: ImageRequest) -> Image? {
        for cache in chosen(\.query).caches {
            if let image = cache.cachedImage(for: request) { return image }
        }
        return nil
    }

    public func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage? {
        try await chosen(\.query).first { (cache) throws(WebImageError) in
            try await cache.image(for: request, in: layers, promotes: promotes)
        }
    }

    public func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]? {
        try await chosen(\.query).first { (cache) throws(WebImageError) in try await cache.data(for: request) }
    }

    public func contains(
        _ request: ImageRequest, in layers: CacheLayers
    ) async throws(WebImageError) -> CacheLayers {
        let found = try await chosen(\.contains).first { (cache) throws(WebImageError) -> CacheLayers? in
            let found = try await cache.contains(request, in: layers)
            return found.isEmpty ? nil : found
        }
        return found ?? []
    }

    // MARK: - Changing

    /// - Returns: whether every cache that was asked has stored the picture.
    @discardableResult
    public func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        let stored = try await chosen(\.store).each { (cache) throws(WebImageError) in
            try await cache.store(image, data: data, for: request, in: layers, options)
        }
        return !stored.isEmpty && stored.allSatisfy(\.self)
    }

    @discardableResult
    public func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        let stored = try await chosen(\.store).each { (cache) throws(WebImageError) in
            try await cache.storeOriginal(data, for: request, options)
        }
        return !stored.isEmpty && stored.allSatisfy(\.self)
    }

    public func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError) {
        _ = try await chosen(\.remove).each { (cache) throws(WebImageError) in
            try await cache.remove(request, from: layers)
        }
    }

    public func clear(_ layers: CacheLayers) async throws(WebImageError) {
        _ = try await chosen(\.clear).each { (cache) throws(WebImageError) in try await cache.clear(layers) }
    }

    public func removeExpired() async throws(WebImageError) {
        _ = try await chosen(\.clear).each { (cache) throws(WebImageError) in try await cache.removeExpired() }
    }

    private func chosen(_ kind: KeyPath<Policies, Policy>) -> CacheChoice {
        let (caches, policy) = state.withLock { ($0.caches, $0.policies[keyPath: kind]) }
        return switch policy {
        case .serial: CacheChoice(caches: caches.reversed(), isConcurrent: false)
        case .concurrent: CacheChoice(caches: caches.reversed(), isConcurrent: true)
        case .highestOnly: CacheChoice(caches: Array(caches.suffix(1)), isConcurrent: false)
        case .lowestOnly: CacheChoice(caches: Array(caches.prefix(1)), isConcurrent: false)
        }
    }
}
