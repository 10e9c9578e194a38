import WebImageCore

/// The recent removals, so that a load that was running during a removal does not store its picture again.
struct Removals {
    private struct Removal {
        /// The original that was removed; nil: everything was.
        var original: CacheKey?
        var layers: CacheLayers
    }

    /// The most removals that are remembered. A load that began before all of them counts as removed.
    private static let maxKept = 64

    /// The number of removals so far, which a load records when it begins.
    private(set) var count = 0
    private var latest: [Removal] = []

    mutating func note(_ original: CacheKey?, from layers: CacheLayers) {
        count += 1
        if latest.count == Self.maxKept { latest.removeFirst() }
        latest.append(Removal(original: original, layers: layers))
    }

    /// Whether a picture made of `original` was removed from one of `layers` since there were `begin` removals.
    func hasRemoved(_ original: CacheKey, from layers: CacheLayers, since begin: Int) -> Bool {
        let new = count - begin
        if new > latest.count { return true }
        return latest.suffix(new).contains { removal in
            !removal.layers.isDisjoint(with: layers) && (removal.original ?? original) == original
        }
    }
}

/// The numbers of removals in a load's caches, at the time when the load began.
struct RemovalCounts: Hashable {
    /// In the cache of its pictures.
    var pictures = 0
    /// In the cache of their originals.
    var originals = 0
}
