import WebImageCore

extension ImageRequest {
    /// How a load uses the caches: which are asked, by which rules, and what they store.
    ///
    /// The caches hold two things: the *original*, as the origin sent it, on disk; and the *finished picture*, decoded
    /// to its size and transformed, in memory and on request also encoded on disk. ``policy`` decides whether a load
    /// reads and writes caches at all, and when the origin is asked. Within that, the other properties choose what is
    /// read and stored.
    public struct Caching: Hashable, Sendable {
        /// When the origin is asked. Default ``CachePolicy/cacheFirst``.
        public var policy = CachePolicy.cacheFirst
        /// The key under which the original is cached, in place of the URL. Default nil: the URL.
        public var key: String?
        /// Where to look for the finished picture. Default: in all layers; on disk only if ``store`` contains the disk,
        /// too.
        public var query = CacheLayers.all
        /// Where to store the finished picture. Default memory. With the disk, a picture that differs from its original
        /// is encoded and written in the background, so that the next process need not make it again. This is
        /// worthwhile for expensive transformers and small copies of large pictures. While 128 MiB of pictures wait to
        /// be encoded, further ones are not stored on disk, except for loads that wait for it (``waitsForStore``).
        public var store = CacheLayers.memory
        /// Whether the load looks for the original on disk. Default true.
        public var readsOriginal = true
        /// Whether the original is stored on disk. Default true.
        public var storesOriginal = true
        /// Whether the load ends only after its pictures are on disk, or storing them has failed. It does not wait for
        /// the pictures of other originals. Default false.
        public var waitsForStore = false
        /// Whether a picture of another size that is in memory may be used. Default ``SizePrecision/exact``.
        public var sizePrecision = SizePrecision.exact
        /// Decides which bytes of this picture are stored on disk, in place of the manager's own serializer
        /// (``ImageManager/Configuration/cacheSerializer``). Default nil.
        public var serializer: CacheSerializer?
        /// The cache in which the finished picture and the original are looked up and stored, in place of the manager's
        /// caches. Default nil: the manager's caches.
        public var cache: ImageCache? {
            get { ownCache?.cache }
            set { ownCache = newValue.map(CacheIdentity.init) }
        }
        /// The cache for the original on disk, in place of ``cache`` or the manager's. Default nil.
        public var originalCache: ImageCache? {
            get { ownOriginals?.cache }
            set { ownOriginals = newValue.map(CacheIdentity.init) }
        }

        private var ownCache: CacheIdentity?
        private var ownOriginals: CacheIdentity?

        public init() {}

        /// Whether the finished picture is written to disk, too.
        var keepsOnDisk: Bool { store.contains(.disk) }
        /// Whether the finished picture is looked up on disk.
        var looksOnDisk: Bool { keepsOnDisk && query.contains(.disk) }
        /// A copy without the options that concern only one picture or caller, and without ``key``, which is part of
        /// the original's key.
        var ofBytes: Caching {
            if key == nil, sizePrecision == .exact, serializer == nil, !waitsForStore { return self }
            var caching = self
            caching.key = nil
            caching.waitsForStore = false
            caching.sizePrecision = .exact
            caching.serializer = nil
            return caching
        }
    }
}

extension ImageRequest.Caching: HasDefault {
    @usableFromInline package static let standard = MostlyDefaultBox(Self())
}

/// Compares caches by identity.
private struct CacheIdentity: Hashable, Sendable {
    let cache: ImageCache

    static func == (one: Self, other: Self) -> Bool { one.cache === other.cache }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(cache)) }
}
