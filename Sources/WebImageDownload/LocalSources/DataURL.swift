import WebImageCore

/// The bytes and media type of a `data:` URL (RFC 2397, parsed as leniently as browsers do). Accepts any text without
/// trapping.
struct DataURL {
    /// The type as in the URL; `text/plain;charset=US-ASCII` if there is none.
    let mediaType: String
    let bytes: [UInt8]

    /// - Parameter limit: bytes; a text that is certainly longer is refused before it is decoded.
    /// - Throws: `invalidURL` if there is no comma or the base64 is invalid, `bodyTooLarge`.
    init(_ text: String, limit: Int) throws(WebImageError) {
        var rest = text.utf8[...]
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")) { rest = rest[rest.index(after: colon)...] }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else {
            throw WebImageError(.invalidURL, "the data: URL has no comma", location: redactedURL(text))
        }
        let described = String(Substring(rest[..<comma]))
        let (type, isBase64) = Self.typeAndEncoding(described)
        mediaType = type
        let data = rest[rest.index(after: comma)...]
        // An escape takes three bytes for one, base64 four for three: together at most four for each byte of the
        // result.
        guard data.count / 4 <= limit else { throw Self.tooLarge(limit, text) }
        let decoded = PercentEncoding.decoded(data)
        if isBase64 {
            guard let bytes = Base64.decoded(decoded) else {
                throw WebImageError(.invalidURL, "the data: URL's base64 is broken", location: redactedURL(text))
            }
            self.bytes = bytes
        } else {
            bytes = decoded
        }
        guard bytes.count <= limit else { throw Self.tooLarge(limit, text) }
    }

    private static func typeAndEncoding(_ described: String) -> (String, isBase64: Bool) {
        var parts = described.split(separator: ";", omittingEmptySubsequences: false).map { $0.lowercasedTrimmed }
        let isBase64 = parts.count > 1 && parts.last == "base64"
        if isBase64 { parts.removeLast() }
        guard let type = parts.first, type.contains("/") else { return ("text/plain;charset=US-ASCII", isBase64) }
        return (parts.joined(separator: ";"), isBase64)
    }

    private static func tooLarge(_ limit: Int, _ text: String) -> WebImageError {
        WebImageError(
            over: .body, code: .bodyTooLarge, "the data: URL holds more than the limit of \(ByteCount(limit))",
            location: redactedURL(text))
    }
}

extension Substring {
    fileprivate var lowercasedTrimmed: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text.lowercased()
    }
}
