public import WebImageCore

/// An entry that was read from disk, with all its checks passed.
public struct DiskEntry: Sendable {
    public let key: CacheKey
    /// The bytes as they were stored.
    public let body: [UInt8]
    /// Where the entry's file is or will be, which starts with the body; it may go at any time.
    public var path: String { folder.map { $0 + "/" + name } ?? name }
    private let folder: String?
    private let name: String
    private let known: Known

    private enum Known {
        case metadata(DiskMetadata)
        case encoded(EncodedTrailer)
    }

    /// Decoded when it is asked for, anew each time: most hits need the body alone.
    public var metadata: DiskMetadata {
        switch known {
        case .metadata(let metadata): metadata
        case .encoded(let trailer): trailer.decoded?.metadata ?? DiskMetadata()
        }
    }

    init(key: CacheKey, body: [UInt8], metadata: DiskMetadata, path: String) {
        (self.key, self.body, folder, name, known) = (key, body, nil, path, .metadata(metadata))
    }

    init(key: CacheKey, body: [UInt8], trailer: EncodedTrailer, path: String) {
        (self.key, self.body, folder, name, known) = (key, body, nil, path, .encoded(trailer))
    }

    /// Does not hold the directory open.
    init(key: CacheKey, body: [UInt8], trailer: EncodedTrailer, path: FilePath) {
        (self.key, self.body, known) = (key, body, .encoded(trailer))
        (folder, name) = (path.directory?.path, path.name)
    }
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
    /// Entries whose files the system did not let be read: they stay, and may be sound or not.
    public var unreadable = 0
    /// Files in the cache's folders that are no entries.
    public var orphans = 0
    /// Bad entries and orphans that were removed.
    public var repaired = 0

    public init() {}
}
