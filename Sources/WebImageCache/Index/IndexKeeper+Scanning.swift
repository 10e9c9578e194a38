import Logging
import WebImageCore

// Determines the directory's content when the cache is opened: from the index files where they are current, and
// otherwise from the directory.
extension IndexKeeper {
    /// The content of the directory.
    struct Findings {
        var index = DiskIndex()
        var times = [Int64?](repeating: nil, count: 256)
        /// Shards without current records in the index files.
        var scanned: [Int] = []
        /// Temporary files of other caches in these shards and beside them; the other shards have none. Those of the
        /// index are found later, with the expired entries.
        var strays: [String: Int64] = [:]
        var counts = DiskCounts()
    }

    /// Reads the current records of the index files, and scans the directory for the rest.
    func findEntries() -> Findings {
        var (records, found) = ([DiskIndex.Record](), Findings())
        let now = folder.wallTime
        var stored: [Int: IndexFile.Shard] = [:]
        var stamps: [Int: IndexStamp] = [:]
        let list: CacheLayout.ShardList
        do throws(FileFault) {
            list = try folder.listShards()
        } catch {
            // The entries are learnt when the directory can be read again.
            folder.logger.notice("the cache's directory cannot be read: \(error)")
            return found
        }
        let existing = list.shards
        found.strays = folder.checkStrays(list.temporaries)
        for file in 0..<IndexStore.fileCount where !existing.isEmpty {
            do throws(FileFault) {
                let content = try store.load(file)
                stored.merge(content.shards) { $1 }
                if file == 0 { found.counts = content.counts }
            } catch {
                folder.logger.notice("the cache's index cannot be read, the directory is scanned: \(error)")
            }
        }
        for (shard, status) in existing {
            stamps[shard] = IndexStamp(status)
            // Dates in the future are corrected in the files.
            if let known = stored[shard], known.stamp == IndexStamp(status),
                !known.records.contains(where: { $0.date.isAhead(of: now) })
            {
                records += known.records
                found.times[shard] = status.modifiedNanoseconds
            } else {
                found.scanned.append(shard)
            }
        }
        let scanned = Set(found.scanned)
        for shard in scan(found.scanned, stored) {
            records += shard.records
            // A directory that could not be read completely is read again later.
            if shard.isComplete { found.times[shard.number] = stamps[shard.number]?.modified }
            found.strays.merge(folder.checkStrays(shard.strays)) { $1 }
        }
        found.index.adopt(records)
        for (shard, _) in existing where !scanned.contains(shard) { found.index.setWritten(inShard: shard) }
        return found
    }

    /// The content of one directory.
    private struct ShardFindings {
        let number: Int
        var records: [DiskIndex.Record] = []
        /// Paths of temporary files.
        var strays: [String] = []
        var isComplete = false
    }

    /// Other threads of the executor help if there is much to scan.
    private func scan(_ shards: [Int], _ before: [Int: IndexFile.Shard]) -> [ShardFindings] {
        let work = SharedWork(shards.count) { [self] place in
            scan(shards[place], before[shards[place]]?.records ?? [])
        }
        return shards.count < 8 ? work.finish() : work.finish(helpedBy: executor)
    }

    /// Reads every file of a directory; the earlier records supply the dates of use.
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
            var record = folder.withoutFutureDate(status, of: folder.layout.path(of: id)).record(of: id)
            if let earlier = known[id], earlier.length == record.length {
                if !earlier.date.isAhead(of: folder.wallTime) { record.date = max(record.date, earlier.date) }
                record.expires = earlier.expires
            }
            found.records.append(record)
        }
        found.isComplete = isListed != nil
        return found
    }
}
