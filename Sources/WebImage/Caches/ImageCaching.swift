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
    /// The picture when memory has it. Synchronous; must not block.
    func cachedImage(for request: ImageRequest) -> Image?

    /// The picture as the request wants it; nil when there is none.
    ///
    /// - Parameters:
    ///   - request: names the picture.
    ///   - layers: where to look.
    ///   - promotes: whether a picture that was found on disk is in memory from then on.
    /// - Throws: `cacheIO`, `badImageData` and its kin for an entry that is no picture, `cancelled`.
    func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage?

    /// The bytes on disk that ``image(for:in:promotes:)`` would make the picture of; nil when there are none.
    ///
    /// - Throws: `cacheIO`, `cancelled`.
    func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]?

    /// Which of the layers have the picture, or on disk what it can be made of. Counts as no use.
    ///
    /// - Throws: `cacheIO`, `cancelled`.
    func contains(_ request: ImageRequest, in layers: CacheLayers) async throws(WebImageError) -> CacheLayers

    /// Keeps a picture as the one that the request names.
    ///
    /// - Parameters:
    ///   - image: what is kept.
    ///   - data: its bytes; nil: they are made (``CacheEncoding``).
    ///   - request: names the picture.
    ///   - layers: where it is kept.
    ///   - options: metadata of the entry, and who makes the bytes.
    /// - Returns: whether every layer has it; false when a limit leaves no room, or something else happened to the key.
    /// - Throws: `cannotEncode`, `noSpace`, `readOnly`, `cacheIO`, `cancelled`; memory has the picture then all the same.
    @discardableResult
    func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool

    /// Keeps the bytes of an original on disk.
    ///
    /// - Returns: false when there is no room, no disk, or something else happened to the key.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`, `cancelled`.
    @discardableResult
    func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool

    /// Removes a picture and its original: nothing is left of which the request's picture could be made.
    ///
    /// - Throws: `readOnly`, `cacheIO`, `cancelled`.
    func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError)

    /// Removes everything.
    ///
    /// - Throws: `readOnly`, `cacheIO`, `cancelled`.
    func clear(_ layers: CacheLayers) async throws(WebImageError)

    /// Removes what is too old.
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

// MARK: - Keys that are texts

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
