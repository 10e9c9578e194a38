/// Which parts of the index must be written, when, and which have been.
struct IndexJournal {
    var changes = IndexChanges()
    /// How often the index, and with it the record of what is written, has been reset.
    var generation = 0
    /// The delay of the scheduled writing; nil if there is none.
    var flushDelay: Duration?
    /// How long the last writing took.
    var flushCost: Duration = .zero
    var flushesPutOff = 0
    /// The written hits and misses of all caches of this directory.
    var earlierCounts = DiskCounts()
    /// The written hits and misses of this cache.
    private(set) var writtenCounts = DiskCounts()

    mutating func didWrite(_ counts: DiskCounts) {
        writtenCounts.hits += counts.hits
        writtenCounts.misses += counts.misses
        earlierCounts.hits += counts.hits
        earlierCounts.misses += counts.misses
    }

    /// Returns the directories with unwritten changes.
    mutating func takeChanges() -> IndexChanges.Taken {
        flushDelay = nil
        return changes.take()
    }
}
