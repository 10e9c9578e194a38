public import WebImageCore

/// What a disk cache takes.
public struct DiskUsage: Hashable, Sendable {
    /// Allocated blocks of entries and of temporary files, those being written included.
    public var bytes: ByteCount
    /// Entries.
    public var count: Int
    /// What `bytes` never passes by this process's doing.
    public var limit: ByteCount
    /// Whether the directory has been scanned. Until then there may be more than these figures say.
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
