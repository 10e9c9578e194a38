/// Describes what went wrong, and what to do about it. All functions of the library throw this type.
///
/// Compare ``code-swift.property``. Further codes may be added, so a `switch` over them needs a `default`.
public struct WebImageError: Error, Sendable {
    /// The content of an error. It is shared by reference because results and answers hold an error and are copied at
    /// each stage of a load.
    private final class Content: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private struct Value: Sendable {
        var code: Code
        var message: String
        var cause: (any Error & Sendable)?
        var location: String?
        var format: ImageFormat?
        var status: Int?
        var retryAfter: Duration?
        var lifetime: Duration?
        var limit: Limit?
        var record: (any AnyObject & Sendable)?
    }

    private var content: Content

    private mutating func change(_ body: (inout Value) -> Void) {
        var value = content.value
        body(&value)
        content = Content(value)
    }

    /// What went wrong, for programs; ``message`` is for people.
    public var code: Code {
        get { content.value.code }
        set { change { $0.code = newValue } }
    }
    /// What happened, in one sentence that helps to solve the problem. It never contains credentials.
    public var message: String {
        get { content.value.message }
        set { change { $0.message = newValue } }
    }
    /// The error that led to this one.
    public var cause: (any Error)? { content.value.cause }
    /// The URL or path of the failure, without user, password and query values of credentials.
    public var location: String? {
        get { content.value.location }
        set { change { $0.location = newValue } }
    }
    /// The format of the picture.
    public var format: ImageFormat? {
        get { content.value.format }
        set { change { $0.format = newValue } }
    }
    /// The HTTP status, for ``Code-swift.struct/badStatus``, and for ``Code-swift.struct/blockedURL`` if such a failure
    /// has blocked the URL.
    public var status: Int? {
        get { content.value.status }
        set { change { $0.status = newValue } }
    }
    /// How long the server asks to wait (`Retry-After`), for ``Code-swift.struct/badStatus``; nil if it does not say. For
    /// ``Code-swift.struct/decoderUnavailable``, when processes for decoding are started again.
    public var retryAfter: Duration? {
        get { content.value.retryAfter }
        set { change { $0.retryAfter = newValue } }
    }
    /// The limit to raise, for ``Code-swift.struct/limitExceeded``, ``Code-swift.struct/bodyTooLarge``,
    /// ``Code-swift.struct/decompressionLimit`` and ``Code-swift.struct/deadlineExceeded``; nil if none can be raised.
    public var limit: Limit? {
        get { content.value.limit }
        set { change { $0.limit = newValue } }
    }
    /// How long the server lets its answer be reused (`Cache-Control`, `Expires`), for ``Code-swift.struct/badStatus``;
    /// nil if it does not say.
    package var lifetime: Duration? {
        get { content.value.lifetime }
        set { change { $0.lifetime = newValue } }
    }
    /// The record of the load that ended with this error. It is not part of ``description`` and is not encoded.
    package var record: (any AnyObject & Sendable)? {
        get { content.value.record }
        set { change { $0.record = newValue } }
    }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - message: what happened, in one sentence without credentials.
    ///   - cause: the error that led to this one.
    ///   - location: the URL or path of the failure, without credentials.
    ///   - format: the format of the picture.
    ///   - status: the HTTP status.
    public init(
        _ code: Code, _ message: String, cause: (any Error & Sendable)? = nil, location: String? = nil,
        format: ImageFormat? = nil, status: Int? = nil
    ) {
        content = Content(
            Value(code: code, message: message, cause: cause, location: location, format: format, status: status))
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
    /// The error of a task that was cancelled.
    public static let cancelled = WebImageError(.cancelled, "the load was cancelled")

    /// Converts any error to this type: a ``WebImageError`` as it is, a `CancellationError` as `cancelled`, and any
    /// other as the cause of an error with `code`.
    package static func wrapping(_ error: any Error, as code: Code, _ message: String) -> WebImageError {
        if let known = error as? WebImageError { return known }
        if error is CancellationError { return .cancelled }
        return WebImageError(code, message, cause: error as any Error & Sendable)
    }
}
