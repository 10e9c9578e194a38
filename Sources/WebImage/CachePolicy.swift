import WebImageDownload

/// When a load reads caches, when it asks the origin, and whether it stores the answer.
///
/// Three rules hold with every policy (RFC 9111). An answer with `no-store` is not kept. An answer that `Vary` ties to
/// another request is not served. An answer that was given to one user is served to no other user, unless it is
/// `public`.
public enum CachePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Serves any entry within the cache's own lifetime. A miss goes to the network, and the answer is stored. The
    /// default.
    case cacheFirst = "default"
    /// Follows HTTP's rules (RFC 9111): serves an entry while it is fresh, and asks the origin about a stale one. An
    /// entry with `stale-while-revalidate` is served at once and renewed in the background (RFC 5861); see
    /// ``ImageEvent/cached(_:)``.
    case `protocol`
    /// Serves an entry only after the origin has confirmed it, or, with `stale-if-error`, when the origin fails.
    case revalidate
    /// Serves any entry at once, as ``ImageEvent/cached(_:)``, and then asks the origin for a newer picture, which ends
    /// the events. ``ImageManager/image(for:)`` returns the entry, and the origin is asked in the background.
    case refresh
    /// No cache is read; the answer is stored.
    case reload
    /// Like ``reload``, but also tells caches between the program and the origin not to answer (`Cache-Control:
    /// no-cache`).
    case reloadFromOrigin = "reload-from-origin"
    /// Asks only the caches. A miss is ``/WebImageCore/WebImageError/Code-swift.struct/cacheMiss``.
    case cacheOnly = "cache-only"
    /// No cache is read, and nothing is stored.
    case noStore = "no-store"

    /// The mode for the rules of HTTP.
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

    /// Whether a load may deliver a cached picture before the origin's answer.
    var mayAnswerTwice: Bool { self == .refresh || self == .protocol }

    /// Whether a picture in memory is the answer, regardless of HTTP's rules.
    var trustsMemory: Bool { self == .cacheFirst || self == .cacheOnly }
}
