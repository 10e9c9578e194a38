import Synchronization
import WebImageCore
import WebImageSystem

// Eviction: in the background if the cache is nearly full or an entry has expired, at once if room is needed.
extension DiskRoom {
    /// How many entries a background step evicts before other work of the executor may run.
    private static let evictionStep = 32

    /// Starts background eviction if the cache is nearly full or an entry has expired, and schedules writing the index
    /// if it has changed.
    func startUpkeep() {
        let now = folder.clock.wallTime
        let (evicts, delay) = books.withLock { ($0.shouldStartEviction(at: now), $0.scheduleFlush()) }
        index.scheduleFlush(after: delay)
        guard evicts else { return }
        executor.run(.low) { [weak self] in
            guard let self else { return }
            // Joining shows which other caches there are.
            tellOthers()
            if books.withLock({ $0.ledger.hasOthers }) { learnOfOthers() }
            evictStep()
        }
    }

    private func evictStep() {
        let now = folder.clock.wallTime
        let hasMore = evictionTurn.withLock { _ in
            let victims = books.withLock { $0.nextVictims(most: Self.evictionStep, at: now) }
            if victims.isEmpty { return false }
            if (try? unlink(victims)) != nil {
                tellOthers()
                return true
            }
            books.withLock { $0.stopEvicting() }
            return false
        }
        if hasMore { executor.run(.low) { [weak self] in self?.evictStep() } }
    }

    /// Removes the files of evicted entries, except those that another cache of the directory has used, which keep that
    /// date. The caller must have the eviction turn.
    /// - Returns: how many were removed; nil if a file could not be removed.
    func unlink(_ victims: [DiskIndex.Victim]) throws(FileFault) -> Int {
        var (failure, count) = (FileFault?.none, victims.count)
        for victim in victims {
            folder.withTurn(of: victim.id) {
                // The entry was stored or used again since it was chosen, so its file is another one. Caches that only
                // read make no mark, so every file is checked, even if there seem to be no other caches.
                let isBack = books.withLock { $0.index.contains(victim.id) }
                if !isBack, let record = laterUse(of: victim) {
                    books.withLock { $0.spare(victim, record) }
                    count -= 1
                    return
                }
                do throws(FileFault) {
                    let freed = isBack ? nil : try removeFile(of: victim.id)
                    books.withLock { $0.didEvict(victim, freed: freed) }
                } catch  where error.isMissing {
                    books.withLock { $0.didEvict(victim, freed: .nothing) }
                } catch {
                    folder.noteRemovalFault(error)
                    books.withLock { $0.didNotEvict(victim) }
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return count
    }

    /// The record by the victim's file, if it was used or replaced later than this cache knows.
    private func laterUse(of victim: DiskIndex.Victim) -> DiskIndex.Record? {
        guard let path = try? folder.path(of: victim.id), var status = try? folder.files.status(at: path),
            status.isRegularFile
        else { return nil }
        status = folder.withoutFutureDate(status, of: path.text)
        guard status.modified > victim.date else { return nil }
        var record = status.record(of: victim.id)
        record.expires = (try? folder.readTail(path.text))?.trailer.endOfLifetime ?? 0
        return record.expires == 0 || record.expires > folder.clock.wallTime ? record : nil
    }

    // MARK: - On demand

    /// Evicts the least recently used entries until the cache takes no more than `target`. Blocks.
    /// - Returns: false if a file could not be removed.
    func trim(to target: Int64) throws(FileFault) {
        index.finishScan()
        defer { tellOthers() }
        _ = try evictionTurn.withLock { _ throws(FileFault) in
            try unlinkAll { $0.takeVictims { $0.remaining > target } }
        }
    }

    /// Removes expired entries, and temporary files of dead processes. Blocks.
    /// - Returns: how many entries were removed.
    /// - Throws: if a file could not be removed.
    func removeExpired() throws(FileFault) -> Int {
        removeOtherExpired()
        index.finishScan()
        learnOfOthers(lists: true)
        let now = folder.clock.wallTime
        defer { tellOthers() }
        return try evictionTurn.withLock { _ throws(FileFault) in
            try unlinkAll { $0.takeExpired(most: .max, at: now) }
        }
    }

    /// Removes the entries that `next` returns until there are none; a spared one may be returned again with its later
    /// date.
    /// - Returns: how many were removed.
    /// - Throws: if a file could not be removed.
    private func unlinkAll(_ next: (inout DiskBooks) -> [DiskIndex.Victim]) throws(FileFault) -> Int {
        books.withLock { $0.ledger.isTrimming = true }
        defer { books.withLock { $0.ledger.isTrimming = false } }
        var count = 0
        while true {
            let victims = books.withLock { next(&$0) }
            if victims.isEmpty { return count }
            count += try unlink(victims)
        }
    }

    /// Removes expired entries at intervals as long as the cache lives.
    func scheduleMaintenance(every interval: Duration) {
        let action = folder.clock.schedule(at: folder.clock.now + max(interval, .seconds(1))) { [weak self] in
            guard let self else { return }
            executor.run(.low) { [weak self] in
                // Errors are logged; the next time may succeed.
                _ = try? self?.removeExpired()
                self?.scheduleMaintenance(every: interval)
            }
        }
        maintenance.withLock { $0 = action }
    }
}
