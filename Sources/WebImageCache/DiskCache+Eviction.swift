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
                    guard unlink(victims) else { return false }
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
        guard let free = existingSpace() else { return }
        state.withLock { $0.setFreeSpace(free) }
    }

    /// Starts background eviction when the cache is nearly full or an entry is too old, and has the index written down
    /// when it has changed.
    func keepHouse() {
        let now = clock.wallTime
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
        let now = clock.wallTime
        let goesOn = evictionTurn.withLock { _ in
            let victims = state.withLock { $0.nextVictims(most: Self.evictionStep, at: now) }
            if victims.isEmpty { return false }
            if unlink(victims) {
                // What is gone is told to the others.
                sharing { _ in }
                return true
            }
            state.withLock { $0.stopEvicting() }
            return false
        }
        if goesOn { executor.run(.low) { [weak self] in self?.evictStep() } }
    }

    /// Removes victims' files. Only by whoever has the eviction turn.
    /// - Returns: false when a file could not be removed.
    func unlink(_ victims: [DiskIndex.Victim]) -> Bool {
        var isFine = true
        for victim in victims {
            stripe(victim.id).lock.withLock { _ in
                // Stored or used again since it was chosen: the file there is not the one to go.
                let isBack = state.withLock { $0.index.contains(victim.id) }
                do throws(FileFault) {
                    let freed = isBack ? nil : try removeFile(of: victim.id)
                    state.withLock { $0.didEvict(victim, freed: freed) }
                } catch  where error.isMissing {
                    state.withLock { $0.didEvict(victim, freed: .nothing) }
                } catch {
                    logger.warning("a cache entry cannot be removed: \(error)")
                    state.withLock { $0.didNotEvict(victim) }
                    isFine = false
                }
            }
        }
        return isFine
    }

    /// Lets the least recently used entries go until the cache takes no more than that. Blocks.
    package func trim(to bytes: ByteCount) throws(WebImageError) {
        finishScan()
        let target = Int64(max(bytes.bytes, 0))
        let isFine = evictionTurn.withLock { _ in
            unlink(state.withLock { $0.takeVictims { $0.used - $0.leavingBytes > target } })
        }
        sharing { _ in }
        if !isFine { throw cannotRemove() }
    }

    /// Removes what was not used for too long, and temporary files that dead processes left. Blocks.
    /// - Returns: how many entries went.
    @discardableResult
    package func removeExpired() throws(WebImageError) -> Int {
        finishScan()
        lookAtOthers(lists: true)
        let now = clock.wallTime
        let (count, isFine) = evictionTurn.withLock { _ in
            let victims = state.withLock { $0.takeExpired(most: .max, at: now) }
            return (victims.count, unlink(victims))
        }
        sharing { _ in }
        if !isFine { throw cannotRemove() }
        return count
    }

    /// See the asynchronous one. Blocks.
    package func flush() throws(WebImageError) {
        try writeAllStaged()
        flushIndex()
    }

    func cannotRemove() -> WebImageError {
        WebImageError(.readOnly, "cache entries cannot be removed", location: layout.versionDirectory)
    }
}
