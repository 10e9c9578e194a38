import Synchronization
import WebImageCore
import WebImageSystem

/// Keeps the index consistent with the directory, which takes precedence: scans it when the cache is opened, learns the
/// changes of other caches, and writes the index, so that the next process need not scan.
///
/// This class uses the folder and the books, but knows neither the distribution of room nor the order of writes.
final class IndexKeeper: Sendable {
    let folder: DiskFolder
    let books: GuardedBooks
    let executor: any WorkExecutor
    /// The index's files.
    let store: IndexStore
    /// Held during the scan, so that callers that need the result wait for it.
    private let scanTurn = Guarded(())
    /// Held while the index is written. The state of each file; nil if it is not known.
    let flushTurn = Guarded([KnownIndexFile?](repeating: nil, count: IndexStore.fileCount))

    /// With fewer entries, reading the files again costs less than writing the index.
    private static let minIndexedCount = 1000

    init(_ folder: DiskFolder, _ books: GuardedBooks, _ executor: any WorkExecutor) {
        (self.folder, self.books, self.executor) = (folder, books, executor)
        store = IndexStore(
            layout: folder.layout, files: folder.files, temporaryPrefix: folder.temporaries.prefix)
    }

    /// Scans the directory, or waits for the running scan; does nothing if it has been scanned. Blocks.
    func finishScan() {
        guard !books.withLock({ $0.scan.isDone }) else { return }
        scanTurn.withLock { _ in
            guard !books.withLock({ $0.scan.isDone }) else { return }
            var found = findEntries()
            let space = folder.space()
            if let space { books.withLock { $0.ledger.setBlockLength(space.block) } }
            measureOwnFiles()
            let delay = books.withLock { books in
                books.finishScan(
                    &found.index, shardTimes: found.times, strays: found.strays, freeSpace: space?.free)
                books.journal.earlierCounts = found.counts
                // Reading a few files is faster than writing them.
                if books.index.count >= Self.minIndexedCount, found.scanned.count >= 8 {
                    books.journal.changes.note(shards: found.scanned)
                }
                return books.scheduleFlush()
            }
            scheduleFlush(after: delay)
            for run in books.withLock({ $0.scan.takeWaiting() }) { run() }
        }
    }

    /// Calls `run` when the directory has been scanned, or at once if it has been. `run` must not block.
    func whenOpen(_ run: @escaping @Sendable () -> Void) {
        if books.withLock({ $0.scan.wait(run) }) { return }
        run()
    }

    /// Measures the cache's own files, which count, too. The tag and the common total count from the beginning, because
    /// another thread may be about to make them. If two threads measure at once, the one that saw less may come last,
    /// so the measured size never shrinks.
    func measureOwnFiles() {
        let own = [folder.layout.usagePath, folder.layout.directory + "/CACHEDIR.TAG"]
        let least = books.withLock { $0.ledger.blockLength }
        let bytes = own.reduce(0) { $0 + max((try? folder.files.status(at: $1))?.blockBytes ?? 0, least) }
        let indexBytes = (0..<IndexStore.fileCount).reduce(0) {
            $0 + ((try? folder.files.status(at: store.path($1)))?.blockBytes ?? 0)
        }
        // Beginnings of downloads that another object or program keeps here. They have a limit of their own, which is
        // taken from that of the entries.
        let hasPartials = (try? folder.files.status(at: folder.layout.partialDirectory)) != nil
        books.withLock { books in
            if hasPartials { books.ledger.keepsPartials = true }
            books.ledger.overhead = max(books.ledger.overhead, bytes)
            books.ledger.indexBytes = indexBytes
        }
    }
}
