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
    /// `WIMGDISK`, then version 1, the footer's length and four zeros.
    private static let start: (UInt64, UInt64) = (0x4B53_4944_474D_4957, 1 | UInt64(length) << 16)

    var bodyLength: Int64
    var bodyChecksum: UInt64
    var trailerOffset: Int64
    var trailerLength: Int64
    var trailerChecksum: UInt64

    func encode(to out: inout ByteWriter) {
        let begin = out.bytes.count
        out.integer(Self.start.0)
        out.integer(Self.start.1)
        out.integer(bodyLength)
        out.integer(bodyChecksum)
        out.integer(trailerOffset)
        out.integer(trailerLength)
        out.integer(trailerChecksum)
        out.integer(out.checksum(from: begin))
    }

    /// Nil if the last bytes of a file with `fileSize` bytes are not a valid footer.
    static func decode(_ bytes: UnsafeRawBufferPointer, fileSize: Int64) -> DiskFooter? {
        guard bytes.count == length else { return nil }
        func word(_ number: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self))
        }
        guard word(0) == start.0, word(1) == start.1,
            word(7) == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<56]))
        else { return nil }
        let bodyLength = Int64(bitPattern: word(2))
        let (trailerOffset, trailerLength) = (Int64(bitPattern: word(4)), Int64(bitPattern: word(5)))
        let end = fileSize - Int64(length)
        guard bodyLength >= 0, trailerLength >= 0, trailerOffset >= bodyLength, trailerOffset <= end,
            trailerLength == end - trailerOffset
        else { return nil }
        return DiskFooter(
            bodyLength: bodyLength, bodyChecksum: word(3), trailerOffset: trailerOffset,
            trailerLength: trailerLength, trailerChecksum: word(6))
    }
}
