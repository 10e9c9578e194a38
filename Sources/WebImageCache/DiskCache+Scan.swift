import Logging
import Synchronization
import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Temporary files of other processes that are older than this belong to nobody any more.
    private static let temporaryLifetime: Int64 = 3600

    /// Scans the directory, or waits for who is scanning it; does nothing once that was done. Blocks.
    func finishScan() {
        guard !state.withLock({ $0.isScanned }) else { return }
        scanTurn.withLock { _ in
            guard !state.withLock({ $0.isScanned }) else { return }
            var found = findEntries()
            let space = existingSpace()
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

    /// Calls `body` with every file that is named like an entry.
    func forEachEntryFile(_ body: (EntryID, String) -> Void) {
        for shard in existingShards() {
            let directory = layout.shardDirectory(shard)
            for name in (try? files.names(in: directory)) ?? [] {
                if let id = EntryID(name: name), id.shard == shard { body(id, directory + "/" + name) }
            }
        }
    }

    /// Which of the 256 directories there are, in order; none where that cannot be known.
    func existingShards() -> [Int] { (try? listShards()) ?? [] }

    func listShards() throws(FileFault) -> [Int] {
        try checkDirectory()
        do {
            let names = try files.names(in: layout.versionDirectory)
            return names.compactMap { $0.utf8.count == 2 ? Int($0, radix: 16) : nil }.sorted()
        } catch  where error.isMissing {
            return []
        }
    }

    /// Temporary files that are not this cache's own; removes those that nobody writes to any more. Lists every shard.
    func findStrays() -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for shard in existingShards() {
            let directory = layout.shardDirectory(shard)
            for name in (try? files.names(in: directory)) ?? [] where name.hasPrefix(".") {
                noteStray(directory + "/" + name, &strays)
            }
        }
        return strays
    }

    /// Those that are known already, as they are now.
    func lookAgainAtStrays() -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for path in state.withLock({ Array($0.strays.keys) }) { noteStray(path, &strays) }
        return strays
    }

    func noteStray(_ path: String, _ strays: inout [String: Int64]) {
        guard !isOwn(path), let status = try? files.linkStatus(at: path), status.isRegularFile else { return }
        if !mayBeWritten(path, status), (try? files.remove(path)) != nil { return }
        strays[path] = status.blockBytes
    }

    /// Whether somebody may still be writing a temporary file.
    func mayBeWritten(_ path: String) -> Bool {
        // Where it is gone by now, somebody was.
        guard !isOwn(path), let status = try? files.status(at: path) else { return true }
        return status.isRegularFile && mayBeWritten(path, status)
    }

    /// A cache may begin to write before it has made its mark, so that youth counts, too. What no cache has named stays.
    private func mayBeWritten(_ path: String, _ status: FileStatus) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let owner = OwnerName(ofTemporary: name) else { return true }
        return clock.wallTime - status.modified <= Self.temporaryLifetime || isAlive(owner)
    }

    /// Whether the cache of that name lives: it holds its mark's lock then.
    private func isAlive(_ owner: OwnerName) -> Bool {
        guard let mark = try? files.open(layout.ownerDirectory + "/" + owner.text, .updateOwn) else { return false }
        defer { files.closeLocked(mark) }
        return (try? files.lock(mark, within: .zero)) == false
    }

    private func isOwn(_ path: String) -> Bool {
        path.split(separator: "/").last.map { $0.hasPrefix(temporaryPrefix) } ?? false
    }

    /// Free space on the disk that holds, or will hold, the cache, and how long its blocks are.
    func existingSpace() -> (free: Int64, block: Int64)? {
        var path = layout.versionDirectory
        while true {
            if let space = try? files.space(at: path) { return (space.free, space.block) }
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
    }
}
