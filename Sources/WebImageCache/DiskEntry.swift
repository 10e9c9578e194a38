public import WebImageCore

/// An entry that was read from disk, with all its checks passed.
public struct DiskEntry: Sendable {
    public let key: CacheKey
    /// The bytes as they were stored.
    public let body: [UInt8]
    public let metadata: DiskMetadata
    /// The entry's file, which starts with the body; it may go at any time.
    public let path: String
}

/// An entry in a listing.
public struct DiskEntryInfo: Hashable, Sendable {
    /// Nil where the cache keeps hashes of keys only.
    public let key: CacheKey?
    public let path: String
    /// The length of the body.
    public let bodyLength: ByteCount
    /// What it takes on disk.
    public let allocated: ByteCount
    /// Its last use, or the other date that the limits go by, in seconds since 1970.
    public let lastUse: Int64
    /// When it will go if it is not used before, in seconds since 1970; nil: only for want of room.
    public let expires: Int64?
    public let metadata: DiskMetadata
}

/// What ``DiskCache/verify()`` found.
public struct DiskVerification: Hashable, Sendable {
    /// Entries that were read in full.
    public var checked = 0
    /// Entries that failed.
    public var bad = 0
    /// Files in the cache's folders that are no entries.
    public var orphans = 0
    /// Bad entries and orphans that were removed.
    public var repaired = 0

    public init() {}
}
