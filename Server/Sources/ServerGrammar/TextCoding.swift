/// Base64 with the alphabet of URLs, without padding.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil if the text is not base64. Padding is ignored.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.utf8)
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for digit in digits {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}

public enum PercentEncoding {
    /// - Returns: nil if a `%` is not followed by two hex digits, or the result is not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        decodedBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// - Returns: nil if a `%` is not followed by two hex digits.
    static func decodedBytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else { return nil }
            bytes.append(high * 16 + low)
        }
        return bytes
    }

    /// The text of a URL's bytes. Bytes that are not UTF-8 stay percent-encoded, which is how the origin receives them
    /// anyway.
    static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var result = ""
        var rest = bytes[...]
        while let byte = rest.first {
            // A character has four bytes at most.
            let character = (1...min(4, rest.count)).lazy.compactMap {
                String(validating: rest.prefix($0), as: UTF8.self)
            }
            if let character = character.first {
                result += character
                rest = rest.dropFirst(character.utf8.count)
            } else {
                result += "%" + String(byte, radix: 16, uppercase: true)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// The bytes that a text stands for; a `%` without two hex digits stands for itself.
    static func bytes(_ text: some Sequence<UInt8>) -> [UInt8] {
        let encoded = Array(text)
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            if encoded[index] == UInt8(ascii: "%"), index + 2 < encoded.count,
                let high = hexDigit(encoded[index + 1]), let low = hexDigit(encoded[index + 2])
            {
                bytes.append(high * 16 + low)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        return bytes
    }

    /// Encodes everything except letters, digits and `-._~/`.
    public static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = UnicodeScalar(byte)
            if byte < 128,
                Character(scalar).isLetter || Character(scalar).isNumber || "-._~/".unicodeScalars.contains(scalar)
            {
                result.unicodeScalars.append(scalar)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Percent-encodes characters that must not occur in a URL: white space, quotes, brackets and everything outside
    /// ASCII.
    public static func asLink(_ url: String) -> String {
        var result = ""
        for byte in url.utf8 {
            if (0x21...0x7E).contains(byte), !"\"<>\\^`{|}".utf8.contains(byte) {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? { UInt8(String(UnicodeScalar(byte)), radix: 16) }
}
