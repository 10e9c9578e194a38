/// Where a load looks and what it leaves behind: the cache policies, as the HTTP rules see them.
package enum CacheMode: String, Hashable, Sendable, CaseIterable {
    /// Any entry; the network on a miss.
    case cacheFirst
    /// What HTTP says (RFC 9111 and RFC 5861).
    case httpRules
    /// An entry only after the origin was asked whether it is still good.
    case revalidate
    /// Any entry at once; then the origin is asked whether there is something newer.
    case refresh
    /// No entry; the answer is stored.
    case reload
    /// Like ``reload``, but also tells caches on the way to do the same.
    case reloadFromOrigin
    /// Only an entry, whatever its age.
    case cacheOnly
    /// No entry, and nothing is stored.
    case noStore

    package var readsCache: Bool {
        switch self {
        case .cacheFirst, .httpRules, .revalidate, .refresh, .cacheOnly: true
        case .reload, .reloadFromOrigin, .noStore: false
        }
    }

    package var stores: Bool { self != .noStore && self != .cacheOnly }
}
