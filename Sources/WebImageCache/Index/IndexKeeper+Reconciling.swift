import WebImageCore
import WebImageSystem

// What others have changed is learnt from the directory.
extension IndexKeeper {
    /// Learns what others have done to the directory since it was last held against the index. Costs a status a shard, and a listing
    /// for each that changed.
    /// - Parameters:
    ///   - most: nothing is learnt where more entries than that must be read for it.
    ///   - began: what has changed since then, by the file system's clock, is read even where the time of its
    ///     directory does not tell.
    /// - Returns: false where there is more to be learnt.
    func adoptChanges(most: Int = .max, since began: Int64? = nil) -> Bool {
        guard let existing = try? folder.listShards() else { return false }
        let times = books.withLock { $0.scan.shardTimes }
        var changed = Array(Set(times.indices.filter { times[$0] != nil }).subtracting(existing))
        for shard in existing {
            guard let status = try? folder.files.status(at: folder.layout.shardDirectory(shard)) else { continue }
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

    /// Holds what the index says of a shard against the directory, which is right.
    /// - Parameter checksKnown: whether the files that the index has are checked, too: somebody else may have put others in their place.
    /// - Returns: the directory as it was before it was listed; nil when it is not there or cannot be read.
    @discardableResult
    func reconcile(_ shard: Int, checksKnown: Bool = true) -> FileStatus? {
        var holdsTemporaries = false
        return reconcile(shard, checksKnown: checksKnown, &holdsTemporaries)
    }

    /// - Parameter holdsTemporaries: set when somebody writes an entry there, or was ended while writing one.
    func reconcile(_ shard: Int, checksKnown: Bool, _ holdsTemporaries: inout Bool) -> FileStatus? {
        guard (try? folder.check()) != nil else { return nil }
        let directory = folder.layout.shardDirectory(shard)
        return folder.withTurn(ofShard: shard) { () -> FileStatus? in
            var status: FileStatus?
            do throws(FileFault) {
                status = try folder.files.status(at: directory)
            } catch  where error.isMissing {
                status = nil
            } catch {
                return nil
            }
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
                        if status.isRegularFile { found.append((id, status)) }
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
