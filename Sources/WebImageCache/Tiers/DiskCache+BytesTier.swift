public import WebImageCore

extension DiskCache: BytesTier {
    public func entry(for key: CacheKey) async throws(WebImageError) -> TierEntry? {
        try await read(key).map { TierEntry(body: $0.body, metadata: $0.metadata) }
    }

    public func metadata(for key: CacheKey) async throws(WebImageError) -> DiskMetadata? {
        try await readMetadata(key)
    }

    @discardableResult
    public func put(_ entry: TierEntry, for key: CacheKey) async throws(WebImageError) -> Bool {
        try await store(key, entry.body, entry.metadata)
    }

    @discardableResult
    public func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        try await changeMetadata(key, change)
    }
}
