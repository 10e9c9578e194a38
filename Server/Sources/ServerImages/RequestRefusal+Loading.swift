public import ServerGrammar
public import WebImage

extension RequestRefusal {
    /// Translates the error of a load for the client.
    ///
    /// - Parameter security: the limits that the URL sets for itself.
    public init(
        _ error: WebImageError, source: String, security: ProcessingOptions.Security = ProcessingOptions.Security()
    ) {
        var code = Self.deepest(error).code
        let answered = error.status ?? Self.deepest(error).status
        // The origin refuses the user and password of the source's URL.
        if code == .authenticationFailed, answered == 401 { code = .badStatus }
        let detail = LimitNames(security: security).renamed(error).description
        func refusal(_ status: Int, _ text: String, _ kind: Kind, retryAfter: Int? = nil) -> RequestRefusal {
            RequestRefusal(status: status, text: text, kind: kind, detail: detail, retryAfter: retryAfter)
        }
        let unreachable = "Source is unreachable"
        switch code {
        case .addressRefused where source.hasPrefix("http"), .redirectRefused: self = .invalidSource(detail)
        // `addressRefused` for other schemes: the server does not serve this kind of source.
        case .addressRefused, .requestRefused, .invalidURL, .dnsFailed, .connectionRefused, .connectTimeout, .tlsFailed,
            .connectionLost,
            .tooManyRedirects,
            .unsupportedScheme, .protocolError, .authenticationFailed, .fileNotFound, .permissionDenied, .notAFile,
            .cannotRead, .notModified:
            self = refusal(404, unreachable, .download)
        case .badStatus:
            let status = answered ?? 0
            self = refusal(status >= 500 ? 502 : status >= 400 ? status : 404, unreachable, .download)
        case .firstByteTimeout, .idleTimeout, .tooSlow: self = refusal(504, unreachable, .download)
        case .deadlineExceeded: self = .timedOut(detail)
        case .truncatedBody: self = refusal(422, "Source response is incomplete", .download)
        case .bodyTooLarge, .decompressionLimit, .limitExceeded, .unknownFormat, .badContentType:
            self = refusal(422, "Invalid source image", .processing)
        case .unsupportedFeature, .corruptData, .truncatedData, .badImageData, .formatNotBuilt:
            self = refusal(422, "Broken or unsupported image", .processing)
        case .cannotEncode: self = refusal(422, "Invalid URL", .processing)
        case .transformFailed: self = refusal(422, "Invalid URL", .processing)
        case .cancelled: self = refusal(499, "Cancelled", .timeout)
        case .queueFull: self = .tooMany(detail)
        // The origin has failed so often that it is not asked for a while.
        case .circuitOpen: self = refusal(502, unreachable, .download)
        // `decoderUnavailable`: the system has no memory or files left to start a decoder's process.
        case .shutDown, .decoderUnavailable: self = .overloaded(detail)
        default: self = refusal(500, "Internal error", .unexpected)
        }
        fault = Self.fault(code, status: status, kind)
    }

    private static func fault(_ code: WebImageError.Code, status: Int, _ kind: Kind) -> SourceFault? {
        switch code {
        case .fileNotFound, .notAFile: .gone
        case .permissionDenied, .addressRefused, .redirectRefused: .withheld
        case .notModified: .unchanged
        case .badStatus: status >= 500 ? .down : [404, 410].contains(status) ? .gone : .withheld
        case .deadlineExceeded: .late
        case .bodyTooLarge, .decompressionLimit, .badContentType: .unfit
        case .unknownFormat: .noPicture
        case .unsupportedFeature, .corruptData, .truncatedData, .badImageData: .broken
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .tooSlow: .silent
        case .truncatedBody: .down
        default: kind == .download ? .unreached : nil
        }
    }

    /// The source's URL does not name anything that can be requested.
    static func unreachable(_ detail: String) -> RequestRefusal {
        var refusal = RequestRefusal(status: 404, text: "Source is unreachable", kind: .download, detail: detail)
        refusal.fault = .withheld
        return refusal
    }

    public static func tooMany(_ detail: String, retryAfter: Int = 1) -> RequestRefusal {
        RequestRefusal(status: 429, text: "Too many requests", kind: .queue, detail: detail, retryAfter: retryAfter)
    }

    public static func overloaded(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 503, text: "Overloaded", kind: .queue, detail: detail, retryAfter: 1)
    }

    public static func timedOut(_ detail: String) -> RequestRefusal {
        RequestRefusal(status: 503, text: "Timeout", kind: .timeout, detail: detail)
    }

    public static let clientGone = RequestRefusal(
        status: 499, text: "Cancelled", kind: .timeout, detail: "the client has gone")

    /// The client exceeds its rate. The status is 429 even if another one is configured for overload.
    public static func overRate(_ client: String, retryAfter: Int) -> RequestRefusal {
        RequestRefusal(
            status: 429, text: "Too many requests", kind: .security,
            detail: "\(client) asks for more than WEBIMAGE_RATE_LIMIT", retryAfter: retryAfter)
    }

    /// The most informative error in a chain of causes, such as the decoder's error below "no picture", or the reason
    /// why a URL is not retried.
    private static func deepest(_ error: WebImageError) -> WebImageError {
        guard let cause = error.cause as? WebImageError else { return error }
        // The modifier of requests refuses sources that are not allowed.
        let isRedirect = error.code == .requestRefused && cause.code == .redirectRefused
        return isRedirect || [.badImageData, .transformFailed, .blockedURL].contains(error.code)
            ? deepest(cause) : error
    }
}
