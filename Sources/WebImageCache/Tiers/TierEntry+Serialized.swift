public import WebImageCore

extension DiskMetadata {
    /// The metadata of an entry as bytes, with the key of the entry: for tiers that keep it somewhere else. What a later
    /// version adds is kept by this one.
    public func serialized(for key: CacheKey) -> [UInt8] {
        DiskTrailer(key, EntryID(key), self, keepsKey: true).encoded().bytes
    }

    /// - Parameters:
    ///   - bytes: as ``serialized(for:)`` gives them. They may be anybody's: whoever cannot trust them keeps a signature
    ///     beside them.
    ///   - key: nil comes for the metadata of another key, and for what is none.
    public init?(serialized bytes: [UInt8], for key: CacheKey) {
        let decoded = bytes.withUnsafeBytes { DiskTrailer.decode($0) }
        guard let trailer = decoded, trailer.key == key.text else { return nil }
        self = trailer.metadata
    }
}
