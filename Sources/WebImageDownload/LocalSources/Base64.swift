/// RFC 4648 base64 as browsers read it in `data:` URLs: blanks are passed over, padding may be missing; the URL-safe
/// letters are taken too.
enum Base64 {
    /// Nil when there is anything else in it, or a length that no encoder makes.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
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

    private static let blank: UInt8 = 254
    private static let invalid: UInt8 = 255

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        for letter in " \t\n\r\u{C}".utf8 { values[Int(letter)] = blank }
        return values
    }()
}
