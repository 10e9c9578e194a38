import Logging
import WebImageCore
import Synchronization
import WebImageSystem

// The index is written down in batches, some time after what changed it, and read when the cache is opened.
extension DiskCache {
    /// Has the index written down in a while, when it has changed.
    func scheduleFlush(after delay: Duration?) {
        guard let delay else { return }
        _ = folder.clock.schedule(at: folder.clock.now + delay) { [weak self] in
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
        flushTurn.withLock { known in
            let (changes, counts, hasOthers) = state.withLock { ($0.takeChanges(), $0.uncounted, $0.hasOthers) }
            guard !changes.isEmpty || counts != DiskCounts() else { return }
            let begin = folder.clock.now
            guard (try? folder.check()) != nil, let now = folder.timeOfFiles() else {
                return state.withLock { $0.changes.putBack(changes) }
            }
            // Of a directory that is not written down at all, uses are written with the rest.
            let unwritten = state.withLock { state in changes.used.filter { state.index.hasUnwritten(inShard: $0) } }
            let changed = Set(changes.changed).union(unwritten).sorted()
            let (stamps, young) = settle(changed, now, looksAtKnown: hasOthers)
            for file in 0..<IndexStore.fileCount {
                let shards = IndexStore.shards(ofFile: file)
                let piece = IndexPiece(
                    file: file, stamps: stamps.filter { shards.contains($0.key) },
                    used: changes.used.filter { shards.contains($0) }, counts: file == 0 ? counts : DiskCounts())
                guard !piece.isEmpty, !write(piece, &known[file]) else { continue }
                // What it took out of the index is not written: the file is read before anything is added to it.
                known[file] = nil
                state.withLock { state in
                    state.changes.putBack(DiskChanges.Taken(changed: Array(piece.stamps.keys), used: piece.used))
                }
            }
            noteOverhead()
            let delay = state.withLock { state in
                state.changes.note(shards: young)
                if !changed.isEmpty { state.flushCost = folder.clock.now - begin }
                return young.isEmpty ? nil : state.scheduleFlush()
            }
            scheduleFlush(after: delay)
        }
    }

    /// Holds the index against the directories that have changed.
    /// - Returns: what they are known again by, and those that may change again within the same tick of the clock that
    ///   stamps them.
    private func settle(
        _ shards: [Int], _ now: Int64, looksAtKnown: Bool
    ) -> (stamps: [Int: IndexStamp], young: [Int]) {
        var (stamps, young): ([Int: IndexStamp], [Int]) = ([:], [])
        for shard in shards {
            guard let status = try? folder.files.status(at: folder.layout.shardDirectory(shard)) else {
                // Gone, it seems: then nothing that the index says of it is true any more.
                if reconcile(shard, looksAtKnown: looksAtKnown) == nil { stamps[shard] = IndexStamp.none }
                continue
            }
            if status.isYoung(at: now) {
                young.append(shard)
                continue
            }
            var holdsTemporaries = false
            let settled = reconcile(shard, looksAtKnown: looksAtKnown, &holdsTemporaries)
            if holdsTemporaries {
                // Whoever writes there may be killed: the next cache must list the directory to see what is left.
                young.append(shard)
            } else if let settled, !settled.isYoung(at: now) {
                stamps[shard] = IndexStamp(settled)
            }
        }
        return (stamps, young)
    }

    /// A file of the index as it was left, and which index knows what it says.
    struct KnownIndexFile {
        var written: IndexStore.Written
        let generation: Int
    }

    /// What is to be written to one file of the index.
    private struct IndexPiece {
        let file: Int
        let stamps: [Int: IndexStamp]
        let used: [Int]
        let counts: DiskCounts

        var isEmpty: Bool { stamps.isEmpty && used.isEmpty && counts == DiskCounts() }
    }

    /// - Parameter known: nil where the file's content is not known.
    /// - Returns: false when nothing was written.
    private func write(_ piece: IndexPiece, _ known: inout KnownIndexFile?) -> Bool {
        do throws(FileFault) {
            // The first try may find that somebody else has changed the file.
            for _ in 0..<2 {
                let (frames, needed, generation) = state.withLock { state in
                    let (frames, needed) = state.takeFrames(piece.stamps, piece.used, piece.counts, file: piece.file)
                    return (frames, needed, state.indexGeneration)
                }
                if known?.generation != generation { known = nil }
                if frames.isEmpty, known != nil { return true }
                let length = frames.reduce(0) { $0 + $1.length }
                let growth = max(index.growth(piece.file, by: length), 0)
                guard state.withLock({ $0.growIndex(by: growth) }) else { return false }
                switch try index.add(frames, to: piece.file, known?.written, needed: needed) {
                case .written(let now):
                    known?.written = now
                    if piece.counts != DiskCounts() { state.withLock { $0.didWrite(piece.counts) } }
                    return true
                case .other(let content, let now):
                    known = state.withLock { state in
                        state.setWritten(content, IndexStore.shards(ofFile: piece.file))
                        if piece.file == 0 { state.earlierCounts = content.counts }
                        return KnownIndexFile(written: now, generation: state.indexGeneration)
                    }
                case .busy: return false
                }
            }
            return false
        } catch {
            // The next start looks at the directory itself.
            folder.logger.notice("the cache's index was not written down: \(error)")
            return false
        }
    }

    private var index: IndexStore {
        IndexStore(layout: folder.layout, files: folder.files, temporaryPrefix: folder.temporaries.prefix)
    }

    /// The cache's own files count, too: the tag and the common total from the beginning, since another thread may be about
    /// to make them. Of two threads that look at once, the one that saw less may come last: what was seen once stays.
    func noteOverhead() {
        let own = [folder.layout.usagePath, folder.layout.directory + "/CACHEDIR.TAG"]
        let least = state.withLock { $0.blockLength }
        let bytes = own.reduce(0) { $0 + max((try? folder.files.status(at: $1))?.blockBytes ?? 0, least) }
        let indexBytes = (0..<IndexStore.fileCount).reduce(0) {
            $0 + ((try? folder.files.status(at: index.path($1)))?.blockBytes ?? 0)
        }
        state.withLock { state in
            state.overhead = max(state.overhead, bytes)
            state.indexBytes = indexBytes
        }
    }

    /// What the directory holds.
    struct Findings {
        var index = DiskIndex()
        var times = [Int64?](repeating: nil, count: 256)
        /// Shards of which nothing true was written down.
        var scanned: [Int] = []
        /// Files that others were writing in those; in the rest there are none.
        var strays: [String: Int64] = [:]
        var counts = DiskCounts()
    }

    /// What was written down and is still true; the rest is found in the directory.
    func findEntries() -> Findings {
        var (records, found) = ([DiskIndex.Record](), Findings())
        var stored: [Int: IndexFile.Shard] = [:]
        var stamps: [Int: IndexStamp] = [:]
        let existing: [Int]
        do throws(FileFault) {
            existing = try folder.listShards()
        } catch {
            // What is there is learnt when the directory can be read again.
            folder.logger.notice("the cache's directory cannot be read: \(error)")
            return found
        }
        for file in 0..<IndexStore.fileCount where !existing.isEmpty {
            do throws(FileFault) {
                let content = try index.load(file)
                stored.merge(content.shards) { $1 }
                if file == 0 { found.counts = content.counts }
            } catch {
                folder.logger.notice("the cache's index cannot be read, the directory is scanned: \(error)")
            }
        }
        for shard in existing {
            guard let status = try? folder.files.status(at: folder.layout.shardDirectory(shard)) else { continue }
            stamps[shard] = IndexStamp(status)
            if let known = stored[shard], known.stamp == IndexStamp(status) {
                records += known.records
                found.times[shard] = status.modifiedNanoseconds
            } else {
                found.scanned.append(shard)
            }
        }
        let scanned = Set(found.scanned)
        for shard in scan(found.scanned, stored) {
            records += shard.records
            // A directory that could not be read is looked at again.
            if shard.isComplete { found.times[shard.number] = stamps[shard.number]?.modified }
            found.strays.merge(folder.checkStrays(shard.strays)) { $1 }
        }
        found.index.adopt(records)
        for shard in existing where !scanned.contains(shard) { found.index.setWritten(inShard: shard) }
        return found
    }

    /// What one directory holds.
    private struct ShardFindings {
        let number: Int
        var records: [DiskIndex.Record] = []
        /// Paths of files that somebody was writing.
        var strays: [String] = []
        var isComplete = false
    }

    /// The executor's other threads help when there is much to look at.
    private func scan(_ shards: [Int], _ before: [Int: IndexFile.Shard]) -> [ShardFindings] {
        let work = SharedWork(shards.count) { [self] place in
            scan(shards[place], before[shards[place]]?.records ?? [])
        }
        return shards.count < 8 ? work.finish() : work.finish(helpedBy: executor)
    }

    /// What a directory holds, by looking at every file; what was known of them before says when they were used.
    private func scan(_ shard: Int, _ before: [DiskIndex.Record]) -> ShardFindings {
        let directory = folder.layout.shardDirectory(shard)
        var known: [EntryID: DiskIndex.Record] = [:]
        for record in before { known[record.id] = record }
        var found = ShardFindings(number: shard)
        let isListed: Void? = try? folder.files.list(directory) { name, status in
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
        found.isComplete = isListed != nil
        return found
    }
}
