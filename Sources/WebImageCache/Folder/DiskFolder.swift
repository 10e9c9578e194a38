import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// A cache's directory: the paths of its files, the check whether it can be trusted, and changes of single files.
///
/// This class uses the file system, but knows neither the index nor limits nor the order of writes.
final class DiskFolder: Sendable {
    /// Held while files of some of the entries, or their records in the index, are changed.
    private final class Turn: Sendable {
        let lock = Guarded(())
    }

    let layout: CacheLayout
    let files: any FileSystem
    let clock: any LoadClock
    let log: TroubleLog
    let temporaries: TemporaryNames
    let held = Guarded(HeldDirectory())
    /// The paths of files with temporary names that were to be removed, and could not be.
    let leftovers = Guarded<Set<String>>([])
    private let turns = (0..<16).map { _ in Turn() }

    init(_ layout: CacheLayout, _ files: any FileSystem, _ clock: any LoadClock, _ logger: Logger) {
        (self.layout, self.files, self.clock) = (layout, files, clock)
        log = TroubleLog(logger)
        temporaries = TemporaryNames(OwnerName(process: ThisProcess.number))
    }

    var logger: Logger { log.logger }

    /// Seconds since 1970.
    var wallTime: Int64 { clock.wallTime }

    /// Runs `change` while no other thread changes the entry's file and its record in the index.
    func withTurn<Result, Failure: Error>(
        of id: EntryID, _ change: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withTurn(ofShard: id.shard, change)
    }

    /// Runs `change` while no other thread changes entries of one of the 256 directories.
    func withTurn<Result, Failure: Error>(
        ofShard shard: Int, _ change: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try turns[shard & 15].lock.withLock { _ throws(Failure) in try change() }
    }

    // MARK: - Paths

    /// The path of an entry's file. Throws if other users can change the directory.
    func path(of id: EntryID) throws(FileFault) -> FilePath { try path(CacheLayout.name(of: id)) }

    /// The path of a name in the directory of the entries. Throws if other users can change the directory.
    func path(_ name: String) throws(FileFault) -> FilePath {
        guard let directory = try heldDirectory() else { return FilePath(layout.versionDirectory + "/" + name) }
        return FilePath(name, in: directory)
    }

    /// Throws if other users can change the directory: nothing is read, written or removed there.
    func check() throws(FileFault) { _ = try heldDirectory() }

    /// Throws if other users can change a shard's directory. A link in its place is removed, because the cache never makes
    /// links. Call it before something is changed in the shard; for reading, ``FileSystem/open(_:_:)`` refuses links.
    func checkShard(_ shard: Int) throws(FileFault) {
        let path = layout.shardDirectory(shard)
        do throws(FileFault) {
            _ = try layout.checkInner(path, files)
        } catch  where error.isUntrusted {
            guard try files.linkStatus(at: path).isLink else { throw error }
            try files.remove(path)
        }
    }

    // MARK: - Opening

    /// Makes the file of an entry that is about to be written, with a name of ``temporaries``.
    /// - Parameter whenGone: called if the whole directory is missing, before it is made again.
    func makeTemporary(
        _ name: String, for id: EntryID, whenGone: () -> Void
    ) throws(FileFault) -> (path: FilePath, file: Int32) {
        try makingDirectories(for: id, whenGone: whenGone) { () throws(FileFault) in
            let path = try path(name)
            return (path, try files.open(path, .createNew))
        }
    }

    /// Runs `action`, which writes in the entry's shard; if a directory is missing, makes it and runs `action` again.
    /// - Parameter whenGone: called if the whole directory is missing, before it is made again.
    func makingDirectories<Result>(
        for id: EntryID, whenGone: () -> Void, _ action: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        try checkShard(id.shard)
        do throws(FileFault) {
            return try action()
        } catch  where error.isMissing {
            // Usually only the shard is missing.
            let shard = try path(CacheLayout.shardNames[id.shard])
            if (try? files.makeDirectory(shard)) != nil {
                do throws(FileFault) { return try action() } catch  where error.isMissing {}
            }
            release()
            if (try? files.status(at: layout.versionDirectory)) == nil { whenGone() }
            try layout.makeDirectories(files)
            try files.makeDirectory(layout.shardDirectory(id.shard))
            return try action()
        }
    }

    /// Opens an entry's file again and locks it, as for appending a trailer. Network file systems lock only files that
    /// are open for writing.
    /// - Parameter forWriting: whether something will be appended. If so, a file that cannot be written is an error.
    /// - Returns: nil if another thread or process has the lock, or the file is missing.
    func openLocked(_ path: String, forWriting: Bool = false) throws(FileFault) -> Int32? {
        let file: Int32
        do {
            file = try files.open(path, .updateOwn)
        } catch  where error.isMissing {
            return nil
        } catch {
            if forWriting { throw error }
            // Without write access no one appends anything.
            file = try files.open(path, .readOwn)
        }
        do throws(FileFault) {
            if try files.lock(file, within: .zero) { return file }
        } catch {
            files.close(file)
            throw error
        }
        files.close(file)
        return nil
    }

    /// The end of an entry's file; nil if the file is missing or damaged.
    func readTail(_ path: String) throws(FileFault) -> EntryFile.Tail? {
        guard let file = try EntryFile.open(path, files) else { return nil }
        defer { file.close() }
        guard case .passed(let tail) = try file.readTail(file.status()) else { return nil }
        return tail
    }
}
