import Logging
import Synchronization
import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Scans the directory, or waits for who is scanning it; does nothing once that was done. Blocks.
    func finishScan() {
        guard !state.withLock({ $0.isScanned }) else { return }
        scanTurn.withLock { _ in
            guard !state.withLock({ $0.isScanned }) else { return }
            var found = findEntries()
            let space = folder.space()
            if let space { state.withLock { $0.setBlockLength(space.block) } }
            noteOverhead()
            let delay = state.withLock { state in
                state.finishScan(
                    &found.index, shardTimes: found.times, strays: found.strays, freeSpace: space?.free)
                state.earlierCounts = found.counts
                // A few files are looked at sooner than they are written down.
                if state.index.count >= Self.leastIndexCount, found.scanned.count >= 8 {
                    state.changes.note(shards: found.scanned)
                }
                return state.scheduleFlush()
            }
            scheduleFlush(after: delay)
            for run in state.withLock({ $0.takeWaiting() }) { run() }
        }
    }

    /// Calls `run` once it is known what the directory holds, at once where it is: whoever waited for that on a thread of
    /// the executor would keep it from hits, which do not wait. `run` must not block.
    package func whenOpen(_ run: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.waitForScan(run) }) { return }
        run()
    }

    /// Returns when it is known what the directory holds; does nothing once it is. Blocks.
    package func finishOpening() { finishScan() }

    private static let leastIndexCount = 1000

}
