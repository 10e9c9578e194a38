public import WebImage

/// Encodes an entry as one sequence of bytes: the length of its head (4 bytes, little-endian), the head, the body.
public enum SealedBlob {
    public static func bytes(_ entry: TierEntry, _ seal: EntrySeal, for key: CacheKey) -> [UInt8] {
        let head = seal.head(of: entry, for: key)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + head.count + entry.body.count)
        withUnsafeBytes(of: UInt32(head.count).littleEndian) { bytes += $0 }
        bytes += head
        bytes += entry.body
        return bytes
    }

    /// - Returns: nil if the bytes were not made by ``bytes(_:_:for:)`` with the same secret for that key.
    public static func entry(_ bytes: [UInt8], _ seal: EntrySeal, for key: CacheKey) -> TierEntry? {
        guard let end = headEnd(bytes) else { return nil }
        return seal.entry(head: Array(bytes[4..<end]), body: Array(bytes[end...]), for: key)
    }

    /// - Parameter bytes: an entry, or its beginning.
    /// - Returns: nil if the bytes are not an entry for that key, or do not contain its whole head.
    public static func metadata(_ bytes: [UInt8], _ seal: EntrySeal, for key: CacheKey) -> DiskMetadata? {
        headEnd(bytes).flatMap { seal.metadata(of: Array(bytes[4..<$0]), for: key) }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << ($1 * 8) }
        return length <= bytes.count - 4 ? 4 + length : nil
    }
}
