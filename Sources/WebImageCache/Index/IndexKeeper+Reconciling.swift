import WebImageCore
import WebImageSystem

// Learns the changes of other caches from the directory.
extension IndexKeeper {
    /// Learns the changes of other caches since the last comparison of index and directory. Costs one status for each
    /// shard, and a listing for each changed one.
    /// - Parameters:
    ///   - most: if more entries must be read, nothing is learnt.
    ///   - began: files that have changed since this time, by the file system's clock, are read even if the date of
    ///   their directory does not show it.
    /// - Returns: false if there are more changes to learn.
    func adoptChanges(most: Int = .max, since began: Int64? = nil) -> Bool {
        guard let existing = try? folder.listShards().shards else { return false }
        let times = books.withLock { $0.scan.shardTimes }
        var changed = Array(Set(times.indices.filter { times[$0] != nil }).subtracting(existing.map(\.number)))
        for (shard, status) in existing {
            let isYoung = began.map { status.isYoung(at: $0) } ?? false
            if isYoung || status.modifiedNanoseconds != times[shard] { changed.append(shard) }
        }
        // The content of a directory that was never read is not known.
        let looks = books.withLock { books in
            changed.reduce(0) { $0 + (times[$1] == nil ? 50 : books.index.count(inShard: $1) + 4) }
        }
        guard looks <= most else { return false }
        for shard in changed { reconcile(shard) }
        return true
    }

    /// Compares a shard of the index with its directory, which takes precedence.
    /// - Parameter checksKnown: whether files that the index has are checked, too, because other caches may have
    ///   replaced them.
    /// - Returns: the status of the directory before it was listed; nil if it is missing or cannot be read.
    @discardableResult
    func reconcile(_ shard: Int, checksKnown: Bool = true) -> FileStatus? {
        var holdsTemporaries = false
        return reconcile(shard, checksKnown: checksKnown, &holdsTemporaries)
    }

    /// - Parameter holdsTemporaries: set to true if the directory holds temporary files.
    func reconcile(_ shard: Int, checksKnown: Bool, _ holdsTemporaries: inout Bool) -> FileStatus? {
        guard (try? folder.check()) != nil else { return nil }
        let directory = folder.layout.shardDirectory(shard)
        return folder.withTurn(ofShard: shard) { () -> FileStatus? in
            let status: FileStatus?
            do throws(FileFault) { status = try folder.shardStatus(shard) } catch { return nil }
            let known = Set(books.withLock { $0.index.records(inShard: shard) }.map(\.id))
            var there: Set<EntryID> = []
            var found: [(EntryID, FileStatus)] = []
            if status != nil {
                let isListed: Void? = try? folder.files.list(directory) { name, status in
                    if name.first == UInt8(ascii: ".") { holdsTemporaries = true }
                    guard let id = EntryID(name: name), id.shard == shard else { return }
                    if !checksKnown, known.contains(id) {
                        there.insert(id)
                    } else if let status = status() {
                        there.insert(id)
                        guard status.isRegularFile else { return }
                        found.append((id, folder.withoutFutureDate(status, of: folder.layout.path(of: id))))
                    }
                }
                guard isListed != nil else { return nil }
            }
            return books.withLock { books in
                for id in known.subtracting(there) { books.remove(id, freed: .nothing) }
                books.scan.shardTimes[shard] = status?.modifiedNanoseconds
                for (id, status) in found { books.see(status, of: id) }
                return status
            }
        }
    }
}
