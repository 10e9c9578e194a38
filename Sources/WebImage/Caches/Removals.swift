import WebImageCore

/// What was removed lately, so that a load that was on its way when it was leaves nothing behind.
struct Removals {
    private struct Removal {
        /// Nil: everything.
        var original: CacheKey?
        var layers: CacheLayers
    }

    /// A load that has seen more of them go by is taken to be one of them.
    private static let mostKept = 64

    /// How many there were so far; what a load remembers of its beginning.
    private(set) var count = 0
    private var latest: [Removal] = []

    mutating func note(_ original: CacheKey?, from layers: CacheLayers) {
        count += 1
        if latest.count == Self.mostKept { latest.removeFirst() }
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

/// What a load remembers of its beginning: how many removals there had been in its caches.
struct RemovalCounts: Hashable {
    /// Where its pictures are kept.
    var pictures = 0
    /// Where their originals are kept.
    var originals = 0
}
