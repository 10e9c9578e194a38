/// Percent-encoding of RFC 3986 section 2.1, on bytes.
///
/// `@usableFromInline`: without it the compiler would not inline ``isLiteral(_:)`` into other modules.
@usableFromInline package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether the byte stands for itself in a path or query (RFC 3986 sections 3.3 and 3.4). Some bytes that browsers
    /// send unencoded against the rule (`|`, `^`, brackets) are encoded here, which means the same.
    @inline(__always) @inlinable package static func isLiteral(_ byte: UInt8) -> Bool { literals.contains(byte) }

    /// The bytes for which ``isLiteral(_:)`` is true: `!$&'()*+,-./0123456789:;=?`, then `@A-Z_a-z~`.
    @inline(__always) @inlinable package static var literals: ASCIISet {
        ASCIISet(low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    }

    /// Encodes the bytes that a URL may not contain and leaves all others as they are. Encoding twice therefore changes
    /// nothing.
    package static func normalised(_ text: Substring) -> String {
        if text.utf8.allSatisfy(isLiteral) { return String(text) }
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let beginsEscape = byte == UInt8(ascii: "%") && isEscape(bytes, at: index)
            if isLiteral(byte) || beginsEscape {
                encoded.append(byte)
            } else {
                append(byte, to: &encoded)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The bytes as text, with those that are not ASCII encoded.
    package static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        var encoded: [UInt8] = []
        for byte in bytes { if byte < 0x80 { encoded.append(byte) } else { append(byte, to: &encoded) } }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func append(_ byte: UInt8, to encoded: inout [UInt8]) {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// The decoded bytes of a text; a `%` that begins no escape stands for itself.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), isEscape(bytes, at: index),
                let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    private static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
        bytes.withUnsafeBufferPointer { isEscape($0, at: index) }
    }

    /// Whether the `%` at `index` begins an escape.
    package static func isEscape(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index + 2 < bytes.count && bytes[index + 1].hexDigitValue != nil && bytes[index + 2].hexDigitValue != nil
    }
}

/// A set of ASCII characters with a bit for each, tested without a branch.
@usableFromInline package struct ASCIISet {
    /// The bytes from 0 to 63, and those from 64 to 127.
    @usableFromInline var low, high: UInt64

    @inline(__always) @inlinable package init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    @inline(__always) @inlinable package func contains(_ byte: UInt8) -> Bool {
        let bits = byte & 64 == 0 ? low : high
        return (bits &>> UInt64(byte & 63)) & ~UInt64(byte &>> 7) & 1 == 1
    }

    /// The same set without a character below 64.
    @inline(__always) @inlinable package func without(_ character: Unicode.Scalar) -> ASCIISet {
        ASCIISet(low: low & ~(1 &<< UInt64(character.value)), high: high)
    }
}
