// When the index is written down, and what of it.
extension DiskBooks {
    /// How long after now the index should be written down; nil where nothing calls for it or it is on its way.
    mutating func scheduleFlush() -> Duration? {
        guard scan.isDone, !journal.changes.isEmpty || uncounted != DiskCounts() else { return nil }
        // To write it down costs as much as there is in the directories that have changed: of a large cache that is not done
        // every other second. What was not written down is found by the next process that opens the cache.
        let delay: Duration =
            journal.changes.count > 0 ? min(max(.seconds(2), journal.flushCost * 50), .seconds(60)) : .seconds(60)
        if let flushDelay = journal.flushDelay, flushDelay <= delay { return nil }
        journal.flushDelay = delay
        return delay
    }

    /// While many entries leave, what is there is not worth writing down, unless that lasts.
    ///
    /// - Returns: how long it waits once more; nil when it is time.
    mutating func putOffFlush() -> Duration? {
        guard ledger.isEvicting || ledger.isTrimming, journal.flushesPutOff < 15 else {
            journal.flushesPutOff = 0
            return nil
        }
        journal.flushesPutOff += 1
        return .seconds(2)
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
        guard used <= ledger.capacity - bytes else { return false }
        ledger.indexBytes += bytes
        return true
    }

    /// A file of the index says that of its directories, by somebody else's doing.
    mutating func setWritten(_ content: IndexFile, _ shards: Range<Int>) {
        for shard in shards { index.setWritten(content.shards[shard]?.records ?? [], inShard: shard) }
    }

    /// Hits and misses that are not in the sum of all caches yet.
    var uncounted: DiskCounts {
        DiskCounts(
            hits: Int64(statistics.hits) - journal.writtenCounts.hits,
            misses: Int64(statistics.misses) - journal.writtenCounts.misses)
    }

    var allCounts: DiskCounts {
        let uncounted = uncounted
        return DiskCounts(
            hits: journal.earlierCounts.hits + uncounted.hits, misses: journal.earlierCounts.misses + uncounted.misses)
    }

    /// - Parameter found: the index as the scan makes it; what happened since goes before it.
    mutating func finishScan(
        _ found: inout DiskIndex, shardTimes: [Int64?], strays: [String: Int64], freeSpace: Int64?
    ) {
        for id in scan.finish(shardTimes: shardTimes) { found.remove(id) }
        for record in index.recordsByDate { found.set(record) }
        // Exchanged, not copied: others wait for the lock meanwhile.
        swap(&index, &found)
        ledger.setStrays(strays)
        if let freeSpace { ledger.setAutomaticLimit(free: freeSpace, used: used) }
    }
}
