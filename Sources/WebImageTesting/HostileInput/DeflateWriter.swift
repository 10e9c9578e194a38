/// Writes a deflate stream of one block with the fixed codes (RFC 1951, section 3.2.6). Tests make compressed data with
/// it, also damaged data and bombs.
package struct DeflateWriter: Sendable {
    /// The bytes so far. The bits after the last one are zero.
    package private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    /// Begins the stream with the head of its last block.
    package init() { write(0b011, count: 3) }

    /// Writes a number from its lowest bit on.
    package mutating func write(_ value: Int, count: Int) {
        for bit in 0..<count {
            if bitCount % 8 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(bitCount % 8)
            bitCount += 1
        }
    }

    /// Writes a code from its highest bit on.
    package mutating func writeCode(_ code: Int, count: Int) {
        for bit in (0..<count).reversed() { write(code >> bit & 1, count: 1) }
    }

    package mutating func writeLiteral(_ byte: UInt8) {
        if byte < 144 {
            writeCode(0x30 + Int(byte), count: 8)
        } else {
            writeCode(0x190 + Int(byte) - 144, count: 9)
        }
    }

    /// Writes the longest copy: 258 bytes.
    ///
    /// - Parameter distance: the code of the distance; 0 for the previous byte. Its extra bits are written separately.
    package mutating func writeLongestCopy(distance: Int = 0) {
        writeCode(0b1100_0101, count: 8)
        writeCode(distance, count: 5)
    }

    package mutating func writeEnd() { writeCode(0, count: 7) }
}

extension DeflateWriter {
    /// - Parameter repeats: how often 258 copies of the last byte follow.
    private static func deflated(_ bytes: [UInt8], repeats: Int = 0) -> [UInt8] {
        var writer = DeflateWriter()
        for byte in bytes { writer.writeLiteral(byte) }
        for _ in 0..<repeats { writer.writeLongestCopy() }
        writer.writeEnd()
        return writer.bytes
    }

    /// A zlib stream (RFC 1950) of bytes, of which the last one is then repeated 258 times `repeats`.
    package static func zlib(_ bytes: [UInt8], repeats: Int = 0) -> [UInt8] {
        let last = [UInt8](repeating: bytes.last ?? 0, count: 258 * repeats)
        return [0x78, 0x01] + deflated(bytes, repeats: repeats) + Checksum.adler32(bytes + last).bigEndianBytes
    }

    /// A gzip file (RFC 1952).
    package static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        gzipHead + deflated(bytes) + Checksum.crc32(bytes).bigEndianBytes.reversed()
            + UInt32(truncatingIfNeeded: bytes.count).bigEndianBytes.reversed()
    }

    /// A gzip file of bytes, of which the last one is then repeated 258 times `repeats`. Its checksum and its length
    /// are wrong.
    package static func gzipBomb(_ bytes: [UInt8], repeats: Int) -> [UInt8] {
        gzipHead + deflated(bytes, repeats: repeats) + [UInt8](repeating: 0, count: 8)
    }

    private static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
}

package enum Checksum {
    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// The checksum of gzip and of PNG's chunks.
    package static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crcTable[Int(($0 ^ UInt32($1)) & 255)] ^ ($0 >> 8) }
    }

    /// The checksum of zlib.
    package static func adler32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> UInt32($0)) }
    }
}
