import Logging
import Synchronization
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// If several caches write to one directory, an entry's file may differ from the one that this cache knows. A file that
// is to be removed is therefore first renamed to a unique name, so that its blocks are counted once, by the cache that
// removed it.
extension DiskFolder {
    /// Gives a finished file its name, and replaces the previous file. Call it in the entry's turn.
    /// - Parameter isShared: whether other caches write to the directory, too.
    /// - Returns: if it is shared, the bytes that were freed on the disk.
    func put(_ temporary: FilePath, inPlaceOf path: FilePath, isShared: Bool) throws(FileFault) -> Int64? {
        guard isShared else {
            try clearing(path) { () throws(FileFault) in try files.rename(temporary, to: path) }
            return nil
        }
        do throws(FileFault) {
            try files.exchange(temporary, path)
        } catch  where error.isMissing {
            try files.rename(temporary, to: path)
            return 0
        } catch  where error.errorNumber == EINVAL {
            // The file system cannot exchange files; a file that is stored in between is counted twice.
            let old = try? files.status(at: path)
            try files.rename(temporary, to: path)
            return old?.blockBytes ?? 0
        }
        return discard(temporary)
    }

    /// Removes an entry's file. Call it in the entry's turn.
    /// - Returns: if the directory is shared, the bytes that were freed on the disk.
    func removeFile(of id: EntryID, isShared: Bool) throws(FileFault) -> Int64? {
        let path = try path(of: id)
        try checkShard(id.shard)
        guard isShared else {
            try clearing(path) { () throws(FileFault) in try files.remove(path) }
            return nil
        }
        let taken = try self.path(temporaries.next(inShard: id.shard))
        try files.rename(path, to: taken)
        return discard(taken)
    }

    /// - Returns: the freed bytes; 0 if the removal failed. The file then still counts, and its removal is tried again
    ///   together with that of abandoned files of others.
    private func discard(_ taken: FilePath) -> Int64 {
        let bytes = (try? files.status(at: taken))?.blockBytes ?? 0
        do throws(FileFault) {
            try clearing(taken) { () throws(FileFault) in try files.remove(taken) }
            return bytes
        } catch {
            noteRemovalFault(error)
            leftovers.withLock { _ = $0.insert(taken.text) }
            return 0
        }
    }

    /// Removes the file of an entry that is not written after all.
    func removeTemporary(_ path: FilePath) {
        do throws(FileFault) {
            try files.remove(path)
        } catch {
            if !error.isMissing { leftovers.withLock { _ = $0.insert(path.text) } }
        }
    }

    func noteRemovalFault(_ fault: FileFault) {
        log.note(.cacheIO, .warning, "a cache entry cannot be removed: \(fault)")
    }

    /// Runs `action`. If a directory has taken the place of an entry's file, removes it, provided it is empty, and runs
    /// `action` again.
    private func clearing(_ path: FilePath, _ action: () throws(FileFault) -> Void) throws(FileFault) {
        do throws(FileFault) {
            try action()
        } catch  where error.errorNumber == EISDIR {
            try files.removeDirectory(path.text)
            do throws(FileFault) { try action() } catch  where error.isMissing {}
        }
    }
}
