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
            let (found, strays) = (findEntries(), findStrays())
            let space = existingSpace()
            noteOverhead()
            let delay = state.withLock { state in
                state.finishScan(found.index, shardTimes: found.times, strays: strays, freeSpace: space)
                state.earlierCounts = found.counts
                // A few files are looked at sooner than they are written down.
                if found.index.count >= Self.leastIndexCount, found.scanned.count >= 8 {
                    state.changes.note(shards: found.scanned)
                }
                return state.scheduleFlush()
            }
            scheduleFlush(after: delay)
        }
    }

    private static let leastIndexCount = 1000

    /// Calls `body` with every file that is named like an entry.
    func forEachEntryFile(_ body: (EntryID, String) -> Void) {
        guard let shards = try? files.names(in: layout.versionDirectory) else { return }
        let known = Set(CacheLayout.shardNames)
        for shard in shards where known.contains(shard) {
            let directory = layout.versionDirectory + "/" + shard
            for name in (try? files.names(in: directory)) ?? [] {
                if let id = EntryID(name: name), layout.path(of: id) == directory + "/" + name {
                    body(id, directory + "/" + name)
                }
            }
        }
    }

    /// Temporary files that are not this cache's own; removes those that nobody writes to any more.
    func findStrays() -> [String: Int64] {
        let now = clock.wallTime
        var strays: [String: Int64] = [:]
        for name in (try? files.names(in: layout.temporaryDirectory)) ?? [] where !name.hasPrefix(temporaryPrefix) {
            let path = layout.temporaryDirectory + "/" + name
            guard let status = try? files.status(at: path), status.isRegularFile else { continue }
            if now - status.modified > Self.temporaryLifetime, (try? files.remove(path)) != nil { continue }
            strays[name] = status.blockBytes
        }
        return strays
    }

    /// Free space on the disk that holds, or will hold, the cache.
    func existingSpace() -> Int64? {
        var path = layout.versionDirectory
        while true {
            if let space = try? files.space(at: path) { return space.free }
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
    }
}
