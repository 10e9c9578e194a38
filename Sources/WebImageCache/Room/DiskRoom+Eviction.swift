import Synchronization
import WebImageCore
import WebImageSystem

// What leaves: in the background when the cache is nearly full or an entry is too old, at once where room is needed.
extension DiskRoom {
    /// How many entries one piece of background work evicts before it lets other work on the executor have its turn.
    private static let evictionStep = 32

    /// Starts background eviction when the cache is nearly full or an entry is too old, and has the index written down
    /// when it has changed.
    func startUpkeep() {
        let now = folder.clock.wallTime
        let (evicts, delay) = books.withLock { ($0.shouldStartEviction(at: now), $0.scheduleFlush()) }
        index.scheduleFlush(after: delay)
        guard evicts else { return }
        executor.run(.low) { [weak self] in
            guard let self else { return }
            // Who has come is known only now.
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
            if unlink(victims) != nil {
                tellOthers()
                return true
            }
            books.withLock { $0.stopEvicting() }
            return false
        }
        if hasMore { executor.run(.low) { [weak self] in self?.evictStep() } }
    }

    /// Removes victims' files, but those that another cache of the directory has used: these stay, as old as that. Only
    /// by whoever has the eviction turn.
    /// - Returns: how many are gone; nil when a file could not be removed.
    func unlink(_ victims: [DiskIndex.Victim]) -> Int? {
        var (isFine, count) = (true, victims.count)
        for victim in victims {
            folder.withTurn(of: victim.id) {
                // Stored or used again since it was chosen: the file there is not the one to go. Who only reads makes no
                // mark, so that every file is checked, even where nobody else seems to be there.
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
                    isFine = false
                }
            }
        }
        return isFine ? count : nil
    }

    /// What a victim's file says of itself, where it was used or replaced later than this cache knows.
    private func laterUse(of victim: DiskIndex.Victim) -> DiskIndex.Record? {
        guard let path = try? folder.path(of: victim.id), let status = try? folder.files.status(at: path),
            status.isRegularFile, status.modified > victim.date
        else { return nil }
        var record = status.record(of: victim.id)
        record.expires = (try? folder.readTail(path.text))?.trailer.endOfLifetime ?? 0
        return record.expires == 0 || record.expires > folder.clock.wallTime ? record : nil
    }

    // MARK: - On demand

    /// Lets the least recently used entries go until the cache takes no more than that. Blocks.
    /// - Returns: false when a file could not be removed.
    func trim(to target: Int64) -> Bool {
        index.finishScan()
        let count = evictionTurn.withLock { _ in unlinkAll { $0.takeVictims { $0.remaining > target } } }
        tellOthers()
        return count != nil
    }

    /// Removes what was not used for too long, and temporary files that dead processes left. Blocks.
    /// - Returns: how many entries went; nil when a file could not be removed.
    func removeExpired() -> Int? {
        index.finishScan()
        learnOfOthers(lists: true)
        let now = folder.clock.wallTime
        let count = evictionTurn.withLock { _ in unlinkAll { $0.takeExpired(most: .max, at: now) } }
        tellOthers()
        return count
    }

    /// Unlinks what `next` names until it names nothing: what is spared may be named again by its later date.
    /// - Returns: how many are gone; nil when a file could not be removed.
    private func unlinkAll(_ next: (inout DiskBooks) -> [DiskIndex.Victim]) -> Int? {
        books.withLock { $0.ledger.isTrimming = true }
        defer { books.withLock { $0.ledger.isTrimming = false } }
        var count = 0
        while true {
            let victims = books.withLock { next(&$0) }
            if victims.isEmpty { return count }
            guard let gone = unlink(victims) else { return nil }
            count += gone
        }
    }

    /// Has expired entries removed once in a while, for as long as the cache lives.
    func scheduleMaintenance(every interval: Duration) {
        let action = folder.clock.schedule(at: folder.clock.now + max(interval, .seconds(1))) { [weak self] in
            guard let self else { return }
            executor.run(.low) { [weak self] in
                // What went wrong is logged; the next time it may go better.
                _ = self?.removeExpired()
                self?.scheduleMaintenance(every: interval)
            }
        }
        maintenance.withLock { $0 = action }
    }
}
