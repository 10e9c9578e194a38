/// Corrects the checksum of every chunk of a PNG. Otherwise nearly all inputs that a fuzzer makes would fail at the
/// first chunk.
enum PNGChecksums {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func mend(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var start = 8
        while start + 12 <= bytes.count {
            let count = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + count
            guard end + 4 <= bytes.count else { break }
            let sum = ~bytes[start + 4..<end].reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 255)] ^ ($0 >> 8) }
            for place in 0..<4 { bytes[end + place] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - place * 8)) }
            start = end + 4
        }
        return bytes
    }
}
