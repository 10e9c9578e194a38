import Logging
import WebImageCore
import Synchronization
import WebImageSystem

// The index is written down in batches, some time after what changed it, and read when the cache is opened.
extension DiskCache {
    /// Has the index written down in a while, when it has changed.
    func scheduleFlush(after delay: Duration?) {
        guard let delay else { return }
        _ = clock.schedule(at: clock.now + delay) { [weak self] in
            guard let self else { return }
            executor.run(.low) { [weak self] in
                guard let self else { return }
                if let delay = state.withLock({ $0.putOffFlush() }) { return scheduleFlush(after: delay) }
                flushIndex()
            }
        }
    }

    /// Writes down what the index has learnt since the last time, so that the next process to open the directory need
    /// not look at it, and hits and misses. No entry is lost when it does not come to that. Blocks.
    package func flushIndex() {
        finishScan()
        flushTurn.withLock { _ in
            let (changed, counts, hasOthers) = state.withLock { ($0.takeChanges(), $0.uncounted, $0.hasOthers) }
            guard !changed.isEmpty || counts != IndexStore.Counts() else { return }
            let begin = clock.now
            guard let now = timeOfDirectory() else { return state.withLock { $0.changes.putBack(shards: changed) } }
            var (shards, young): ([Int: IndexStore.Shard], [Int]) = ([:], [])
            for shard in changed {
                guard let status = try? files.status(at: layout.shardDirectory(shard)) else { continue }
                // A directory may change again within the same tick of the clock that stamps it.
                if Self.isYoung(status, now) {
                    young.append(shard)
                } else if let (status, records) = reconcile(shard, looksAtKnown: hasOthers),
                    !Self.isYoung(status, now)
                {
                    shards[shard] = IndexStore.Shard(
                        modified: status.modifiedNanoseconds, inode: status.inode, records: records)
                }
            }
            let isSaved = save(shards, counts)
            let delay = state.withLock { state in
                if !isSaved { state.changes.putBack(shards: shards.keys) }
                state.changes.note(shards: young)
                if !changed.isEmpty { state.flushCost = clock.now - begin }
                return young.isEmpty ? nil : state.scheduleFlush()
            }
            scheduleFlush(after: delay)
        }
    }

    private func save(_ shards: [Int: IndexStore.Shard], _ counts: IndexStore.Counts) -> Bool {
        defer { noteOverhead() }
        do throws(SQLiteFault) {
            let sum = try IndexStore(path: layout.indexPath, files: files).save(shards, adding: counts)
            state.withLock { $0.didWrite(counts, sum: sum) }
            return true
        } catch {
            // The next start looks at the directory itself.
            logger.notice("the cache's index was not written down: \(error.message)")
            return false
        }
    }

    /// The cache's own files count, too: the tag and the common total from the beginning, since another thread may be about
    /// to make them. Of two threads that look at once, the one that saw less may come last: what was seen once stays.
    func noteOverhead() {
        let index = (try? files.status(at: layout.indexPath)).map { max($0.blockBytes, 4096) } ?? 0
        let others = [layout.usagePath, layout.directory + "/CACHEDIR.TAG"]
        let bytes = others.reduce(index) { $0 + max((try? files.status(at: $1))?.blockBytes ?? 0, 4096) }
        state.withLock { $0.overhead = max($0.overhead, bytes) }
    }

    /// The time by the clock that stamps this file system's directories, in nanoseconds.
    private func timeOfDirectory() -> Int64? {
        let path = layout.versionDirectory + "/.clock-" + ownerName
        guard let file = try? files.open(path, .createNew) else { return nil }
        defer {
            files.close(file)
            try? files.remove(path)
        }
        return try? files.status(of: file).modifiedNanoseconds
    }

    private static func isYoung(_ directory: FileStatus, _ now: Int64) -> Bool {
        let stamp = directory.modifiedNanoseconds
        // Some file systems count whole seconds.
        let tick: Int64 = stamp % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
        return stamp > now - tick
    }

    /// What the directory holds.
    struct Findings {
        var index = DiskIndex()
        var times = [Int64?](repeating: nil, count: 256)
        /// Shards of which nothing true was written down.
        var scanned: [Int] = []
        /// Files that others were writing in those; in the rest there are none.
        var strays: [String: Int64] = [:]
        var counts: IndexStore.Counts
    }

    /// What was written down and is still true; the rest is found in the directory.
    func findEntries() -> Findings {
        var stored: (shards: [Int: IndexStore.Shard], counts: IndexStore.Counts) = ([:], .init())
        do throws(SQLiteFault) {
            stored = try IndexStore(path: layout.indexPath, files: files).load()
        } catch {
            logger.notice("the cache's index cannot be read, the directory is scanned: \(error.message)")
        }
        var (records, found) = ([DiskIndex.Record](), Findings(counts: stored.counts))
        for shard in existingShards() {
            guard let status = try? files.status(at: layout.shardDirectory(shard)) else { continue }
            found.times[shard] = status.modifiedNanoseconds
            if let known = stored.shards[shard], known.describes(status) {
                records += known.records
            } else {
                found.scanned.append(shard)
            }
        }
        for shard in scan(found.scanned, stored.shards) {
            records += shard.records
            for name in shard.strays { noteStray(name, &found.strays) }
        }
        found.index.adopt(records)
        return found
    }

    /// What one directory holds.
    private struct ShardFindings {
        var records: [DiskIndex.Record] = []
        /// Paths of files that somebody was writing.
        var strays: [String] = []
    }

    /// The executor's other threads help when there is much to look at.
    private func scan(_ shards: [Int], _ before: [Int: IndexStore.Shard]) -> [ShardFindings] {
        let work = SharedWork(shards.count) { [self] place in
            scan(shards[place], before[shards[place]]?.records ?? [])
        }
        return shards.count < 8 ? work.finish() : work.finish(helpedBy: executor)
    }

    /// What a directory holds, by looking at every file; what was known of them before says when they were used.
    private func scan(_ shard: Int, _ before: [DiskIndex.Record]) -> ShardFindings {
        let directory = layout.shardDirectory(shard)
        var known: [EntryID: DiskIndex.Record] = [:]
        for record in before { known[record.id] = record }
        var found = ShardFindings()
        // What cannot be read is not counted: the operations will say what is wrong with it.
        try? files.list(directory) { name, status in
            if name.first == UInt8(ascii: ".") {
                found.strays.append(directory + "/" + String(decoding: name, as: UTF8.self))
            }
            guard let id = EntryID(name: name), id.shard == shard, let status = status(), status.isRegularFile else {
                return
            }
            var record = status.record(of: id)
            if let earlier = known[id], earlier.length == record.length {
                record.date = max(record.date, earlier.date)
                record.expires = earlier.expires
            }
            found.records.append(record)
        }
        return found
    }
}
