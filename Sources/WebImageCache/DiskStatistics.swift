public import WebImageCore

/// How much space a disk cache takes.
public struct DiskUsage: Hashable, Sendable {
    /// The allocated space of entries and of temporary files, including files that are being written.
    public var bytes: ByteCount
    /// The number of entries.
    public var count: Int
    /// The limit that this process never lets `bytes` exceed.
    public var limit: ByteCount
    /// Whether the directory has been scanned. Until then the cache may hold more than these figures say.
    public var isComplete: Bool
}

/// The hits and misses of all caches of a directory, since the index was first saved.
public struct DiskHistory: Hashable, Sendable {
    public var hits: Int
    public var misses: Int
    /// The hit ratio from 0 to 1; nil before the first look-up.
    public var hitRatio: Double? { hits + misses == 0 ? nil : Double(hits) / Double(hits + misses) }
}

/// What a disk cache has done since it was opened.
public struct DiskStatistics: Hashable, Sendable {
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Stores that were skipped because there was no room within the limit.
    public var skippedStores = 0
    /// Entries that were evicted because of a limit.
    public var evictions = 0
    /// Entries that failed their checks and were dropped; each also counts as a miss.
    public var corruptEntries = 0
    /// Operations that failed in the file system.
    public var faults = 0
}
