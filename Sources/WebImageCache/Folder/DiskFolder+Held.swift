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

// Apart from reading the bytes, the cost of a small hit is mostly the resolution of its path. The directory is kept
// open, so that paths are relative to it.
extension DiskFolder {
    /// The open directory of the entries.
    struct HeldDirectory {
        var directory: OpenDirectory?
        /// Why the directory at the path cannot be used.
        var fault: FileFault?
        /// When it was last checked that the path still leads to it.
        var seen: Duration = .zero

        func isFresh(_ now: Duration) -> Bool {
            (directory != nil || fault != nil) && now >= seen && now - seen < replacementDelay
        }
    }

    /// How long hits and stores may not notice that the directory was replaced.
    static let replacementDelay: Duration = .milliseconds(10)

    /// Nil if there is no directory yet, or it cannot be opened.
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
            release()
            guard error.isUntrusted else { return nil }
            log.note(.readOnly, .warning, "\(error.readError("the disk cache is not used", at: error.path).message)")
            held.withLock { ($0.fault, $0.seen) = (error, now) }
            throw error
        }
    }

    /// The path of an entry's file in the open directory; nil if the directory must be checked first.
    func knownPath(of id: EntryID) -> FilePath? {
        let now = clock.now
        return held.withLock { $0.isFresh(now) ? $0.directory : nil }.map { FilePath(CacheLayout.name(of: id), in: $0) }
    }

    /// The directory that is at the path now: the open one, or another.
    private func openDirectory() throws(FileFault) -> OpenDirectory {
        if let known = held.withLock({ $0.directory }),
            let status = try? files.linkStatus(at: layout.versionDirectory), status.isSameFile(as: known.status),
            CacheLayout.isOurs(status)
        {
            return known
        }
        guard try layout.check(files) else { throw FileFault("open", layout.versionDirectory, ENOENT) }
        let directory = try OpenDirectory(layout.versionDirectory, files)
        guard CacheLayout.isOurs(directory.status) else { throw .untrusted(layout.versionDirectory) }
        return directory
    }

    /// Releases the directory: the next path is absolute, or relative to the directory that is there then.
    func release() {
        let old = held.withLock { held in
            defer { (held.directory, held.fault) = (nil, nil) }
            return held.directory
        }
        // Closed here, without the lock.
        _ = consume old
    }
}
