import WebImageCore

extension ImageRequest {
    /// What the caches do for a load: which of them are asked, by which rules, and what they keep.
    ///
    /// There are two things to keep: the *original*, as the origin sent it, on disk; and the *finished picture*, decoded to its
    /// size and transformed, in memory and, if that is wanted, encoded on disk. ``policy`` says whether a load reads and
    /// stores at all, and when the origin is asked; the other properties say what, within that.
    public struct Caching: Hashable, Sendable {
        /// When the origin is asked. Default ``CachePolicy/cacheFirst``.
        public var policy = CachePolicy.cacheFirst
        /// The name under which the original is cached, in place of the URL. Default nil: the URL.
        public var key: String?
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
        /// Whether another size of the picture will do that memory has already. Default ``SizePrecision/exact``.
        public var sizePrecision = SizePrecision.exact
        /// Decides which bytes of this picture go to disk, in place of the manager's own
        /// (``ImageManager/Configuration/cacheSerializer``). Default nil.
        public var serializer: CacheSerializer?
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
        /// The same without what concerns one picture only, or stands in the original's key.
        var ofBytes: Caching {
            if key == nil, sizePrecision == .exact, serializer == nil { return self }
            var caching = self
            caching.key = nil
            caching.sizePrecision = .exact
            caching.serializer = nil
            return caching
        }
    }
}

extension ImageRequest.Caching: HasDefault {
    @usableFromInline package static let standard = MostlyDefaultBox(Self())
}

/// Two uses are the same when they mean the very same cache.
private struct CacheIdentity: Hashable, Sendable {
    let cache: ImageCache

    static func == (one: Self, other: Self) -> Bool { one.cache === other.cache }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(cache)) }
}
