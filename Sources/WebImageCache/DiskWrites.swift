/// Writes that have begun and not ended, so that what happens to a key meanwhile decides over them: a remove beats a
/// write that began before it, and so does a write that began later and has ended already.
struct DiskWrites {
    private struct Open {
        var count = 0
        /// Writes with a lower number are not wanted any more.
        var leastWanted: UInt64 = 0
    }

    private var open: [EntryID: Open] = [:]
    private var nextNumber: UInt64 = 1
    private var leastWanted: UInt64 = 0
    private(set) var openCount = 0

    mutating func begin(_ id: EntryID) -> UInt64 {
        open[id, default: Open()].count += 1
        openCount += 1
        nextNumber += 1
        return nextNumber - 1
    }

    /// As ``begin(_:)`` for a write that has nothing to write yet, and so counts for no limit.
    mutating func reserve(_ id: EntryID) -> UInt64 {
        let number = begin(id)
        openCount -= 1
        return number
    }

    mutating func giveUpReserved(_ id: EntryID) {
        openCount += 1
        end(id)
    }

    func wants(_ number: UInt64, _ id: EntryID) -> Bool {
        number >= leastWanted && number >= open[id]?.leastWanted ?? 0
    }

    /// A write has given its file the entry's name.
    mutating func didPublish(_ number: UInt64, _ id: EntryID) {
        guard var others = open[id] else { return }
        others.leastWanted = max(others.leastWanted, number)
        open[id] = others
    }

    mutating func end(_ id: EntryID) {
        openCount -= 1
        guard var left = open[id] else { return }
        left.count -= 1
        open[id] = left.count > 0 ? left : nil
    }

    mutating func cancelAll(of id: EntryID) { open[id]?.leastWanted = nextNumber }

    mutating func cancelAll() { leastWanted = nextNumber }
}

/// What the index has learnt since it was last written down.
struct DiskChanges {
    /// The numbers of directories, in order.
    struct Taken {
        /// Those that hold something else than before.
        var changed: [Int] = []
        /// Those whose entries were used.
        var used: [Int] = []

        var isEmpty: Bool { changed.isEmpty && used.isEmpty }
    }

    private var changed = ShardSet()
    private var used = ShardSet()
    /// Changes since the last ``take()``; uses, which can wait longer, are none.
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

    /// What could not be written down; there is no hurry.
    mutating func putBack(_ taken: Taken) {
        for shard in taken.changed { changed.insert(shard) }
        for shard in taken.used { used.insert(shard) }
    }

    mutating func take() -> Taken {
        defer { self = DiskChanges() }
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
