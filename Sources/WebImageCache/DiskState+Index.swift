import WebImageCore

/// What of the index is to be written down, and when.
extension DiskState {
    /// How long after now the index should be written down; nil where nothing calls for it or it is on its way.
    mutating func scheduleFlush() -> Duration? {
        guard isScanned, !changes.isEmpty || uncounted != IndexStore.Counts() else { return nil }
        // To write it down costs as much as there is in the directories that have changed: of a large cache that is not done
        // every other second. What was not written down is found by the next process that opens the cache.
        let delay: Duration = changes.count > 0 ? min(max(.seconds(2), flushCost * 50), .seconds(60)) : .seconds(60)
        if let flushDelay, flushDelay <= delay { return nil }
        flushDelay = delay
        return delay
    }

    /// While many entries leave, what is there is not worth writing down, unless that lasts.
    ///
    /// - Returns: how long it waits once more; nil when it is time.
    mutating func putOffFlush() -> Duration? {
        guard isEvicting || isTrimming, flushesPutOff < 15 else {
            flushesPutOff = 0
            return nil
        }
        flushesPutOff += 1
        return .seconds(2)
    }

    /// The directories of which something is to be written down.
    mutating func takeChanges() -> [Int] {
        flushDelay = nil
        return changes.take()
    }

    /// Hits and misses that are not in the sum of all caches yet.
    var uncounted: IndexStore.Counts {
        IndexStore.Counts(
            hits: Int64(statistics.hits) - writtenCounts.hits, misses: Int64(statistics.misses) - writtenCounts.misses)
    }

    var allCounts: IndexStore.Counts {
        IndexStore.Counts(
            hits: earlierCounts.hits + uncounted.hits, misses: earlierCounts.misses + uncounted.misses)
    }

    /// - Parameter sum: of all caches, with `counts`.
    mutating func didWrite(_ counts: IndexStore.Counts, sum: IndexStore.Counts) {
        writtenCounts.hits += counts.hits
        writtenCounts.misses += counts.misses
        earlierCounts = sum
    }
}
