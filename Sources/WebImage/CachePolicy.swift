import WebImageDownload

/// Where a load looks, and what it leaves behind.
///
/// Three things bind whatever the policy: an answer with `no-store` is not kept, one that `Vary` ties to another request
/// is not served, and one that was given to somebody is served to nobody else, unless it is `public` (RFC 9111).
public enum CachePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Any entry within the cache's own lifetime; the network on a miss; the answer is stored (the default).
    case cacheFirst = "default"
    /// What HTTP says (RFC 9111): an entry while it is fresh, else the origin is asked whether it still is. An entry with
    /// `stale-while-revalidate` is served at once and renewed behind (RFC 5861): ``ImageEvent/cached(_:)``.
    case `protocol`
    /// An entry only after the origin was asked whether it is still good.
    case revalidate
    /// Any entry at once, as ``ImageEvent/cached(_:)``; then the origin is asked whether there is something newer, which is
    /// the end of the events. ``ImageManager/image(for:)`` returns the entry, and the question goes on behind it.
    case refresh
    /// No cache is read; the answer is stored.
    case reload
    /// As ``reload``, and caches between here and the origin are told not to answer (`Cache-Control: no-cache`).
    case reloadFromOrigin = "reload-from-origin"
    /// Only the caches; a miss is ``/WebImageCore/WebImageError/Code-swift.struct/cacheMiss``.
    case cacheOnly = "cache-only"
    /// No cache is read, and nothing is stored.
    case noStore = "no-store"

    /// The same for the rules of HTTP.
    var mode: CacheMode {
        switch self {
        case .cacheFirst: .cacheFirst
        case .protocol: .httpRules
        case .revalidate: .revalidate
        case .refresh: .refresh
        case .reload: .reload
        case .reloadFromOrigin: .reloadFromOrigin
        case .cacheOnly: .cacheOnly
        case .noStore: .noStore
        }
    }

    /// Whether a load may show what the caches have before what the origin says.
    var mayAnswerTwice: Bool { self == .refresh || self == .protocol }

    /// Whether a picture in memory is the answer, whatever HTTP says of it.
    var trustsMemory: Bool { self == .cacheFirst || self == .cacheOnly }
}
