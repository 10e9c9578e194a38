public import WebImageCore

/// A blurred placeholder in at most 25 bytes (ThumbHash, by Evan Wallace): a picture's average colour, aspect ratio,
/// transparency and a few cosine waves.
///
///     let hash = try ThumbHash(of: image)
///     print(hash)  // 3OcRJYB4d3h/iIeHeEh3eIhw+j2w
///     let placeholder = try ThumbHash(base64: text).image()
///
/// Any thread may use it.
public struct ThumbHash: Hashable, Sendable {
    /// 5 to 25 bytes.
    public let bytes: [UInt8]

    init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the bytes of a hash, which are validated.
    ///
    /// - Throws: `badImageData` if the length does not match the first five bytes, or the aspect ratio is impossible.
    public init(bytes: [UInt8]) throws(WebImageError) {
        guard let header = Header(bytes) else { throw Self.damaged("has \(bytes.count) bytes, too few") }
        let most = header.hasAlpha ? 5 : 7
        guard (1...most).contains(header.shorterCount) else { throw Self.damaged("tells a shape that no picture has") }
        let expected = header.byteCount
        guard bytes.count == expected else {
            throw Self.damaged("has \(bytes.count) bytes and should have \(expected) by its first ones")
        }
        self.bytes = bytes
    }

    /// Reads a hash in base64 (RFC 4648), in the standard or the URL-safe alphabet, padded or not.
    ///
    /// - Throws: `badImageData` if the text is not base64, and for the same reasons as ``init(bytes:)``.
    public init(base64 text: String) throws(WebImageError) {
        // 25 bytes are 36 letters.
        guard text.utf8.count <= 64, let bytes = Base64.decoded(Array(text.utf8)) else {
            throw Self.damaged("is not written in base64")
        }
        try self.init(bytes: bytes)
    }

    /// The bytes in base64 (RFC 4648, section 4), padded; 8 to 36 letters.
    public var base64: String { Base64.encoded(bytes) }

    /// The approximate ratio of the picture's width to its height; one side is stored in 5 or 7 steps.
    public var aspectRatio: Double {
        let counts = header.counts
        return Double(counts.x) / Double(counts.y)
    }

    /// Whether the picture has transparency.
    public var hasAlpha: Bool { header.hasAlpha }

    /// The average of the picture's stored values, weighted by alpha.
    public var averageColor: RGBColor {
        let constants = header.constants
        let color = Self.color(constants.light, constants.yellow, constants.red)
        func value(_ part: Double) -> UInt8 { UInt8((max(0, min(1, part)) * 255).rounded()) }
        return RGBColor(red: value(color.red), green: value(color.green), blue: value(color.blue))
    }

    /// The average of the picture's alpha, 0 to 1.
    public var averageOpacity: Double { header.opacity.constant }

    /// The hash was validated when it was made, so it has a header.
    var header: Header { Header(bytes) ?? .empty }

    /// Red, green and blue of the three stored channels.
    static func color(_ light: Double, _ yellow: Double, _ red: Double) -> (red: Double, green: Double, blue: Double) {
        let blue = light - 2 / 3 * yellow
        let mixed = (3 * light - blue + red) / 2
        return (mixed, mixed - red, blue)
    }

    private static func damaged(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "this is no ThumbHash: it \(reason)")
    }
}

extension ThumbHash: CustomStringConvertible {
    /// The ``base64``.
    public var description: String { base64 }
}

extension ThumbHash: Codable {
    /// Reads the text in base64.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(WebImageError) {
            try self.init(base64: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    /// Writes the text in base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64)
    }
}
