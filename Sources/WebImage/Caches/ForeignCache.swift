import WebImageCache
import WebImageCore
import WebImageDownload

/// A manager's cache that is not an ``ImageCache``. The manager asks it for the finished picture before anything else,
/// and for the original as its first tier.
///
/// Such a cache may lose the metadata of an answer, and with it the information for whom the answer is. Therefore only
/// answers for everybody who makes the same request are stored in it.
final class ForeignCache: BytesTier {
    let cache: any ImageCaching
    /// Long, because the cache's disk may be slow, and no tier before it could answer sooner.
    let readDeadline = Duration.seconds(5)
    /// How long others wait for the store of a finished picture, which the cache may have to encode first.
    static let storeDeadline = Duration.seconds(30)
    static let isLate = WebImageError(
        .deadlineExceeded, "the cache did not store a picture within \(storeDeadline.inWords)")

    init(_ cache: any ImageCaching) { self.cache = cache }

    // MARK: - Finished pictures

    /// The picture, if it is in the cache's memory. Synchronous.
    func cachedImage(for request: ImageRequest) -> Image? { cache.cachedImage(for: request) }

    /// The picture from any layer of the cache.
    func image(for request: ImageRequest) async throws(WebImageError) -> CachedImage? {
        let caching = request.options.caching
        return try await cache.image(for: request, in: caching.query, promotes: caching.store.contains(.memory))
    }

    /// Stores a finished picture in the layers that the request names.
    ///
    /// - Parameters:
    ///   - response: the answer from which it was made; nil for files and similar sources, which need not be on disk
    ///     twice.
    ///   - serializer: decides which bytes are stored on disk; nil: the cache itself.
    func store(
        _ image: Image, for request: ImageRequest, _ response: StoredResponse?, by serializer: CacheSerializer?
    ) async throws(WebImageError) {
        var layers = request.options.caching.store
        var options = CacheStoreOptions(serializer: serializer)
        if let response {
            guard response.isForAnyone else { return }
            options.metadata.set(response)
        } else {
            layers.remove(.disk)
        }
        // The original, which is stored, is the same picture.
        if request.isPlain, request.options.caching.storesOriginal { layers.remove(.disk) }
        if layers.isEmpty { return }
        try await cache.store(image, data: nil, for: request, in: layers, options)
    }

    // MARK: - Originals

    func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry? {
        let body = try await cache.data(for: ImageRequest(cacheKey: key.text))
        return body.map { TierEntry(body: $0, metadata: DiskMetadata()) }
    }

    func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata? {
        let found = try await cache.contains(ImageRequest(cacheKey: key.text), in: .disk)
        return found.isEmpty ? nil : DiskMetadata()
    }

    func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool {
        guard entry.metadata.storedResponse.isForAnyone else { return false }
        return try await cache.storeOriginal(
            entry.body, for: ImageRequest(cacheKey: key.text), CacheStoreOptions(metadata: entry.metadata))
    }

    /// Does nothing: the cache keeps no metadata that could be renewed.
    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        false
    }

    func remove(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await cache.remove(ImageRequest(cacheKey: key.text), from: .disk)
        return true
    }
}

extension StoredResponse {
    /// Whether the answer is not for a particular user.
    fileprivate var isForAnyone: Bool { scope == nil && vary.isEmpty && cookies.isEmpty }
}
