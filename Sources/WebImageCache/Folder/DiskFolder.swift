import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// A cache's directory: where its files lie, whether it may be trusted, and the changes of one file.
///
/// Knows the system, and nothing of the index, of limits or of the order of writes.
final class DiskFolder: Sendable {
    /// Held by whoever changes files of some of the entries, or what the index says of them.
    private final class Turn: Sendable {
        let lock = Guarded(())
    }

    let layout: CacheLayout
    let files: any FileSystem
    let clock: any LoadClock
    let log: TroubleLog
    let temporaries: TemporaryNames
    let held = Guarded(HeldDirectory())
    private let turns = (0..<16).map { _ in Turn() }

    init(_ layout: CacheLayout, _ files: any FileSystem, _ clock: any LoadClock, _ logger: Logger) {
        (self.layout, self.files, self.clock) = (layout, files, clock)
        log = TroubleLog(logger)
        temporaries = TemporaryNames(OwnerName(process: ThisProcess.number))
    }

    var logger: Logger { log.logger }

    /// Seconds since 1970.
    var wallTime: Int64 { clock.wallTime }

    /// Runs `change` while no other thread changes that entry's file and what the index says of it.
    func withTurn<Result, Failure: Error>(
        of id: EntryID, _ change: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withTurn(ofShard: id.shard, change)
    }

    /// The same for all entries of one of the 256 directories.
    func withTurn<Result, Failure: Error>(
        ofShard shard: Int, _ change: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try turns[shard & 15].lock.withLock { _ throws(Failure) in try change() }
    }

    // MARK: - Paths

    /// An entry's file. Throws where the directory is not ours alone.
    func path(of id: EntryID) throws(FileFault) -> FilePath { try path(CacheLayout.name(of: id)) }

    /// What has that name in the directory of the entries. Throws where the directory is not ours alone.
    func path(_ name: String) throws(FileFault) -> FilePath {
        guard let directory = try heldDirectory() else { return FilePath(layout.versionDirectory + "/" + name) }
        return FilePath(name, in: directory)
    }

    /// Throws where the directory is not ours alone: nothing is read, written or removed there.
    func check() throws(FileFault) { _ = try heldDirectory() }

    // MARK: - Opening

    /// Makes the file of an entry that is about to be written, under a name of ``temporaries``.
    /// - Parameter whenGone: called when the whole directory has gone, before it is made anew.
    func makeTemporary(
        _ name: String, for id: EntryID, whenGone: () -> Void
    ) throws(FileFault) -> (path: FilePath, file: Int32) {
        try makingDirectories(for: id, whenGone: whenGone) { () throws(FileFault) in
            let path = try path(name)
            return (path, try files.open(path, .createNew))
        }
    }

    /// Runs `action`; when it lacks a directory, because there never was one or someone wiped it, makes what is missing
    /// and runs it again.
    /// - Parameter whenGone: called when the whole directory has gone, before it is made anew.
    func makingDirectories<Result>(
        for id: EntryID, whenGone: () -> Void, _ action: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        do throws(FileFault) {
            return try action()
        } catch  where error.isMissing {
            // Nearly always it is the shard alone.
            let shard = try path(CacheLayout.shardNames[id.shard])
            if (try? files.makeDirectory(shard)) != nil {
                do throws(FileFault) { return try action() } catch  where error.isMissing {}
            }
            letGo()
            if (try? files.status(at: layout.versionDirectory)) == nil { whenGone() }
            try layout.makeDirectories(files)
            try files.makeDirectory(layout.shardDirectory(id.shard))
            return try action()
        }
    }

    /// Opens an entry's file once more and locks it, as whoever adds a trailer does. File systems of other machines lock
    /// only what is open for writing.
    /// - Returns: nil while somebody else has the lock, or when the file has gone.
    func openLocked(_ path: String) throws(FileFault) -> Int32? {
        let file: Int32
        do {
            file = try files.open(path, .updateOwn)
        } catch  where error.isMissing {
            return nil
        } catch {
            // Where nothing can be written, nobody adds anything.
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

    /// The end of an entry's file; nil where there is no such file, or it is not sound.
    func readTail(_ path: String) throws(FileFault) -> EntryFile.Tail? {
        guard let file = try EntryFile.open(path, files) else { return nil }
        defer { file.close() }
        guard case .passed(let tail) = try file.readTail(file.status()) else { return nil }
        return tail
    }
}
