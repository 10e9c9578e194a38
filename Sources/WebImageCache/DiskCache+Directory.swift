import Synchronization
import WebImageCore
import WebImageSystem

// Most of what a small hit costs beyond the read of its bytes is the walk along the path to its file. The directory is
// held open, so that the walk starts there.
extension DiskCache {
    /// The directory of the entries, held open.
    struct HeldDirectory {
        var directory: OpenDirectory?
        /// When it was last seen to be in its place.
        var seen: Duration = .zero

        func isFresh(_ now: Duration) -> Bool { directory != nil && now >= seen && now - seen < replacementDelay }
    }

    /// How long a directory that was put in the place of another may go unnoticed by hits and stores.
    static let replacementDelay: Duration = .milliseconds(10)

    /// An entry's file.
    func path(of id: EntryID) -> FilePath { path(CacheLayout.name(of: id)) }

    /// What has that name in the directory of the entries.
    func path(_ name: String) -> FilePath {
        guard let directory = heldDirectory() else { return FilePath(layout.versionDirectory + "/" + name) }
        return FilePath(name, in: directory)
    }

    /// Nil where there is no directory yet, or it cannot be opened.
    private func heldDirectory() -> OpenDirectory? {
        let now = clock.now
        if let directory = held.withLock({ $0.isFresh(now) ? $0.directory : nil }) { return directory }
        guard let status = try? files.status(at: layout.versionDirectory) else {
            letDirectoryGo()
            return nil
        }
        return held.withLock { held in
            if held.directory?.inode != status.inode { held.directory = nil }
            held.directory = held.directory ?? (try? OpenDirectory(layout.versionDirectory, files))
            held.seen = now
            return held.directory
        }
    }

    /// The next path is the whole one, or starts from the directory that is there then.
    func letDirectoryGo() {
        let old = held.withLock { held in
            defer { held.directory = nil }
            return held.directory
        }
        // Closed here, and not under the lock.
        _ = consume old
    }
}
