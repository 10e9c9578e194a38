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

// Most of what a small hit costs beyond the read of its bytes is the walk along the path to its file. The directory is
// held open, so that the walk starts there.
extension DiskFolder {
    /// The directory of the entries, held open.
    struct HeldDirectory {
        var directory: OpenDirectory?
        /// Why what has its place is not used.
        var fault: FileFault?
        /// When it was last seen to be in its place.
        var seen: Duration = .zero

        func isFresh(_ now: Duration) -> Bool {
            (directory != nil || fault != nil) && now >= seen && now - seen < replacementDelay
        }
    }

    /// How long a directory that was put in the place of another may go unnoticed by hits and stores.
    static let replacementDelay: Duration = .milliseconds(10)

    /// Nil where there is no directory yet, or it cannot be opened.
    func heldDirectory() throws(FileFault) -> OpenDirectory? {
        let now = clock.now
        let known = held.withLock { $0.isFresh(now) ? ($0.directory, $0.fault) : (nil, nil) }
        if let directory = known.0 { return directory }
        if let fault = known.1 { throw fault }
        do throws(FileFault) {
            let directory = try openDirectory()
            held.withLock { ($0.directory, $0.fault, $0.seen) = (directory, nil, now) }
            return directory
        } catch {
            letGo()
            guard error.isUntrusted else { return nil }
            log.note(.readOnly, .warning, "\(error.readError("the disk cache is not used", at: error.path).message)")
            held.withLock { ($0.fault, $0.seen) = (error, now) }
            throw error
        }
    }

    /// An entry's file in the directory that is held open; nil where that must be looked at anew first.
    func knownPath(of id: EntryID) -> FilePath? {
        let now = clock.now
        return held.withLock { $0.isFresh(now) ? $0.directory : nil }.map { FilePath(CacheLayout.name(of: id), in: $0) }
    }

    /// The directory that is in its place now: the one that is held open already, or another.
    private func openDirectory() throws(FileFault) -> OpenDirectory {
        if let known = held.withLock({ $0.directory }),
            let status = try? files.linkStatus(at: layout.versionDirectory), status.inode == known.inode,
            CacheLayout.isOurs(status)
        {
            return known
        }
        guard try layout.check(files) else { throw FileFault("open", layout.versionDirectory, ENOENT) }
        let directory = try OpenDirectory(layout.versionDirectory, files)
        guard CacheLayout.isOurs(directory.status) else { throw .untrusted(layout.versionDirectory) }
        return directory
    }

    /// The next path is the whole one, or starts from the directory that is there then.
    func letGo() {
        let old = held.withLock { held in
            defer { (held.directory, held.fault) = (nil, nil) }
            return held.directory
        }
        // Closed here, and not under the lock.
        _ = consume old
    }
}
