public import WebImageCore

extension DiskMetadata {
    /// Returns the metadata and the key of an entry as bytes, for tiers that store them elsewhere. This version
    /// preserves fields that a later version adds.
    public func serialized(for key: CacheKey) -> [UInt8] {
        DiskTrailer(key, EntryID(key), self, keepsKey: true).encoded().bytes
    }

    /// - Parameters:
    ///   - bytes: bytes from ``serialized(for:)``. They are not authenticated: a tier that cannot trust its storage
    ///     should keep a signature beside them.
    ///   - key: the key of the entry. The result is nil for the metadata of another key, and for invalid bytes.
    public init?(serialized bytes: [UInt8], for key: CacheKey) {
        let decoded = bytes.withUnsafeBytes { DiskTrailer.decode($0) }
        guard let trailer = decoded, trailer.key == key.text else { return nil }
        self = trailer.metadata
    }
}
