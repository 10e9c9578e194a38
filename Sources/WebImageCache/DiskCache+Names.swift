import Glibc
import Logging
import Synchronization
import WebImageCore
import WebImageSystem

// Where several caches write to one directory, an entry's file may be another one than this cache knows. What is taken
// from the disk is then first given a name that nobody else uses, so that its blocks are counted once, by whoever took it.
extension DiskCache {
    /// Gives a finished file its name, in place of what had it. Under the stripe's lock.
    /// - Returns: what that has freed on the disk; nil: what was known of the entry.
    func put(_ temporary: FilePath, inPlaceOf path: FilePath) throws(FileFault) -> Freed? {
        guard let before = state.withLock({ $0.sharedRecounts }) else {
            try files.rename(temporary, to: path)
            return nil
        }
        do throws(FileFault) {
            try files.exchange(temporary, path)
        } catch  where error.isMissing {
            try files.rename(temporary, to: path)
            return .nothing
        } catch  where error.errorNumber == EINVAL {
            // Not on this file system: what comes in between is counted twice.
            let old = try? files.status(at: path.text)
            try files.rename(temporary, to: path)
            return Freed(bytes: old?.blockBytes ?? 0, before: before)
        }
        return Freed(bytes: discard(temporary), before: before)
    }

    /// Removes an entry's file. Under the stripe's lock.
    /// - Returns: what that has freed on the disk; nil: what was known of the entry.
    func removeFile(of id: EntryID) throws(FileFault) -> Freed? {
        let path = path(of: id)
        guard let before = state.withLock({ $0.sharedRecounts }) else {
            try files.remove(path)
            return nil
        }
        let taken = self.path(makeTemporaryName(id.shard))
        try files.rename(path, to: taken)
        return Freed(bytes: discard(taken), before: before)
    }

    /// - Returns: what that has freed; 0 where it failed: the next one who looks finds a file of nobody's.
    private func discard(_ taken: FilePath) -> Int64 {
        let bytes = (try? files.status(at: taken.text))?.blockBytes ?? 0
        do throws(FileFault) {
            try files.remove(taken)
            return bytes
        } catch {
            logger.warning("a cache entry cannot be removed: \(error)")
            return 0
        }
    }
}
