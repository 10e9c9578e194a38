/// Where a load looks, and what it leaves behind: the modes of the contracts' table that this version has.
public enum CachePolicy: String, Hashable, Sendable, CaseIterable {
    /// Any entry within the cache's own lifetime; the network on a miss; the answer is stored (the default).
    case cacheFirst = "default"
    /// No cache is read; the answer is stored.
    case reload
    /// Only the caches; a miss is ``WebImageError/Code-swift.struct/cacheMiss``.
    case cacheOnly = "cache-only"
    /// No cache is read, and nothing is stored.
    case noStore = "no-store"

    package var readsCaches: Bool { self == .cacheFirst || self == .cacheOnly }
    package var usesNetwork: Bool { self != .cacheOnly }
    package var stores: Bool { self == .cacheFirst || self == .reload }
}
