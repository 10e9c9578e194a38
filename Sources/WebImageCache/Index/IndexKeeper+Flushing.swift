import Logging
import Synchronization
import WebImageCore
import WebImageSystem

// The index is written in batches, some time after a change.
extension IndexKeeper {
    /// Schedules writing the index.
    func scheduleFlush(after delay: Duration?) {
        guard let delay else { return }
        _ = folder.clock.schedule(at: folder.clock.now + delay) { [weak self] in
            guard let self else { return }
            executor.run(.low) { [weak self] in
                guard let self else { return }
                if let delay = books.withLock({ $0.putOffFlush() }) { return scheduleFlush(after: delay) }
                flush()
            }
        }
    }

    /// Writes the changes of the index, so that the next process to open the directory need not scan it, and hits and
    /// misses. No entry is lost if this does not happen. Blocks.
    func flush() {
        finishScan()
        flushTurn.withLock { known in
            let (changes, counts, hasOthers) = books.withLock {
                ($0.journal.takeChanges(), $0.uncounted, $0.ledger.hasOthers)
            }
            guard !changes.isEmpty || counts != DiskCounts() else { return }
            let begin = folder.clock.now
            guard (try? folder.check()) != nil, let now = folder.timeOfFiles() else {
                return books.withLock { $0.journal.changes.putBack(changes) }
            }
            // If a directory has other unwritten changes, its uses are written with them.
            let unwritten = books.withLock { books in changes.used.filter { books.index.hasUnwritten(inShard: $0) } }
            let changed = Set(changes.changed).union(unwritten).sorted()
            let (stamps, young, unsettled) = reconcile(changed, at: now, checksKnown: hasOthers)
            for file in 0..<IndexStore.fileCount {
                let shards = IndexStore.shards(ofFile: file)
                let piece = IndexPiece(
                    file: file, stamps: stamps.filter { shards.contains($0.key) },
                    used: changes.used.filter { shards.contains($0) }, counts: file == 0 ? counts : DiskCounts())
                guard !piece.isEmpty, !write(piece, &known[file]) else { continue }
                // The frames were taken from the index but not written, so the file is read before the next addition.
                known[file] = nil
                books.withLock { books in
                    books.journal.changes.putBack(
                        IndexChanges.Taken(changed: Array(piece.stamps.keys), used: piece.used))
                }
            }
            measureOwnFiles()
            let delay = books.withLock { books in
                books.journal.changes.note(shards: young)
                // What unsettled directories wait for may never come, so nothing is scheduled for them.
                books.journal.changes.putBack(IndexChanges.Taken(changed: unsettled))
                if !changed.isEmpty { books.journal.flushCost = folder.clock.now - begin }
                return young.isEmpty ? nil : books.scheduleFlush()
            }
            scheduleFlush(after: delay)
        }
    }

    /// Compares the index with the directories that have changed.
    /// - Returns: their stamps; those that may change again within the same tick of the clock that sets their date; and
    ///   those that cannot be written down yet for another reason.
    private func reconcile(
        _ shards: [Int], at now: Int64, checksKnown: Bool
    ) -> (stamps: [Int: IndexStamp], young: [Int], unsettled: [Int]) {
        var (stamps, young, unsettled): ([Int: IndexStamp], [Int], [Int]) = ([:], [], [])
        for shard in shards {
            guard let status = try? folder.shardStatus(shard) else {
                // The directory seems to be missing: then none of its entries in the index exists.
                if reconcile(shard, checksKnown: checksKnown) == nil { stamps[shard] = IndexStamp.none }
                continue
            }
            if status.isYoung(at: now) {
                // A directory with a date in the future stays young until that date: the clock was set back.
                if status.modifiedNanoseconds > now { unsettled.append(shard) } else { young.append(shard) }
                continue
            }
            var holdsTemporaries = false
            let reconciled = reconcile(shard, checksKnown: checksKnown, &holdsTemporaries)
            if holdsTemporaries {
                // A process that writes there may be killed: the next cache must list the directory to find its files.
                unsettled.append(shard)
            } else if let reconciled, !reconciled.isYoung(at: now) {
                stamps[shard] = IndexStamp(reconciled)
            }
        }
        return (stamps, young, unsettled)
    }

    /// The state of a file of the index, and the generation of the index in memory that knows its content.
    struct KnownIndexFile {
        var written: IndexStore.Written
        let generation: Int
    }

    /// The frames for one file of the index.
    private struct IndexPiece {
        let file: Int
        let stamps: [Int: IndexStamp]
        let used: [Int]
        let counts: DiskCounts

        var isEmpty: Bool { stamps.isEmpty && used.isEmpty && counts == DiskCounts() }
    }

    /// - Parameter known: nil if the file's content is not known.
    /// - Returns: false if nothing was written.
    private func write(_ piece: IndexPiece, _ known: inout KnownIndexFile?) -> Bool {
        do throws(FileFault) {
            // The first attempt may find that another process has changed the file.
            for _ in 0..<2 {
                let (frames, needed, generation) = books.withLock { books in
                    let (frames, needed) = books.takeFrames(piece.stamps, piece.used, piece.counts, file: piece.file)
                    return (frames, needed, books.journal.generation)
                }
                if known?.generation != generation { known = nil }
                if frames.isEmpty, known != nil { return true }
                let length = frames.reduce(0) { $0 + $1.length }
                let growth = max(store.growth(piece.file, by: length), 0)
                guard books.withLock({ $0.growIndex(by: growth) }) else { return false }
                switch try store.add(frames, to: piece.file, known?.written, needed: needed) {
                case .written(let now):
                    known?.written = now
                    if piece.counts != DiskCounts() { books.withLock { $0.journal.didWrite(piece.counts) } }
                    return true
                case .other(let content, let now):
                    known = books.withLock { books in
                        books.setWritten(content, IndexStore.shards(ofFile: piece.file))
                        if piece.file == 0 { books.journal.earlierCounts = content.counts }
                        return KnownIndexFile(written: now, generation: books.journal.generation)
                    }
                case .busy: return false
                }
            }
            return false
        } catch {
            // The next start scans the directory itself.
            folder.logger.notice("the cache's index was not written down: \(error)")
            return false
        }
    }
}
