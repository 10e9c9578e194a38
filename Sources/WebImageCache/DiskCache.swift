import Logging
package import WebImageCore
import WebImageSystem

/// A cache of entries on disk, by key.
///
/// An entry may be lost, but is never wrong. It contains its key, its length and checksums, is written under a
/// temporary name and renamed, and is checked when it is read; an entry that fails is dropped. By default entries that
/// were not used for a week are removed, and the least recently used ones are evicted before the limit is reached.
/// Several processes may use one directory.
///
/// Safe to use from any thread. Each operation has two versions with the same name: an asynchronous one for everybody,
/// and a blocking one within this package, for code that already runs on the I/O executor.
public final class DiskCache: Sendable {
    // The four parts have folders of their own: `Folder`, `Unwritten`, `Index` and `Room`; each one knows only those
    // before it. `Books` puts the values of index and room behind one lock. Extensions of this class use them to read,
    // write and list.

    package let configuration: DiskCacheConfiguration
    let executor: any WorkExecutor
    let folder: DiskFolder
    let unwritten: UnwrittenEntries
    let books: GuardedBooks
    let index: IndexKeeper
    let room: DiskRoom

    /// Makes a cache. Returns at once: the directory is scanned in the background, and created when the first entry is
    /// written.
    ///
    /// - Parameters:
    ///   - configuration: the directory and the limits.
    ///   - threads: the number of threads that read and write files. Default 2.
    public convenience init(_ configuration: DiskCacheConfiguration, threads: Int = 2) {
        self.init(configuration, executor: ThreadPool(name: "wi-disk", width: max(threads, 1)))
    }

    /// Makes a cache with an executor of the caller's. Returns at once, like the public initializer.
    ///
    /// - Parameters:
    ///   - executor: runs the asynchronous operations and the background work.
    package init(
        _ configuration: DiskCacheConfiguration, executor: any WorkExecutor,
        clock: any LoadClock = SystemClock.shared, files: any FileSystem = PosixFileSystem()
    ) {
        self.configuration = configuration
        self.executor = executor
        folder = DiskFolder(
            CacheLayout(directory: configuration.directory, namespace: configuration.namespace), files, clock,
            configuration.logger)
        unwritten = UnwrittenEntries(clock)
        books = GuardedBooks(limits: configuration.limits)
        index = IndexKeeper(folder, books, executor)
        room = DiskRoom(folder, books, index, executor)
        executor.run(.low) { [weak room] in room?.open() }
        if let interval = configuration.maintenanceInterval { room.scheduleMaintenance(every: interval) }
    }

    /// Sets the limits. Lower limits apply to the next store; background work then makes room.
    package func setLimits(_ limits: DiskCacheConfiguration.Limits) {
        books.withLock { $0.ledger.setLimits(limits) }
        room.startUpkeep()
    }

    /// Reserves a part of the limit for partial bodies from now on.
    ///
    /// - Parameter removeExpired: called whenever expired entries are removed, on the thread that removes them.
    func keepPartials(removeExpired: @escaping @Sendable () -> Void) {
        books.withLock { $0.ledger.keepsPartials = true }
        room.alsoRemoveExpired(removeExpired)
    }
    var partialLimit: Int64 { books.withLock { $0.ledger.partialLimit } }

    // MARK: - Opening and flushing

    /// Calls `run` when the directory has been scanned, or at once if it has been. Waiting for this on a thread of the
    /// executor would keep the thread from hits, which need not wait. `run` must not block.
    package func whenOpen(_ run: @escaping @Sendable () -> Void) { index.whenOpen(run) }

    /// Waits until the directory has been scanned. Blocks.
    package func finishOpening() { index.finishScan() }

    /// Writes staged entries and the index; see the asynchronous version. Blocks.
    package func flush() throws(WebImageError) {
        defer { index.flush() }
        try writeAllStaged()
    }

    /// Writes the changes of the index, and hits and misses. No entry is lost if this does not happen. Blocks.
    package func flushIndex() { index.flush() }

    // MARK: - Facts

    /// How much space the cache takes on disk. O(1), from the index.
    public var usage: DiskUsage {
        books.withLock { books in
            DiskUsage(
                bytes: ByteCount(Int(books.usage)), count: books.index.count,
                limit: ByteCount(Int(books.ledger.byteLimit)), isComplete: books.scan.isDone)
        }
    }

    /// What the cache has done since it was opened.
    public var statistics: DiskStatistics { books.withLock { $0.statistics } }

    /// Hits and misses of all processes that have used the directory, as far as they have saved them, and those of this
    /// process.
    public var history: DiskHistory {
        let counts = books.withLock { $0.allCounts }
        return DiskHistory(hits: Int(clamping: counts.hits), misses: Int(clamping: counts.misses))
    }

    /// A problem of the index's sums and links; nil if there is none. For tests; O(n).
    package func fault() -> String? { books.withLock { $0.index.fault() } }

    /// Seconds since 1970, by the cache's clock.
    package var wallTime: Int64 { folder.wallTime }

    // MARK: - Faults

    func reading(_ fault: FileFault, _ path: String) -> WebImageError {
        note(fault.readError("a cache entry cannot be read", at: path))
    }

    func removing(_ fault: FileFault, _ path: String) -> WebImageError {
        note(fault.writeError("a cache entry cannot be removed", at: path))
    }

    func writing(_ fault: FileFault, _ path: String) -> WebImageError {
        note(fault.writeError("a cache entry cannot be written", at: path))
    }

    /// Counts a failure, which the caller reports.
    private func note(_ error: WebImageError) -> WebImageError {
        folder.logger.debug("\(error)")
        books.withLock { $0.statistics.faults += 1 }
        return error
    }
}
