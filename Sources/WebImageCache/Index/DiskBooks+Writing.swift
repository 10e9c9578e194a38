// Decides when the index is written, and which parts of it.
extension DiskBooks {
    /// How long to wait before the index is written; nil if that is not needed or is scheduled already.
    mutating func scheduleFlush() -> Duration? {
        guard scan.isDone, !journal.changes.isEmpty || uncounted != DiskCounts() else { return nil }
        // Writing costs as much as the changed directories hold, so for a large cache it is not done every other
        // second. Changes that were not written are found by the next process that opens the cache.
        let delay: Duration =
            journal.changes.count > 0 ? min(max(.seconds(2), journal.flushCost * 50), .seconds(60)) : .seconds(60)
        if let flushDelay = journal.flushDelay, flushDelay <= delay { return nil }
        journal.flushDelay = delay
        return delay
    }

    /// Postpones writing while many entries are being evicted, unless that lasts.
    ///
    /// - Returns: how long to wait; nil if it is time to write.
    mutating func putOffFlush() -> Duration? {
        guard ledger.isEvicting || ledger.isTrimming, journal.flushesPutOff < 15 else {
            journal.flushesPutOff = 0
            return nil
        }
        journal.flushesPutOff += 1
        return .seconds(2)
    }

    /// Returns the frames to append to a file of the index; they count as written from now on.
    /// - Parameters:
    ///   - stamps: the directories that the index was just compared with, and their stamps.
    ///   - used: directories in which entries were used, possibly without other changes.
    /// - Returns: the frames, and the length of the file without outdated frames.
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

    /// Takes room for the growth of the index; no entry is evicted for it. Returns false if there is too little.
    mutating func growIndex(by bytes: Int64) -> Bool {
        guard used <= ledger.capacity - bytes else { return false }
        ledger.indexBytes += bytes
        return true
    }

    /// Records what another process has written to a file of the index.
    mutating func setWritten(_ content: IndexFile, _ shards: Range<Int>) {
        for shard in shards { index.setWritten(content.shards[shard]?.records ?? [], inShard: shard) }
    }

    /// Hits and misses that are not in the common sum yet.
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

    /// - Parameter found: the index that the scan has made; later changes take precedence.
    mutating func finishScan(
        _ found: inout DiskIndex, shardTimes: [Int64?], strays: [String: Int64], freeSpace: Int64?
    ) {
        for id in scan.finish(shardTimes: shardTimes) { found.remove(id) }
        for record in index.recordsByDate { found.set(record) }
        // Exchanged, not copied, because other threads wait for the lock.
        swap(&index, &found)
        ledger.setStrays(strays)
        if let freeSpace { ledger.setAutomaticLimit(free: freeSpace, used: used) }
    }
}
