/// Encodes an error for another process. A cause of type ``WebImageError`` is encoded as it is; of any other cause,
/// only the description is.
extension WebImageError: Codable {
    private enum CodingKeys: CodingKey {
        case code, message, location, format, status, retryAfter, limit, cause
    }

    /// The description of a cause of another type.
    private struct ForeignError: Error, CustomStringConvertible {
        let description: String
    }

    /// The most nested causes that are decoded, since the encoded error may come from an untrusted source.
    private static let maxCauses = 8

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var cause: (any Error & Sendable)?
        if decoder.codingPath.count < Self.maxCauses, values.contains(.cause) {
            if let own = try? values.decode(WebImageError.self, forKey: .cause) {
                cause = own
            } else {
                cause = ForeignError(description: try values.decode(String.self, forKey: .cause))
            }
        }
        self.init(
            try values.decode(Code.self, forKey: .code), try values.decode(String.self, forKey: .message), cause: cause,
            location: try values.decodeIfPresent(String.self, forKey: .location),
            format: try values.decodeIfPresent(ImageFormat.self, forKey: .format),
            status: try values.decodeIfPresent(Int.self, forKey: .status))
        limit = try values.decodeIfPresent(Limit.self, forKey: .limit)
        retryAfter = try values.decodeIfPresent(Duration.self, forKey: .retryAfter)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(code, forKey: .code)
        try values.encode(message, forKey: .message)
        try values.encodeIfPresent(location, forKey: .location)
        try values.encodeIfPresent(format, forKey: .format)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(limit, forKey: .limit)
        try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
        guard let cause else { return }
        if let own = cause as? WebImageError {
            try values.encode(own, forKey: .cause)
        } else {
            try values.encode("\(cause)", forKey: .cause)
        }
    }
}
