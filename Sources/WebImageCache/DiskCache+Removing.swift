package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Removes the entry of a key. Blocks.
    ///
    /// - Parameter order: the removal's place; entries that were stored later stay. Nil: all writes that have begun are
    ///   cancelled.
    /// - Returns: whether there was an entry.
    @discardableResult
    package func remove(_ key: CacheKey, as order: DiskWriteOrder? = nil) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = folder.layout.path(of: id)
        let wasStaged = unwritten.unstage(id, before: order?.number)
        do throws(FileFault) {
            return try folder.withTurn(of: id) { () throws(FileFault) in try remove(id, as: order) } || wasStaged
        } catch {
            throw removing(error, path)
        }
    }

    /// Removes an entry's file. Call it in the entry's turn.
    private func remove(_ id: EntryID, as order: DiskWriteOrder? = nil) throws(FileFault) -> Bool {
        if let order {
            guard order.isWanted else { return false }
        } else {
            unwritten.cancelWrites(of: id)
        }
        var (wasThere, freed): (Bool, Freed?) = (true, .nothing)
        do {
            freed = try room.removeFile(of: id)
        } catch  where error.isMissing {
            wasThere = false
        }
        books.withLock { $0.remove(id, freed: freed) }
        return wasThere
    }

    /// Removes an entry's file, unless it has been replaced. Call it in the entry's turn.
    ///
    /// - Returns: whether it was removed.
    private func remove(_ id: EntryID, ifStill file: FileStatus) throws(FileFault) -> Bool {
        guard let current = try? folder.files.status(at: folder.layout.path(of: id)), current.inode == file.inode
        else { return false }
        var freed = Freed?.none
        do throws(FileFault) { freed = try room.removeFile(of: id) } catch  where error.isMissing { return false }
        books.withLock { $0.remove(id, freed: freed) }
        return true
    }

    /// Removes all entries, including those of other processes; entries that are being written stay. Blocks.
    package func removeAll() throws(WebImageError) {
        index.finishScan()
        unwritten.cancelAll()
        var failure: FileFault?
        do throws(FileFault) {
            try folder.forEachEntryFile { id, path in
                folder.withTurn(of: id) {
                    do throws(FileFault) { _ = try remove(id) } catch { failure = error }
                }
            }
        } catch {
            failure = failure ?? error
        }
        if let failure { throw removing(failure, failure.path) }
        // Entries still in the index were stored since, or removed by other processes.
        for record in books.withLock({ $0.index.recordsByDate }) { forget(record.id) }
        room.tellOthers()
    }

    /// Removes the entries that match `predicate`; returns their number. Blocks; reads the end of every file. An entry
    /// that is stored again meanwhile stays, as the predicate has not seen it.
    ///
    /// - Throws: the first failure, after all other entries were tried.
    @discardableResult
    package func remove(where predicate: (DiskEntryInfo) -> Bool) throws(WebImageError) -> Int {
        var count = 0
        var (found, failure) = try listed()
        for (entry, id, file) in found where predicate(entry) {
            do throws(FileFault) {
                if try folder.withTurn(of: id, { () throws(FileFault) in try remove(id, ifStill: file) }) { count += 1 }
            } catch {
                let error = removing(error, entry.path)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Evicts the least recently used entries until the cache takes no more than `bytes`. Blocks.
    package func trim(to bytes: ByteCount) throws(WebImageError) {
        do throws(FileFault) {
            _ = try folder.listShards()
            try room.trim(to: Int64(max(bytes.bytes, 0)))
        } catch {
            throw removing(error, error.path)
        }
    }

    /// Removes expired entries, and temporary files of dead processes. Blocks.
    /// - Returns: how many entries were removed.
    @discardableResult
    package func removeExpired() throws(WebImageError) -> Int {
        do throws(FileFault) { return try room.removeExpired() } catch { throw removing(error, error.path) }
    }

    // MARK: - What is not an entry any more

    /// The file is missing, so the entry is removed from the index.
    func forget(_ id: EntryID) {
        guard books.withLock({ $0.index.contains(id) }) else { return }
        folder.withTurn(of: id) {
            // The entry may have been stored again in between.
            let isGone = (try? folder.files.status(at: folder.layout.path(of: id))) == nil
            if isGone { books.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    /// Removes an entry's file, unless it has been replaced.
    func drop(_ id: EntryID, _ status: FileStatus) {
        folder.withTurn(of: id) {
            do throws(FileFault) { _ = try remove(id, ifStill: status) } catch { folder.noteRemovalFault(error) }
        }
    }

    /// The cache never makes links, so a link in the place of an entry's file or of its directory is removed.
    func removeLink(_ id: EntryID, _ path: String) {
        folder.withTurn(of: id) {
            try? folder.checkShard(id.shard)
            guard let status = try? folder.files.linkStatus(at: path), status.isLink else { return }
            books.withLock { $0.statistics.corruptEntries += 1 }
            if (try? folder.files.remove(path)) != nil { books.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    /// The whole directory is missing, so all entries are removed from the index.
    func forgetEntries() { books.withLock { $0.removeAll() } }
}
