public import WebImageCore

/// A URL that failed and is blocked for a while.
public struct FailedURL: Sendable {
    /// The URL without user, password, and the values of parameters that grant access.
    public let url: String
    /// The last error.
    public let error: WebImageError
    /// How often it failed in a row.
    public let failures: Int
    /// How long the URL is still blocked.
    public let remaining: Duration
}

/// How long URLs that failed are blocked, depending on the error.
///
/// An error status is remembered no longer than its `Cache-Control` or `Expires` lets it be reused, if the origin sends
/// any: with `no-store` and `no-cache` not at all. Only failures that an immediate second request would meet again are
/// remembered. Network failures, failures because of the caller's credentials or limits, and cancellations are not.
public struct FailedURLPolicy: Sendable {
    /// How many URLs are remembered. When there are more, those that expire first are forgotten. Default 1000.
    public var limit = 1000
    /// 404 and 410: there is no such picture. Default 5 minutes.
    public var missing = Duration.seconds(300)
    /// Other statuses that say that the request is wrong or not allowed: 400, 403, 405, 414, 451 and the like. Default
    /// 1 minute.
    public var refused = Duration.seconds(60)
    /// The answer is not a picture, or not one that can be decoded: a wrong type, damaged or unknown data. Default 30
    /// s.
    public var unreadable = Duration.seconds(30)
    /// The server is misconfigured: too many redirects, redirects that are not allowed, an invalid certificate, an
    /// answer that is not HTTP. Default 1 minute.
    public var misconfigured = Duration.seconds(60)
    /// The longest time that a server may ask for with `Retry-After`, for 429, 503 and any other status. Default 1
    /// hour.
    public var longestRetryAfter = Duration.seconds(3600)
    /// Returns a time that replaces all of the above, or nil; zero means that the failure is not remembered. Called on
    /// any thread; must not block. Default nil.
    public var lifetime: (@Sendable (_ url: String, _ error: WebImageError) -> Duration?)?

    public init() {}

    /// How long a URL is not requested again after a failure; zero: it may be at once.
    func lifetime(of error: WebImageError, url: String, retryAfter: Duration?) -> Duration {
        if let own = lifetime?(url, error) { return max(own, .zero) }
        if let retryAfter, error.code == .badStatus { return min(max(retryAfter, .zero), longestRetryAfter) }
        switch error.code {
        case .badStatus: return min(lifetime(ofStatus: error.status), error.lifetime ?? .seconds(Int64.max))
        case .badContentType: return unreadable
        case .badImageData: return isOwnLimit(error.cause) ? .zero : unreadable
        case .tlsFailed, .tooManyRedirects, .redirectRefused, .protocolError: return misconfigured
        default: return .zero
        }
    }

    private func lifetime(ofStatus status: Int?) -> Duration {
        switch status {
        case 404, 410: missing
        // These may succeed later: with credentials, after some time or under less load.
        case 401, 407, 408, 421, 425, 429: .zero
        case .some(400..<500): refused
        default: .zero
        }
    }

    /// Whether the failure is due to the request's own limits, so that another request may succeed.
    private func isOwnLimit(_ cause: (any Error)?) -> Bool {
        guard let cause = cause as? WebImageError else { return false }
        return cause.code == .limitExceeded || cause.code == .truncatedData
    }
}
