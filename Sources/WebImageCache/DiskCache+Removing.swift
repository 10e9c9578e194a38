package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Removes the entry of that key. Blocks.
    ///
    /// - Parameter order: the removal's place; what was stored since stays. Nil: it beats every write that has begun.
    /// - Returns: whether there was one.
    @discardableResult
    package func remove(_ key: CacheKey, as order: DiskWriteOrder? = nil) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = folder.layout.path(of: id)
        let wasStaged = unwritten.unstage(id, before: order?.number)
        do throws(FileFault) {
            return try folder.withTurn(of: id) { () throws(FileFault) in try remove(id, as: order) } || wasStaged
        } catch {
            throw writing(error, path)
        }
    }

    /// Removes an entry's file. In the entry's turn.
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

    /// Removes every entry, those of other processes included; not what is being written. Blocks.
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
        if let failure { throw writing(failure, folder.layout.versionDirectory) }
        // What the index still has was stored since, or wiped by somebody else.
        for record in books.withLock({ $0.index.recordsByDate }) { forget(record.id) }
        room.tellOthers()
    }

    /// Removes the entries that `predicate` names; returns how many went. Blocks; reads the end of every file.
    @discardableResult
    package func remove(where predicate: (DiskEntryInfo) -> Bool) throws(WebImageError) -> Int {
        var count = 0
        for entry in try entries() where predicate(entry) {
            guard let name = entry.path.split(separator: "/").last, let id = EntryID(name: String(name)) else {
                continue
            }
            do throws(FileFault) {
                let wasThere = try folder.withTurn(of: id) { () throws(FileFault) in try remove(id) }
                if wasThere { count += 1 }
            } catch {
                throw writing(error, entry.path)
            }
        }
        return count
    }

    /// Lets the least recently used entries go until the cache takes no more than that. Blocks.
    package func trim(to bytes: ByteCount) throws(WebImageError) {
        do throws(FileFault) { _ = try folder.listShards() } catch {
            throw writing(error, folder.layout.versionDirectory)
        }
        guard room.trim(to: Int64(max(bytes.bytes, 0))) else { throw cannotRemove() }
    }

    /// Removes what was not used for too long, and temporary files that dead processes left. Blocks.
    /// - Returns: how many entries went.
    @discardableResult
    package func removeExpired() throws(WebImageError) -> Int {
        guard let count = room.removeExpired() else { throw cannotRemove() }
        return count
    }

    private func cannotRemove() -> WebImageError {
        WebImageError(.readOnly, "cache entries cannot be removed", location: folder.layout.versionDirectory)
    }

    // MARK: - What is not an entry any more

    /// The file is not there: the index must not say otherwise.
    func forget(_ id: EntryID) {
        guard books.withLock({ $0.index.contains(id) }) else { return }
        folder.withTurn(of: id) {
            // A store may have come in between.
            let isGone = (try? folder.files.status(at: folder.layout.path(of: id))) == nil
            if isGone { books.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    /// Removes an entry's file, unless it is another one by now.
    func drop(_ id: EntryID, _ path: String, _ status: FileStatus) {
        folder.withTurn(of: id) {
            guard let current = try? folder.files.status(at: path), current.inode == status.inode else { return }
            do throws(FileFault) {
                let freed = try room.removeFile(of: id)
                books.withLock { $0.remove(id, freed: freed) }
            } catch {
                folder.noteRemovalFault(error)
            }
        }
    }

    /// Nothing of ours is a link.
    func removeLink(_ id: EntryID, _ path: String) {
        folder.withTurn(of: id) {
            guard let status = try? folder.files.linkStatus(at: path), status.isLink else { return }
            books.withLock { $0.statistics.corruptEntries += 1 }
            if (try? folder.files.remove(path)) != nil { books.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    /// The whole directory has gone: the index must not say otherwise.
    func forgetEntries() { books.withLock { $0.removeAll() } }
}
