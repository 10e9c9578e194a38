import Logging
import WebImageCore

// What the directory holds when the cache is opened: what was written down and is still true, and the rest as the directory says.
extension IndexKeeper {
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
                let content = try store.load(file)
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
            // A directory that could not be read is read again later.
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

    /// What a directory holds, by every file of it; what was known of them before says when they were used.
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
