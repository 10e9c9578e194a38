import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An entry's encoded trailer, with its fields in order. A hit finds what it needs without decoding the rest, which
/// would cost more than reading a small picture.
struct EncodedTrailer {
    let bytes: [UInt8]
    /// The bytes of the key or of its digest.
    private let key: Range<Int>
    private let isDigest: Bool
    let expiresAt: Int64?

    /// Nil if the bytes are not a trailer.
    init?(_ trailer: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes: trailer)
        guard reader.integer(UInt16.self) == DiskTrailer.version, reader.integer(UInt16.self) != nil else { return nil }
        var (key, isDigest, expiresAt): (Range<Int>?, Bool, Int64?) = (nil, false, nil)
        while !reader.isAtEnd {
            guard let tag = reader.integer(UInt16.self), let length = reader.integer(UInt32.self),
                let part = reader.bytes(Int(length))
            else { return nil }
            switch DiskTrailer.Tag(rawValue: tag) {
            case .key, .keyDigest:
                key = reader.offset - part.count..<reader.offset
                isDigest = tag == DiskTrailer.Tag.keyDigest.rawValue
            case .expiresAt:
                guard part.count == 8 else { return nil }
                expiresAt = Int64(littleEndian: part.loadUnaligned(as: Int64.self))
            default: continue
            }
        }
        guard let key else { return nil }
        bytes = Array(trailer)
        (self.key, self.isDigest, self.expiresAt) = (key, isDigest, expiresAt)
    }

    func isOf(_ key: CacheKey, _ id: EntryID) -> Bool {
        if isDigest { return bytes[self.key].elementsEqual(id.bytes) }
        var text = key.text
        return bytes.withUnsafeBytes { bytes in
            let stored = UnsafeRawBufferPointer(rebasing: bytes[self.key])
            return text.withUTF8 { text in
                guard stored.count == text.count, let left = stored.baseAddress, let right = text.baseAddress else {
                    return stored.isEmpty && text.isEmpty
                }
                return memcmp(left, right, stored.count) == 0
            }
        }
    }

    /// Whether the entry's own lifetime has not ended.
    func isAlive(at now: Int64) -> Bool { expiresAt.map { now < $0 } ?? true }

    /// Nil if a field is invalid.
    var decoded: DiskTrailer? { bytes.withUnsafeBytes { DiskTrailer.decode($0) } }
}
