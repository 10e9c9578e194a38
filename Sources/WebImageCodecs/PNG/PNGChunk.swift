/// The parts of a PNG's chunks (PNG specification, section 5).
enum PNGChunk {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A chunk with its length, name and checksum.
    static func make(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let covered = Array(name.utf8) + data
        return big(UInt32(data.count)) + covered + big(checksum(covered))
    }

    /// Whether bytes can be the head of a chunk: its length and its name, which is of letters. If the name's first byte
    /// says that the chunk is no necessary one, the others do not matter: decoders ignore such chunks (PNG
    /// specification, 13.2).
    static func isHead(length: Int, name: ArraySlice<UInt8>) -> Bool {
        let isOptional = name.first.map { (0x61...0x7A).contains($0) } ?? false
        return length <= Int(Int32.max) && (isOptional || name.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) })
    }

    static func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    static func number(_ bytes: [UInt8], at place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether an `acTL` chunk announces an animation. Browsers show the still picture if its numbers are invalid (PNG
    /// specification, 7.1: up to 2 to the power of 31, less one).
    static func announces(frames: UInt32, plays: UInt32) -> Bool {
        frames > 0 && max(frames, plays) <= UInt32(Int32.max)
    }

    /// CRC-32 (PNG specification, annex D).
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in checksums[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
    }

    private static let checksums: [UInt32] = (0..<256).map { byte in (0..<8).reduce(byte) { value, _ in timesX(value) }
    }

    /// Computes the checksum for the same data after other bytes from the `old` one, without reading the data; if `old`
    /// was wrong, so is the result.
    ///
    /// A CRC is linear: the difference of two beginnings propagates through the data as through zeros.
    static func checksum(_ old: UInt32, of count: Int, behind before: [UInt8], movedBehind after: [UInt8]) -> UInt32 {
        var power = UInt32(1) << 23
        var shift = UInt32(1) << 31
        var rest = count
        while rest > 0 {
            if rest & 1 == 1 { shift = product(shift, power) }
            power = product(power, power)
            rest >>= 1
        }
        return old ^ product(checksum(before) ^ checksum(after), shift)
    }

    /// A polynomial times x, modulo the polynomial of the CRC. The highest bit is the coefficient of x to the power of
    /// 0.
    private static func timesX(_ value: UInt32) -> UInt32 {
        value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
    }

    private static func product(_ first: UInt32, _ second: UInt32) -> UInt32 {
        var (sum, term) = (UInt32(0), second)
        for bit in (UInt32(0)..<32).reversed() {
            if first >> bit & 1 == 1 { sum ^= term }
            term = timesX(term)
        }
        return sum
    }
}
