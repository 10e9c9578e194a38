/// An sRGB colour that may be translucent, 8 bits a channel, not multiplied by its alpha.
public struct RGBAColor: Hashable, Sendable, Codable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8
    /// The opacity: 0 is transparent, 255 is opaque. Default 255.
    public var alpha: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    public init(_ color: RGBColor) { self.init(red: color.red, green: color.green, blue: color.blue) }

    /// A colour in CSS's hexadecimal digits, with or without `#`: `f80`, `ff8800`, and with alpha `f80c` or `ff8800cc`.
    /// Nil for anything else.
    public init?(hex text: some StringProtocol) {
        var digits = text.utf8.map(\.hexDigitValue)
        if text.utf8.first == UInt8(ascii: "#") { digits.removeFirst() }
        guard [3, 4, 6, 8].contains(digits.count), !digits.contains(nil) else { return nil }
        var values = digits.compactMap { $0 }
        if values.count < 6 { values = values.flatMap { [$0, $0] } }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: values.count, by: 2) { bytes.append(values[index] * 16 + values[index + 1]) }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }

    public static let clear = RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)
    public static let white = RGBAColor(.white)
    public static let black = RGBAColor(.black)
}

/// `#ff8800`, and with an alpha that is not opaque `#ff8800cc`.
extension RGBAColor: CustomStringConvertible {
    public var description: String {
        let bytes = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return bytes.reduce("#") { text, byte in
            text + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
