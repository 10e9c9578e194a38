/// RFC 4648 base64 as browsers read it in `data:` URLs: whitespace is skipped, padding may be missing, and the letters
/// of the URL-safe alphabet are accepted too.
package enum Base64 {
    /// Encodes bytes with padding and the alphabet of section 4.
    package static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? letters[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; nil if it holds other characters or has a length that no encoder produces.
    package static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var (bits, count, padding): (UInt32, Int, Int) = (0, 0, 0)
        for byte in text {
            let value = values[Int(byte)]
            if value < 64 {
                guard padding == 0 else { return nil }
                bits = bits << 6 | UInt32(value)
                count += 1
                if count == 4 {
                    bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
                    (bits, count) = (0, 0)
                }
            } else if byte == UInt8(ascii: "=") {
                padding += 1
            } else if value == invalid {
                return nil
            }
        }
        guard padding == 0 || (count + padding == 4 && padding <= 2) else { return nil }
        switch count {
        case 0: break
        case 2: bytes.append(UInt8(bits >> 4 & 255))
        case 3: bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
        return bytes
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let blank: UInt8 = 254
    private static let invalid: UInt8 = 255

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        for letter in " \t\n\r\u{C}".utf8 { values[Int(letter)] = blank }
        return values
    }()
}
