/// Which caches a load reads and writes: the cache policies in terms of the HTTP rules.
package enum CacheMode: String, Hashable, Sendable, CaseIterable {
    /// Any entry; the network on a miss.
    case cacheFirst
    /// An entry if HTTP allows it (RFC 9111 and RFC 5861).
    case httpRules
    /// An entry only after the origin has confirmed it.
    case revalidate
    /// Any entry at once; then asks the origin whether there is a newer answer.
    case refresh
    /// Ignores the entry; the answer is stored.
    case reload
    /// Like ``reload``, but also tells caches on the way to the origin to do the same.
    case reloadFromOrigin
    /// Only an entry, whatever its age.
    case cacheOnly
    /// Ignores the entry, and stores nothing.
    case noStore

    package var readsCache: Bool {
        switch self {
        case .cacheFirst, .httpRules, .revalidate, .refresh, .cacheOnly: true
        case .reload, .reloadFromOrigin, .noStore: false
        }
    }

    package var stores: Bool { self != .noStore && self != .cacheOnly }
}
