import Logging
import Synchronization
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// How many entries one piece of background work evicts before it lets other work on the executor have its turn.
    private static let evictionStep = 32

    /// Reserves bytes within the limit; evicts what was not used for longest when there is no room. Blocks.
    /// - Returns: false when no eviction can make that room.
    func makeRoom(_ bytes: Int64) -> Bool {
        lookAtSpace(for: bytes)
        if reserveHeadroom(bytes) || sharing({ $0.reserveFreeRoom(bytes) }) { return true }
        return evictionTurn.withLock { _ in
            if state.withLock({ $0.hasOthers }) { lookAtOthers() }
            var hasLookedAgain = false
            while true {
                switch sharing({ $0.reserve(bytes) }) {
                case .granted: return true
                case .evict(let victims):
                    guard unlink(victims) != nil else { return false }
                    lookAtSpace(for: bytes)
                case .refused:
                    guard !hasLookedAgain, state.withLock({ $0.maySucceedLater(bytes) }) else { return false }
                    hasLookedAgain = true
                    lookAtOthers()
                }
            }
        }
    }

    func giveBack(_ bytes: Int64) { state.withLock { $0.release(bytes) } }

    /// Asks for the free space where the cache is to leave some.
    private func lookAtSpace(for bytes: Int64) {
        guard state.withLock({ $0.wantsSpace(for: bytes) }) else { return }
        guard let free = folder.space()?.free else { return }
        state.withLock { $0.setFreeSpace(free) }
    }

    /// Starts background eviction when the cache is nearly full or an entry is too old, and has the index written down
    /// when it has changed.
    func keepHouse() {
        let now = folder.clock.wallTime
        let (evicts, delay) = state.withLock { ($0.shouldStartEviction(at: now), $0.scheduleFlush()) }
        scheduleFlush(after: delay)
        guard evicts else { return }
        executor.run(.low) { [weak self] in
            guard let self else { return }
            // Who has come is known only now.
            sharing { _ in }
            if state.withLock({ $0.hasOthers }) { lookAtOthers() }
            evictStep()
        }
    }

    private func evictStep() {
        let now = folder.clock.wallTime
        let goesOn = evictionTurn.withLock { _ in
            let victims = state.withLock { $0.nextVictims(most: Self.evictionStep, at: now) }
            if victims.isEmpty { return false }
            if unlink(victims) != nil {
                // What is gone is told to the others.
                sharing { _ in }
                return true
            }
            state.withLock { $0.stopEvicting() }
            return false
        }
        if goesOn { executor.run(.low) { [weak self] in self?.evictStep() } }
    }

    /// Removes victims' files, but those that another cache of the directory has used: these stay, as old as that. Only
    /// by whoever has the eviction turn.
    /// - Returns: how many are gone; nil when a file could not be removed.
    func unlink(_ victims: [DiskIndex.Victim]) -> Int? {
        var (isFine, count) = (true, victims.count)
        for victim in victims {
            folder.withTurn(of: victim.id) {
                // Stored or used again since it was chosen: the file there is not the one to go. Who only reads makes no
                // mark, so that every file is looked at, even where nobody else seems to be there.
                let isBack = state.withLock { $0.index.contains(victim.id) }
                if !isBack, let record = laterUse(of: victim) {
                    state.withLock { $0.spare(victim, record) }
                    count -= 1
                    return
                }
                do throws(FileFault) {
                    let freed = isBack ? nil : try takeFile(of: victim.id)
                    state.withLock { $0.didEvict(victim, freed: freed) }
                } catch  where error.isMissing {
                    state.withLock { $0.didEvict(victim, freed: .nothing) }
                } catch {
                    folder.noteRemovalFault(error)
                    state.withLock { $0.didNotEvict(victim) }
                    isFine = false
                }
            }
        }
        return isFine ? count : nil
    }

    /// What a victim's file says of itself, where it was used or replaced later than this cache knows.
    private func laterUse(of victim: DiskIndex.Victim) -> DiskIndex.Record? {
        guard let path = try? folder.path(of: victim.id), let status = try? folder.files.status(at: path),
            status.isRegularFile,
            status.modified > victim.date
        else {
            return nil
        }
        var record = status.record(of: victim.id)
        record.expires = (try? folder.readTail(path.text))?.trailer.endOfLifetime ?? 0
        return record.expires == 0 || record.expires > folder.clock.wallTime ? record : nil
    }

    /// Unlinks what `next` names until it names nothing: what is spared may be named again by its later date.
    /// - Returns: how many are gone; nil when a file could not be removed.
    private func unlinkAll(_ next: (inout DiskState) -> [DiskIndex.Victim]) -> Int? {
        state.withLock { $0.isTrimming = true }
        defer { state.withLock { $0.isTrimming = false } }
        var count = 0
        while true {
            let victims = state.withLock { next(&$0) }
            if victims.isEmpty { return count }
            guard let gone = unlink(victims) else { return nil }
            count += gone
        }
    }

    /// Lets the least recently used entries go until the cache takes no more than that. Blocks.
    package func trim(to bytes: ByteCount) throws(WebImageError) {
        finishScan()
        let target = Int64(max(bytes.bytes, 0))
        let count = evictionTurn.withLock { _ in
            unlinkAll { $0.takeVictims { $0.used - $0.leavingBytes > target } }
        }
        sharing { _ in }
        if count == nil { throw cannotRemove() }
    }

    /// Removes what was not used for too long, and temporary files that dead processes left. Blocks.
    /// - Returns: how many entries went.
    @discardableResult
    package func removeExpired() throws(WebImageError) -> Int {
        finishScan()
        lookAtOthers(lists: true)
        let now = folder.clock.wallTime
        let count = evictionTurn.withLock { _ in unlinkAll { $0.takeExpired(most: .max, at: now) } }
        sharing { _ in }
        guard let count else { throw cannotRemove() }
        return count
    }

    func cannotRemove() -> WebImageError {
        WebImageError(.readOnly, "cache entries cannot be removed", location: folder.layout.versionDirectory)
    }
}
