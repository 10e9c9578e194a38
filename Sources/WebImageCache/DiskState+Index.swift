import WebImageCore

/// What of the index is to be written down, and when.
extension DiskState {
    /// How long after now the index should be written down; nil where nothing calls for it or it is on its way.
    mutating func scheduleFlush() -> Duration? {
        guard isScanned, !changes.isEmpty || uncounted != DiskCounts() else { return nil }
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
    mutating func takeChanges() -> DiskChanges.Taken {
        flushDelay = nil
        return changes.take()
    }

    /// What is to be added to a file of the index; it counts as written from now on.
    /// - Parameters:
    ///   - stamps: the directories that the index has just been held against, and what they are known again by.
    ///   - used: those whose entries have been used, and perhaps no more than that.
    /// - Returns: also how long the file would be if it said no more than what is true.
    mutating func takeFrames(
        _ stamps: [Int: IndexStamp], _ used: [Int], _ counts: DiskCounts, file: Int
    ) -> (frames: [IndexFrame], needed: Int) {
        var frames: [IndexFrame] = []
        for (shard, stamp) in stamps {
            let news = index.takeUnwritten(inShard: shard)
            frames.append(.change(shard, stamp, news.records, removed: news.removed))
        }
        let uses = used.filter { stamps[$0] == nil }.flatMap { index.takeUses(inShard: $0) }
        if !uses.isEmpty { frames.append(.uses(uses)) }
        if counts != DiskCounts() { frames.append(.counts(counts)) }
        let needed = IndexStore.shards(ofFile: file).reduce(0) {
            $0 + IndexFrame.length(records: index.count(inShard: $1))
        }
        return (frames, needed)
    }

    /// Takes room for what the index is about to take more; nothing leaves for it.
    mutating func growIndex(by bytes: Int64) -> Bool {
        guard used <= capacity - bytes else { return false }
        indexBytes += bytes
        return true
    }

    /// A file of the index says that of its directories, by somebody else's doing.
    mutating func setWritten(_ content: IndexFile, _ shards: Range<Int>) {
        for shard in shards { index.setWritten(content.shards[shard]?.records ?? [], inShard: shard) }
    }

    /// Hits and misses that are not in the sum of all caches yet.
    var uncounted: DiskCounts {
        DiskCounts(
            hits: Int64(statistics.hits) - writtenCounts.hits, misses: Int64(statistics.misses) - writtenCounts.misses)
    }

    var allCounts: DiskCounts {
        DiskCounts(
            hits: earlierCounts.hits + uncounted.hits, misses: earlierCounts.misses + uncounted.misses)
    }

    mutating func didWrite(_ counts: DiskCounts) {
        writtenCounts.hits += counts.hits
        writtenCounts.misses += counts.misses
        earlierCounts.hits += counts.hits
        earlierCounts.misses += counts.misses
    }
}
