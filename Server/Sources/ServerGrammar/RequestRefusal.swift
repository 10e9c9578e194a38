/// A request that is not served: the status and the text that the client gets, and what the log says of it.
public struct RequestRefusal: Error, Hashable, Sendable {
    /// The class that metrics count it under, by imgproxy's names.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case timeout
        case pathParsing = "path_parsing"
        case security, queue, download, processing, streaming
        case io = "IO"
        case unexpected
    }

    /// What is wrong with a source, whatever is to be made of it.
    public enum SourceFault: String, Hashable, Sendable {
        /// Its origin cannot be reached, or fails.
        case down
        /// It does not come in time.
        case late
        /// Its origin says that it has no such thing.
        case gone
        /// Its origin does not give it.
        case withheld
        /// Its origin says that the client has it, and was not asked.
        case unchanged
        /// It is too large, or says itself that it is no picture.
        case unfit
        /// It is no picture of a format that is known.
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
    /// After how many seconds the client may ask again; nil: not said.
    public var retryAfter: Int?
    /// nil: the source is not what is wrong.
    public var fault: SourceFault?

    public init(status: Int, text: String, kind: Kind, detail: String, retryAfter: Int? = nil) {
        self.status = status
        self.text = text
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Whether an older result will do.
    public var isSourceDown: Bool { fault == .down || fault == .late }
    /// Whether it will be so the next time, until the source changes.
    public var isOfSource: Bool { fault == .noPicture || fault == .broken }
    /// Whether there is nothing to make a picture of: where there is a fallback image, that is served.
    public var hasNoSource: Bool { fault.map { ![.late, .broken, .unchanged].contains($0) } ?? false }

    public static func invalidURL(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 404, text: "Invalid URL", kind: .pathParsing, detail: detail)
    }

    public static func forbidden(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 403, text: "Forbidden", kind: .security, detail: detail)
    }

    public static func invalidSource(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 404, text: "Invalid source URL", kind: .security, detail: detail)
    }

    /// A security option of a URL where the configuration does not allow them.
    static func securityOption(_ name: String) -> RequestRefusal {
        RequestRefusal(
            status: 403, text: "Invalid URL", kind: .security,
            detail: "\(name) is allowed only with IMGPROXY_ALLOW_SECURITY_OPTIONS")
    }

    static let unsignedOptions = RequestRefusal(
        status: 403,
        text: "The signature appears to be a processing option. "
            + "The signature section should always be present in the URL.",
        kind: .security, detail: "the first part of the path holds a colon")
}
