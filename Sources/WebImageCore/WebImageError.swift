/// Describes what went wrong, and what to do about it. All functions of the library throw this type.
///
/// Compare ``code-swift.property``. Further codes may be added, so a `switch` over them needs a `default`.
public struct WebImageError: Error, Sendable {
    public var code: Code
    /// What happened, in one sentence that helps to solve the problem. It never contains credentials.
    public var message: String
    /// The error that led to this one.
    public var cause: (any Error)? { boxedCause }
    /// The URL or path of the failure, without user, password and query values of credentials.
    public var location: String?
    /// The format of the picture.
    public var format: ImageFormat?
    /// The HTTP status, for ``Code-swift.struct/badStatus``.
    public var status: Int?
    /// How long the server asks to wait (`Retry-After`), for ``Code-swift.struct/badStatus``; nil if it does not say.
    public var retryAfter: Duration?

    /// How long the server lets its answer be reused (`Cache-Control`, `Expires`), for ``Code-swift.struct/badStatus``;
    /// nil if it does not say.
    package var lifetime: Duration?

    private var boxedCause: (any Error & Sendable)?
    /// What is known of the load that ended with this error. It is not part of what ``description`` and `Codable` tell.
    package var record: (any AnyObject & Sendable)?

    public init(
        _ code: Code, _ message: String, cause: (any Error & Sendable)? = nil, location: String? = nil,
        format: ImageFormat? = nil, status: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.boxedCause = cause
        self.location = location
        self.format = format
        self.status = status
    }

    /// Returns the same error with a location, unless it has one already.
    public func at(_ location: String) -> WebImageError {
        var copy = self
        copy.location = self.location ?? location
        return copy
    }
}

extension WebImageError {
    /// The kind of an error: a stable number and name. Numbers from 1000 to 2004 are those of SDWebImage's
    /// `SDWebImageErrorDomain`, except for 1004, which it does not have.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The lower-camel name, or `"code<number>"` for a number that this version does not know.
        public var name: String { Self.names[rawValue] ?? "code\(rawValue)" }

        /// Every code of this version with its name.
        public static var all: [(code: Code, name: String)] { table.map { (Code(rawValue: $0), $1) } }

        private static let names = Dictionary(uniqueKeysWithValues: table)
    }
}

extension WebImageError.Code: CustomStringConvertible {
    /// The ``name``.
    public var description: String { name }
}

extension WebImageError: CustomStringConvertible {
    public var description: String {
        var text = "\(code.name) (\(code.rawValue)): \(message)"
        if let location { text += " [\(location)]" }
        if let cause { text += "; because: \(cause)" }
        return text
    }
}

extension WebImageError {
    /// The answer to a task that was cancelled.
    public static let cancelled = WebImageError(.cancelled, "the load was cancelled")

    /// Gives any error this type: as it is, as `cancelled`, or wrapped under `code`.
    package static func wrapping(_ error: any Error, as code: Code, _ message: String) -> WebImageError {
        if let known = error as? WebImageError { return known }
        if error is CancellationError { return .cancelled }
        return WebImageError(code, message, cause: error as any Error & Sendable)
    }
}
