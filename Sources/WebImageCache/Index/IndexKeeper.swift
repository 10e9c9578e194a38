import Synchronization
import WebImageCore
import WebImageSystem

/// Keeps the index true to the directory, which is always right: scans it when the cache is opened, learns what others have
/// changed, and writes down what it knows, so that the next process need not look.
///
/// Knows the folder and the books; not who gets room, nor the order of writes.
final class IndexKeeper: Sendable {
    let folder: DiskFolder
    let books: GuardedBooks
    let executor: any WorkExecutor
    /// The index's files.
    let store: IndexStore
    /// Held while the directory is scanned, so that who needs the result waits for it.
    private let scanTurn = Guarded(())
    /// Held while the index is written down. How its files were left; nil where that is not known.
    let flushTurn = Guarded([KnownIndexFile?](repeating: nil, count: IndexStore.fileCount))

    /// Below so many entries, it costs less to read the files anew than to write down what is known of them.
    private static let leastIndexCount = 1000

    init(_ folder: DiskFolder, _ books: GuardedBooks, _ executor: any WorkExecutor) {
        (self.folder, self.books, self.executor) = (folder, books, executor)
        store = IndexStore(
            layout: folder.layout, files: folder.files, temporaryPrefix: folder.temporaries.prefix)
    }

    /// Scans the directory, or waits for who is scanning it; does nothing once that was done. Blocks.
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
                // A few files are read sooner than they are written down.
                if books.index.count >= Self.leastIndexCount, found.scanned.count >= 8 {
                    books.journal.changes.note(shards: found.scanned)
                }
                return books.scheduleFlush()
            }
            scheduleFlush(after: delay)
            for run in books.withLock({ $0.scan.takeWaiting() }) { run() }
        }
    }

    /// Calls `run` once the directory is scanned, at once where it is. `run` must not block.
    func whenOpen(_ run: @escaping @Sendable () -> Void) {
        if books.withLock({ $0.scan.wait(run) }) { return }
        run()
    }

    /// Measures the cache's own files, which count, too: the tag and the common total from the beginning, since another
    /// thread may be about to make them. Of two threads that measure at once, the one that saw less may come last: what was
    /// seen once stays.
    func measureOwnFiles() {
        let own = [folder.layout.usagePath, folder.layout.directory + "/CACHEDIR.TAG"]
        let least = books.withLock { $0.ledger.blockLength }
        let bytes = own.reduce(0) { $0 + max((try? folder.files.status(at: $1))?.blockBytes ?? 0, least) }
        let indexBytes = (0..<IndexStore.fileCount).reduce(0) {
            $0 + ((try? folder.files.status(at: store.path($1)))?.blockBytes ?? 0)
        }
        books.withLock { books in
            books.ledger.overhead = max(books.ledger.overhead, bytes)
            books.ledger.indexBytes = indexBytes
        }
    }
}
