/// The last 64 bytes of an entry's file. Little-endian:
///
/// | offset | size | what |
/// |---|---|---|
/// | 0 | 8 | magic `WIMGDISK` |
/// | 8 | 2 | version, 1 |
/// | 10 | 2 | length of the footer, 64 |
/// | 12 | 4 | zero |
/// | 16 | 8 | length of the body, which starts at 0 |
/// | 24 | 8 | checksum of the body |
/// | 32 | 8 | offset of the trailer |
/// | 40 | 8 | length of the trailer, which ends where the footer starts |
/// | 48 | 8 | checksum of the trailer |
/// | 56 | 8 | checksum of these 56 bytes |
///
/// All checksums are XXH3-64. Between body and trailer may lie trailers and footers that are no longer valid.
struct DiskFooter: Equatable {
    static let length = 64
    static let magic: [UInt8] = Array("WIMGDISK".utf8)
    static let version: UInt16 = 1

    var bodyLength: Int64
    var bodyChecksum: UInt64
    var trailerOffset: Int64
    var trailerLength: Int64
    var trailerChecksum: UInt64

    func encoded() -> [UInt8] {
        var out = ByteWriter()
        for byte in Self.magic { out.integer(byte) }
        out.integer(Self.version)
        out.integer(UInt16(Self.length))
        out.integer(UInt32(0))
        out.integer(bodyLength)
        out.integer(bodyChecksum)
        out.integer(trailerOffset)
        out.integer(trailerLength)
        out.integer(trailerChecksum)
        out.integer(Checksum.of(out.bytes))
        return out.bytes
    }

    /// Nil when the last bytes of a file of `fileSize` bytes are not a footer that fits it.
    static func decode(_ bytes: UnsafeRawBufferPointer, fileSize: Int64) -> DiskFooter? {
        guard bytes.count == length else { return nil }
        var reader = ByteReader(bytes: bytes)
        guard let magic = reader.bytes(8), magic.elementsEqual(Self.magic),
            reader.integer(UInt16.self) == version, reader.integer(UInt16.self) == UInt16(length),
            reader.integer(UInt32.self) == 0,
            let bodyLength = reader.integer(Int64.self), let bodyChecksum = reader.integer(UInt64.self),
            let trailerOffset = reader.integer(Int64.self), let trailerLength = reader.integer(Int64.self),
            let trailerChecksum = reader.integer(UInt64.self),
            reader.integer(UInt64.self) == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<56]))
        else { return nil }
        let end = fileSize - Int64(length)
        guard bodyLength >= 0, trailerLength >= 0, trailerOffset >= bodyLength, trailerOffset <= end,
            trailerLength == end - trailerOffset
        else { return nil }
        return DiskFooter(
            bodyLength: bodyLength, bodyChecksum: bodyChecksum, trailerOffset: trailerOffset,
            trailerLength: trailerLength, trailerChecksum: trailerChecksum)
    }
}
