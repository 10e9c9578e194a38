import Synchronization
import WebImageCore
import WebImageSystem

/// Keeps the cache within its limits: reserves room for writes, evicts the least recently used entries, and shares the
/// limits with the other caches of the directory.
///
/// This class uses the folder, the books and the index, but does not know which entries are written.
final class DiskRoom: Sendable {
    let folder: DiskFolder
    let books: GuardedBooks
    let index: IndexKeeper
    let executor: any WorkExecutor
    /// Held during eviction, so that other threads that need room wait for the room being freed. Taken before the turns
    /// of entries.
    let evictionTurn = Guarded(())
    /// Taken before the books' lock and before the turns of entries, after the eviction turn.
    let membership = Guarded<DiskMembership?>(nil)
    /// The next removal of expired entries.
    let maintenance = Guarded<ScheduledAction?>(nil)
    /// Functions that remove other expired files of the directory, such as partial bodies.
    private let otherRemovals = Guarded<[@Sendable () -> Void]>([])

    init(_ folder: DiskFolder, _ books: GuardedBooks, _ index: IndexKeeper, _ executor: any WorkExecutor) {
        (self.folder, self.books, self.index, self.executor) = (folder, books, index, executor)
    }

    /// Scans the directory, and starts eviction if it is needed. Blocks.
    func open() {
        index.finishScan()
        startUpkeep()
    }

    deinit {
        maintenance.withLock { $0 }?.cancel()
        leaveForGood()
    }

    /// Calls `remove` whenever expired entries are removed.
    func alsoRemoveExpired(_ remove: @escaping @Sendable () -> Void) { otherRemovals.withLock { $0.append(remove) } }

    func removeOtherExpired() {
        for remove in otherRemovals.withLock({ $0 }) { remove() }
    }

    // MARK: - Promises

    /// Reserves bytes within the limit; evicts the least recently used entries if there is no room. Blocks.
    /// - Returns: false if evictions cannot make that room.
    func reserve(_ bytes: Int64) -> Bool {
        measureFreeSpace(for: bytes)
        if reserveHeadroom(bytes) || sharing({ $0.reserveFreeRoom(bytes) }) { return true }
        return evictionTurn.withLock { _ in
            if books.withLock({ $0.ledger.hasOthers }) { learnOfOthers() }
            var hasLearnt = false
            while true {
                switch sharing({ $0.reserve(bytes) }) {
                case .granted: return true
                case .evict(let victims):
                    guard (try? unlink(victims)) != nil else { return false }
                    measureFreeSpace(for: bytes)
                case .refused:
                    guard !hasLearnt, books.withLock({ $0.maySucceedLater(bytes) }) else { return false }
                    hasLearnt = true
                    learnOfOthers()
                }
            }
        }
    }

    /// Reserves the blocks of a file that has more than its length suggests.
    /// - Returns: false if there is no room for them.
    func reserveBlocks(of file: Int32, _ reserved: inout Int64) throws(FileFault) -> Bool {
        let missing = try folder.files.status(of: file).blockBytes - reserved
        guard missing > 0 else { return true }
        guard reserve(missing) else { return false }
        reserved += missing
        return true
    }

    /// Releases reserved bytes that will not be used.
    func release(_ bytes: Int64) { books.withLock { $0.ledger.release(bytes) } }

    /// The minimum disk space of a file with that length, in this file system's blocks.
    func blocks(_ length: Int64) -> Int64 { FileStatus.blocks(length, of: books.withLock { $0.ledger.blockLength }) }

    /// An entry will be written, until ``endEntry()``; it counts towards the maximum number of entries.
    func beginEntry() { books.withLock { $0.ledger.entriesBeingWritten += 1 } }

    func endEntry() { books.withLock { $0.ledger.entriesBeingWritten -= 1 } }

    /// Measures the free space if the cache must leave some.
    private func measureFreeSpace(for bytes: Int64) {
        guard books.withLock({ $0.ledger.wantsSpace(for: bytes) }), let free = folder.space()?.free else { return }
        books.withLock { $0.ledger.setFreeSpace(free) }
    }

    // MARK: - Files

    /// Gives a finished file its name, and replaces the previous file. Call it in the entry's turn.
    /// - Returns: the bytes that were freed on the disk; nil: the known size of the entry.
    func place(_ temporary: FilePath, at path: FilePath) throws(FileFault) -> Freed? {
        let before = books.withLock { $0.ledger.sharedRecounts }
        let bytes = try folder.put(temporary, inPlaceOf: path, isShared: before != nil)
        return Freed(bytes, before: before)
    }

    /// Removes an entry's file. Call it in the entry's turn.
    /// - Returns: the bytes that were freed on the disk; nil: the known size of the entry.
    func removeFile(of id: EntryID) throws(FileFault) -> Freed? {
        let before = books.withLock { $0.ledger.sharedRecounts }
        return Freed(try folder.removeFile(of: id, isShared: before != nil), before: before)
    }
}
