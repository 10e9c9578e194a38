public import WebImageCore

/// A blurred placeholder in some twenty to thirty characters (BlurHash, by Wolt): a picture's average colour and a few
/// cosine waves.
///
///     let hash = try BlurHash(of: image)
///     print(hash)  // LEHV6nWB2yk8pyo0adR*.7kCMdnj
///     let placeholder = try BlurHash(text).image(width: 32, height: 32)
///
/// It contains neither transparency nor the aspect ratio: store width and height beside it. ``ThumbHash`` contains
/// both. Any thread may use it.
public struct BlurHash: Hashable, Sendable {
    /// The values of the characters, 0 to 82 each: one for the number of waves, one for the strongest wave, four for
    /// the average, two for each wave.
    let digits: [UInt8]

    init(digits: [UInt8]) { self.digits = digits }

    /// Reads a hash. The text is validated.
    ///
    /// - Throws: `badImageData` if the text has a character that BlurHash does not use, or another length than its
    ///   first character says. The message says which.
    public init(_ text: String) throws(WebImageError) {
        guard text.utf8.count <= Self.longest else {
            throw Self.damaged("has \(text.utf8.count) bytes, and \(Self.longest) are the most")
        }
        var digits: [UInt8] = []
        for (place, byte) in text.utf8.enumerated() {
            let value = Self.values[Int(byte)]
            guard value < 83 else { throw Self.damaged("has a character at \(place) that no BlurHash has") }
            digits.append(value)
        }
        guard let first = digits.first, first <= 80 else { throw Self.damaged("does not begin with a count of waves") }
        self.digits = digits
        let expected = 4 + 2 * components.x * components.y
        guard digits.count == expected else {
            throw Self.damaged("has \(digits.count) characters and should have \(expected) by its first one")
        }
    }

    /// The text, 6 to 166 characters of ASCII. Some of them have a meaning in URLs and HTML, so that the text must be
    /// escaped there.
    public var text: String { String(decoding: digits.map { Self.characters[Int($0)] }, as: UTF8.self) }

    /// The number of waves across and down, including the constant one; 1 to 9 each.
    public var components: (x: Int, y: Int) { (x: Int(digits[0]) % 9 + 1, y: Int(digits[0]) / 9 + 1) }

    /// The average of the picture's light, as a colour.
    public var averageColor: RGBColor {
        let color = number(2..<6)
        // The text may encode more than 24 bits.
        return RGBColor(
            red: UInt8(clamping: color >> 16), green: UInt8(truncatingIfNeeded: color >> 8),
            blue: UInt8(truncatingIfNeeded: color))
    }

    /// The number that some of the digits encode, the most significant digit first.
    func number(_ places: Range<Int>) -> Int { digits[places].reduce(0) { $0 * 83 + Int($1) } }
}

extension BlurHash {
    static let longest = 4 + 2 * 81

    private static let characters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: .max, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static func damaged(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "the text is no BlurHash: it \(reason)")
    }
}

extension BlurHash: CustomStringConvertible {
    /// The ``text``.
    public var description: String { text }
}

extension BlurHash: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(WebImageError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
