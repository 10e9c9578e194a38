import WebImageCore

/// What of one load the caches are asked for and keep, where its ``CachePolicy`` reads and stores at all.
///
/// There are two things to keep: the *original*, as the origin sent it, on disk; and the *finished picture*, decoded to its
/// size and transformed, in memory and, if that is wanted, encoded on disk.
public struct CacheUse: Hashable, Sendable {
    /// Where the finished picture is looked for. Default everywhere; on disk only where ``store`` has the disk, too.
    public var query = CacheLayers.all
    /// Where the finished picture is kept. Default memory. With the disk a picture that differs from its original is
    /// encoded and written in the background, so that the next process need not make it again: worth it for expensive
    /// transformers and small copies of large pictures.
    public var store = CacheLayers.memory
    /// Whether the original is looked for on disk. Default true.
    public var readsOriginal = true
    /// Whether the original is kept on disk. Default true.
    public var storesOriginal = true
    /// Whether the load ends only when what it stores is on disk, or was given up. Default false.
    public var waitsForStore = false
    /// Takes the place of the manager's caches: the finished picture and the original are looked for and kept there.
    /// Default nil: the manager's own.
    public var cache: ImageCache? {
        get { ownCache?.cache }
        set { ownCache = newValue.map(CacheIdentity.init) }
    }
    /// Where the original is looked for and kept, on disk, in place of ``cache`` or the manager's. Default nil.
    public var originalCache: ImageCache? {
        get { ownOriginals?.cache }
        set { ownOriginals = newValue.map(CacheIdentity.init) }
    }

    private var ownCache: CacheIdentity?
    private var ownOriginals: CacheIdentity?

    public init() {}

    /// Whether the finished picture is written to disk, too.
    var keepsOnDisk: Bool { store.contains(.disk) }
    /// Whether it is looked for there.
    var looksOnDisk: Bool { keepsOnDisk && query.contains(.disk) }
}

/// Two uses are the same when they mean the very same cache.
private struct CacheIdentity: Hashable, Sendable {
    let cache: ImageCache

    static func == (one: Self, other: Self) -> Bool { one.cache === other.cache }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(cache)) }
}
