/// A request that is refused: the status and the text for the client, and the detail for the log.
public struct RequestRefusal: Error, Hashable, Sendable {
    /// The class under which metrics count it, by imgproxy's names.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case timeout
        case pathParsing = "path_parsing"
        case security, queue, download, processing, streaming
        case io = "IO"
        case unexpected
    }

    /// A problem with a source that does not depend on the options.
    public enum SourceFault: String, Hashable, Sendable {
        /// Its origin fails.
        case down
        /// Its origin, or the way to it, gives no answer in time.
        case silent
        /// Its origin cannot be reached from this server.
        case unreached
        /// It did not arrive in time.
        case late
        /// Its origin says that it does not exist.
        case gone
        /// Its origin refuses access to it.
        case withheld
        /// Its origin answered "not modified" although no condition was sent.
        case unchanged
        /// It is too large, or its type says that it is not a picture.
        case unfit
        /// It is not a picture of a known format.
        case noPicture
        /// It is a picture that cannot be decoded.
        case broken
    }

    public var status: Int
    /// The body of the answer. It holds nothing that the client sent.
    public var text: String
    public var kind: Kind
    /// For the log.
    public var detail: String
    /// After how many seconds the client may retry; nil: not stated.
    public var retryAfter: Int?
    /// nil: the source is not the problem.
    public var fault: SourceFault?

    public init(status: Int, text: String, kind: Kind, detail: String, retryAfter: Int? = nil) {
        self.status = status
        self.text = text
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Whether an older result may be served instead.
    public var isSourceDown: Bool { fault.map { [.down, .silent, .unreached, .late].contains($0) } ?? false }
    /// Whether results of the source are no longer served: it does not exist any more, or this server may no longer load it.
    public var endsResults: Bool { fault == .gone || kind == .security && fault == .withheld }
    /// Whether a retry fails the same way until the source changes.
    public var isOfSource: Bool { fault == .noPicture || fault == .broken }
    /// Whether there is no source to make a picture of: the fallback image is served then, if there is one.
    public var hasNoSource: Bool { fault.map { ![.late, .broken, .unchanged].contains($0) } ?? false }

    /// The request comes from this server itself, because a source leads back to it.
    public static let loop = RequestRefusal(
        status: 508, text: "Loop Detected", kind: .pathParsing, detail: "a source leads back to this server")

    public static func invalidURL(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 404, text: "Invalid URL", kind: .pathParsing, detail: detail)
    }

    public static func forbidden(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 403, text: "Forbidden", kind: .security, detail: detail)
    }

    public static func invalidSource(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 404, text: "Invalid source URL", kind: .security, detail: detail)
    }

    /// A URL has a security option, which the configuration does not allow.
    static func securityOption(_ name: String) -> RequestRefusal {
        RequestRefusal(
            status: 403, text: "Invalid URL", kind: .security,
            detail: "\(name) is allowed only with IMGPROXY_ALLOW_SECURITY_OPTIONS")
    }

    static let unsignedOptions = RequestRefusal(
        status: 403,
        text: "The signature appears to be a processing option. "
            + "The signature section should always be present in the URL.",
        kind: .security, detail: "the first part of the path contains a colon")
}
