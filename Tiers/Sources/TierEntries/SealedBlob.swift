public import WebImage

/// An entry as one run of bytes: the length of its head (4 bytes, little-endian), the head, the body.
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

    /// - Returns: nil for bytes that were not made by ``bytes(_:_:for:)`` with the same secret for that key.
    public static func entry(_ bytes: [UInt8], _ seal: EntrySeal, for key: CacheKey) -> TierEntry? {
        guard bytes.count >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << ($1 * 8) }
        guard length <= bytes.count - 4 else { return nil }
        return seal.entry(head: Array(bytes[4..<4 + length]), body: Array(bytes[(4 + length)...]), for: key)
    }
}
