/// What of the index is to be written down, when, and what is.
struct IndexJournal {
    var changes = IndexChanges()
    /// How often the index has been forgotten, and with it what is written down.
    var generation = 0
    /// How soon the index will be written down, where that is on its way.
    var flushDelay: Duration?
    /// How long that took the last time.
    var flushCost: Duration = .zero
    var flushesPutOff = 0
    /// Hits and misses of all caches of this directory before this one's that are not written down yet.
    var earlierCounts = DiskCounts()
    /// This one's hits and misses that are.
    private(set) var writtenCounts = DiskCounts()

    mutating func didWrite(_ counts: DiskCounts) {
        writtenCounts.hits += counts.hits
        writtenCounts.misses += counts.misses
        earlierCounts.hits += counts.hits
        earlierCounts.misses += counts.misses
    }

    /// The directories of which something is to be written down.
    mutating func takeChanges() -> IndexChanges.Taken {
        flushDelay = nil
        return changes.take()
    }
}
