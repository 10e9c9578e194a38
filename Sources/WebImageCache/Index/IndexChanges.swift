/// The changes of the index since it was last written.
struct IndexChanges {
    /// The numbers of directories, in order.
    struct Taken {
        /// Directories whose entries have changed.
        var changed: [Int] = []
        /// Directories whose entries were used.
        var used: [Int] = []

        var isEmpty: Bool { changed.isEmpty && used.isEmpty }
    }

    private var changed = ShardSet()
    private var used = ShardSet()
    /// The number of changes since the last ``take()``; uses do not count, because they can wait longer.
    private(set) var count = 0

    var isEmpty: Bool { changed.isEmpty && used.isEmpty }

    mutating func note(_ id: EntryID) {
        changed.insert(id.shard)
        count += 1
    }

    mutating func noteUse(_ id: EntryID) { used.insert(id.shard) }

    mutating func note(shards: some Collection<Int>) {
        guard !shards.isEmpty else { return }
        for shard in shards { changed.insert(shard) }
        count += 1
    }

    /// Returns changes that could not be written; they are not urgent.
    mutating func putBack(_ taken: Taken) {
        for shard in taken.changed { changed.insert(shard) }
        for shard in taken.used { used.insert(shard) }
    }

    mutating func take() -> Taken {
        defer { self = IndexChanges() }
        return Taken(changed: changed.shards, used: used.shards)
    }
}

/// A bit for each of the 256 directories.
private struct ShardSet {
    private var bits: SIMD4<UInt64> = .zero

    var isEmpty: Bool { bits[0] | bits[1] | bits[2] | bits[3] == 0 }
    var shards: [Int] { (0..<256).filter { bits[$0 >> 6] >> ($0 & 63) & 1 == 1 } }

    mutating func insert(_ shard: Int) { bits[shard >> 6] |= 1 << (shard & 63) }
}
