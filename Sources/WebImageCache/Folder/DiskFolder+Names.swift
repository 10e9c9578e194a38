import Logging
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Where several caches write to one directory, an entry's file may be another one than this cache knows. What is taken
// from the disk is then first given a name that nobody else uses, so that its blocks are counted once, by whoever took it.
extension DiskFolder {
    /// Gives a finished file its name, in place of what had it. In the entry's turn.
    /// - Parameter isShared: whether others write to the directory, too.
    /// - Returns: where it is shared, what that has freed on the disk.
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
            // Not on this file system: what comes in between is counted twice.
            let old = try? files.status(at: path)
            try files.rename(temporary, to: path)
            return old?.blockBytes ?? 0
        }
        return discard(temporary)
    }

    /// Removes an entry's file. In the entry's turn.
    /// - Returns: where the directory is shared, what that has freed on the disk.
    func removeFile(of id: EntryID, isShared: Bool) throws(FileFault) -> Int64? {
        let path = try path(of: id)
        guard isShared else {
            try clearing(path) { () throws(FileFault) in try files.remove(path) }
            return nil
        }
        let taken = try self.path(temporaries.next(inShard: id.shard))
        try files.rename(path, to: taken)
        return discard(taken)
    }

    /// - Returns: what that has freed; 0 where it failed: the next one who looks finds a file of nobody's.
    private func discard(_ taken: FilePath) -> Int64 {
        let bytes = (try? files.status(at: taken))?.blockBytes ?? 0
        do throws(FileFault) {
            try clearing(taken) { () throws(FileFault) in try files.remove(taken) }
            return bytes
        } catch {
            noteRemovalFault(error)
            return 0
        }
    }

    func noteRemovalFault(_ fault: FileFault) {
        log.note(.cacheIO, .warning, "a cache entry cannot be removed: \(fault)")
    }

    /// Runs `action`; where somebody has put a directory in the place of an entry's file, removes it, if it is empty, and
    /// runs it again.
    private func clearing(_ path: FilePath, _ action: () throws(FileFault) -> Void) throws(FileFault) {
        do throws(FileFault) {
            try action()
        } catch  where error.errorNumber == EISDIR {
            try files.removeDirectory(path.text)
            do throws(FileFault) { try action() } catch  where error.isMissing {}
        }
    }
}
