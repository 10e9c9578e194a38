import Logging
import Synchronization
public import WebImageCore
import WebImageSystem

/// Entries on disk, by key: the bytes of a picture as they came, and what is known of them.
///
/// An entry may be lost, but is never wrong: it carries its key, its length and checksums, is written under a temporary
/// name and renamed, and is checked when it is read; what fails is dropped. Entries that were not used for
/// a week go, and the least recently used go before the limit is reached. Several processes may use one directory.
///
/// Safe to use from any thread. Each operation is there twice under one name: asynchronous, for everybody, and
/// blocking, within this package, for code that runs on the I/O executor already.
///
/// SDWebImage's rows K-01 to K-21, CC-01 to CC-14 and DK-01 to DK-04.
public final class DiskCache: Sendable {
    package let configuration: DiskCacheConfiguration
    let folder: DiskFolder
    let executor: any WorkExecutor
    let synchronises: Bool
    let state: Guarded<DiskState>
    /// Held by whoever evicts, so that others who need room wait for what is about to come free. Taken before stripes.
    let evictionTurn = Guarded(())
    /// Held while the directory is scanned, so that who needs the result waits for it.
    let scanTurn = Guarded(())
    /// Held while the index is written down. How its files were left; nil where that is not known.
    let flushTurn = Guarded([KnownIndexFile?](repeating: nil, count: IndexStore.fileCount))
    /// The next removal of what has expired.
    let maintenance = Guarded<ScheduledAction?>(nil)
    /// Taken before the state's lock and before stripes, after the eviction's turn.
    let membership = Guarded<DiskMembership?>(nil)
    let unwritten: UnwrittenEntries

    /// Returns at once; the directory is scanned in the background, and made when there is something to write.
    ///
    /// - Parameters:
    ///   - executor: where the asynchronous operations and the background work run.
    package init(
        _ configuration: DiskCacheConfiguration, executor: any WorkExecutor,
        clock: any LoadClock = SystemClock.shared, files: any FileSystem = PosixFileSystem()
    ) {
        self.configuration = configuration
        folder = DiskFolder(
            CacheLayout(directory: configuration.directory, namespace: configuration.namespace), files, clock,
            configuration.logger)
        self.executor = executor
        unwritten = UnwrittenEntries(clock)
        synchronises = configuration.synchronises
        state = Guarded(DiskState(limits: configuration.limits))
        executor.run(.low) { [weak self] in
            self?.finishScan()
            self?.keepHouse()
        }
        scheduleMaintenance()
    }

    deinit {
        maintenance.withLock { $0 }?.cancel()
        leaveForGood()
    }

    /// Lower limits hold for the next store; the background makes room.
    package func setLimits(_ limits: DiskCacheConfiguration.Limits) {
        state.withLock { $0.setLimits(limits) }
        keepHouse()
    }

    /// Leaves room for beginnings of bodies within the limit from now on.
    func keepPartials() { state.withLock { $0.keepsPartials = true } }
    var partialLimit: Int64 { state.withLock { $0.partialLimit } }

    /// What the cache takes on disk. O(1), from the index.
    public var usage: DiskUsage {
        state.withLock { state in
            DiskUsage(
                bytes: ByteCount(Int(state.usage)), count: state.index.count,
                limit: ByteCount(Int(state.byteLimit)), isComplete: state.isScanned)
        }
    }

    public var statistics: DiskStatistics { state.withLock { $0.statistics } }

    /// Hits and misses of all processes that have used the directory, as far as they have written them down, and this
    /// one's.
    public var history: DiskHistory {
        let counts = state.withLock { $0.allCounts }
        return DiskHistory(hits: Int(clamping: counts.hits), misses: Int(clamping: counts.misses))
    }

    /// What is wrong with the index's sums and links, or nil. For tests; O(n).
    package func fault() -> String? { state.withLock { $0.index.fault() } }

    /// Seconds since 1970, by the cache's clock.
    package var wallTime: Int64 { folder.wallTime }

    /// An entry's file is about to be written, until ``endEntry()``.
    func beginEntry() { state.withLock { $0.entriesBeingWritten += 1 } }
    func endEntry() { state.withLock { $0.entriesBeingWritten -= 1 } }

    /// The whole directory has gone.
    func forgetAll() { state.withLock { $0.removeAll() } }

    /// Gives a finished file its name, in place of what had it. In the entry's turn.
    /// - Returns: what that has freed on the disk; nil: what was known of the entry.
    func place(_ temporary: FilePath, at path: FilePath) throws(FileFault) -> Freed? {
        let before = state.withLock { $0.sharedRecounts }
        let bytes = try folder.put(temporary, inPlaceOf: path, isShared: before != nil)
        return Freed(bytes, before: before)
    }

    /// Removes an entry's file. In the entry's turn.
    /// - Returns: what that has freed on the disk; nil: what was known of the entry.
    func takeFile(of id: EntryID) throws(FileFault) -> Freed? {
        let before = state.withLock { $0.sharedRecounts }
        return Freed(try folder.removeFile(of: id, isShared: before != nil), before: before)
    }
}

/// What a disk cache takes.
public struct DiskUsage: Hashable, Sendable {
    /// Allocated blocks of entries and of temporary files, those being written included.
    public var bytes: ByteCount
    /// Entries.
    public var count: Int
    /// What `bytes` never passes by this process's doing.
    public var limit: ByteCount
    /// False while the directory is still being scanned: then there may be more.
    public var isComplete: Bool
}

/// What all caches of a directory have answered, since the index was first written down.
public struct DiskHistory: Hashable, Sendable {
    public var hits: Int
    public var misses: Int
    /// 0 to 1; nil before anything was looked for.
    public var hitRatio: Double? { hits + misses == 0 ? nil : Double(hits) / Double(hits + misses) }
}

/// What a disk cache has done since it was opened.
public struct DiskStatistics: Hashable, Sendable {
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Stores that did not happen because there was no room for them within the limit.
    public var skippedStores = 0
    /// Entries that left because of a limit.
    public var evictions = 0
    /// Entries that failed their checks and were dropped; each is a miss, too.
    public var corruptEntries = 0
    /// Operations that the file system refused.
    public var faults = 0
}
