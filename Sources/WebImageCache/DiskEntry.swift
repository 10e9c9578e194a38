public import WebImageCore

/// An entry that was read from disk and verified.
public struct DiskEntry: Sendable {
    public let key: CacheKey
    /// The bytes as they were stored.
    public let body: [UInt8]
    /// The path of the entry's file, which may not be written yet. The file starts with the body, and may be removed at
    /// any time.
    public var path: String { folder.map { $0 + "/" + name } ?? name }
    private let folder: String?
    private let name: String
    private let known: Known

    private enum Known {
        case metadata(DiskMetadata)
        case encoded(EncodedTrailer)
    }

    /// The metadata. It is decoded each time it is read, since most hits need only the body.
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

    /// Keeps the path as text, so that the entry does not retain the open directory.
    init(key: CacheKey, body: [UInt8], trailer: EncodedTrailer, path: FilePath) {
        (self.key, self.body, known) = (key, body, .encoded(trailer))
        (folder, name) = (path.directory?.path, path.name)
    }
}

/// An entry in a listing.
public struct DiskEntryInfo: Hashable, Sendable {
    /// The key; nil if the cache stores only hashes of keys.
    public let key: CacheKey?
    /// The path of the entry's file.
    public let path: String
    /// The length of the body.
    public let bodyLength: ByteCount
    /// The space that the entry takes on disk.
    public let allocated: ByteCount
    /// The last use, or the other date that the limits use, in seconds since 1970.
    public let lastUse: Int64
    /// When the entry expires if it is not used before, in seconds since 1970; nil: never.
    public let expires: Int64?
    public let metadata: DiskMetadata
}

/// The result of ``DiskCache/verify()``.
public struct DiskVerification: Hashable, Sendable {
    /// Entries that were read in full.
    public var checked = 0
    /// Entries that failed.
    public var bad = 0
    /// Entries whose files the system did not allow the cache to read. They stay, and may be intact or not.
    public var unreadable = 0
    /// Files in the cache's folders that are not entries.
    public var orphans = 0
    /// Bad entries and orphans that were removed.
    public var repaired = 0

    public init() {}
}
