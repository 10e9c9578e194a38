public import WebImageCache
public import WebImageCore

/// A cache of pictures: ``ImageCache``, several caches joined (``ImageCaches``), or a type of your own.
///
/// A request names a picture by two keys: one for its original (the URL, or ``ImageRequest/Caching/key``), and one for
/// the finished picture (size, transformers and everything else that changes pixels). A cache ignores how a request is
/// to be loaded, its ``ImageRequest/Caching/policy`` for example. A string stands for the original with that key.
///
/// Every call may come from any thread. A cancelled task gets `cancelled` at once.
public protocol ImageCaching: AnyObject, Sendable {
    /// Returns the picture if it is in memory. Synchronous; must not block.
    func cachedImage(for request: ImageRequest) -> Image?

    /// Returns the picture as the request describes it; nil if there is none.
    ///
    /// - Parameters:
    ///   - request: names the picture.
    ///   - layers: where to look.
    ///   - promotes: whether a picture that was found on disk is then stored in memory.
    /// - Throws: `cacheIO`, `badImageData` and similar errors for an entry that is not a picture, `cancelled`.
    func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage?

    /// Returns the bytes on disk from which ``image(for:in:promotes:)`` would make the picture; nil if there are none.
    ///
    /// - Throws: `cacheIO`, `cancelled`.
    func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]?

    /// Returns the layers that have the picture, or on disk an original from which it can be made. This does not count
    /// as a use.
    ///
    /// - Throws: `cacheIO`, `cancelled`.
    func contains(_ request: ImageRequest, in layers: CacheLayers) async throws(WebImageError) -> CacheLayers

    /// Stores a picture under the keys of the request. A manager asked for a picture with a size or transformers looks
    /// for the finished one on disk only if the request also stores it there (``ImageRequest/Caching/store``).
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - data: its encoded bytes; nil: the cache encodes the picture (``CacheEncoding``).
    ///   - request: names the picture.
    ///   - layers: where it is stored.
    ///   - options: the metadata of the entry, and the serializer.
    /// - Returns: whether every layer has stored it; false if a limit leaves no room, or if the key was removed or
    ///   stored again meanwhile.
    /// - Throws: `cannotEncode`, `noSpace`, `readOnly`, `cacheIO`, `cancelled`; the picture is then still stored in
    ///   memory.
    @discardableResult
    func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool

    /// Stores the bytes of an original on disk.
    ///
    /// - Returns: false if there is no room or no disk, or if the key was removed or stored again meanwhile.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`, `cancelled`.
    @discardableResult
    func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool

    /// Removes a picture and its original, so that nothing is left from which the request's picture could be made.
    ///
    /// - Throws: `readOnly`, `cacheIO`, `cancelled`.
    func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError)

    /// Removes everything.
    ///
    /// - Throws: `readOnly`, `cacheIO`, `cancelled`.
    func clear(_ layers: CacheLayers) async throws(WebImageError)

    /// Removes expired entries.
    ///
    /// - Throws: `readOnly`, `cacheIO`, `cancelled`.
    func removeExpired() async throws(WebImageError)
}

/// How a picture is stored.
public struct CacheStoreOptions: Sendable {
    /// The metadata that is stored with the bytes, extended data for example. Its `expiresAt` also limits the picture's
    /// life in memory. If `format` and `url` are nil, they are filled in.
    public var metadata: DiskMetadata
    /// Decides which bytes are stored on disk. Default nil: the cache's own serializer.
    public var serializer: CacheSerializer?

    public init(metadata: DiskMetadata = DiskMetadata(), serializer: CacheSerializer? = nil) {
        self.metadata = metadata
        self.serializer = serializer
    }
}

extension ImageCaching {
    /// Like ``image(for:in:promotes:)``; looks in all layers, and promotes.
    public func image(
        for request: ImageRequest, in layers: CacheLayers = .all
    ) async throws(WebImageError) -> CachedImage? {
        try await image(for: request, in: layers, promotes: true)
    }

    public func contains(_ request: ImageRequest) async throws(WebImageError) -> CacheLayers {
        try await contains(request, in: .all)
    }

    @discardableResult
    public func store(
        _ image: Image, data: [UInt8]? = nil, for request: ImageRequest, in layers: CacheLayers = .all
    ) async throws(WebImageError) -> Bool {
        try await store(image, data: data, for: request, in: layers, CacheStoreOptions())
    }

    @discardableResult
    public func storeOriginal(_ data: [UInt8], for request: ImageRequest) async throws(WebImageError) -> Bool {
        try await storeOriginal(data, for: request, CacheStoreOptions())
    }

    public func remove(_ request: ImageRequest) async throws(WebImageError) { try await remove(request, from: .all) }

    public func clear() async throws(WebImageError) { try await clear(.all) }
}

// MARK: - String keys

extension ImageCaching {
    public func cachedImage(for key: String) -> Image? { cachedImage(for: ImageRequest(cacheKey: key)) }

    public func image(
        for key: String, in layers: CacheLayers = .all, promotes: Bool = true
    ) async throws(WebImageError) -> CachedImage? {
        try await image(for: ImageRequest(cacheKey: key), in: layers, promotes: promotes)
    }

    public func data(for key: String) async throws(WebImageError) -> [UInt8]? {
        try await data(for: ImageRequest(cacheKey: key))
    }

    public func contains(_ key: String, in layers: CacheLayers = .all) async throws(WebImageError) -> CacheLayers {
        try await contains(ImageRequest(cacheKey: key), in: layers)
    }

    @discardableResult
    public func store(
        _ image: Image, data: [UInt8]? = nil, for key: String, in layers: CacheLayers = .all,
        _ options: CacheStoreOptions = CacheStoreOptions()
    ) async throws(WebImageError) -> Bool {
        try await store(image, data: data, for: ImageRequest(cacheKey: key), in: layers, options)
    }

    @discardableResult
    public func storeOriginal(
        _ data: [UInt8], for key: String, _ options: CacheStoreOptions = CacheStoreOptions()
    ) async throws(WebImageError) -> Bool {
        try await storeOriginal(data, for: ImageRequest(cacheKey: key), options)
    }

    public func remove(_ key: String, from layers: CacheLayers = .all) async throws(WebImageError) {
        try await remove(ImageRequest(cacheKey: key), from: layers)
    }
}
