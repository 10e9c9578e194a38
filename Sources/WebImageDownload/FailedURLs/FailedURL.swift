public import WebImageCore

/// A URL that failed and is not asked again for a while.
public struct FailedURL: Sendable {
    /// Without user, password, and the values of parameters that grant access.
    public let url: String
    /// What it failed with the last time.
    public let error: WebImageError
    /// How often it failed in a row.
    public let failures: Int
    /// How long it is still left alone.
    public let remaining: Duration
}

/// For how long URLs that failed are left alone, by what they failed with.
///
/// Only failures that a second request would soon meet again are remembered. Failures of the network, of this caller's
/// credentials or limits, and cancels are not.
public struct FailedURLPolicy: Sendable {
    /// How many URLs are remembered. When there are more, those whose time is up first are forgotten. Default 1000.
    public var limit = 1000
    /// 404 and 410: there is no such picture. Default 5 minutes.
    public var missing = Duration.seconds(300)
    /// Other statuses that say that the request is wrong or not allowed: 400, 403, 405, 414, 451 and the like. Default
    /// 1 minute.
    public var refused = Duration.seconds(60)
    /// What came is no picture, or none that can be read: a wrong type, damaged or unknown data. Default 30 s.
    public var unreadable = Duration.seconds(30)
    /// The server is set up wrongly: redirects without end or to where they may not go, a certificate that is not
    /// valid, an answer that is not HTTP. Default 1 minute.
    public var misconfigured = Duration.seconds(60)
    /// The most that a server may ask for by `Retry-After`, with 429, 503 and any other status. Default 1 hour.
    public var longestRetryAfter = Duration.seconds(3600)
    /// Replaces all of the above where it returns a time; zero means that the failure is not remembered.
    /// Called on any thread; must not block. Default nil.
    public var lifetime: (@Sendable (_ url: String, _ error: WebImageError) -> Duration?)?

    public init() {}

    /// How long a URL is left alone after that failure; zero for not at all.
    func lifetime(of error: WebImageError, url: String, retryAfter: Duration?) -> Duration {
        if let own = lifetime?(url, error) { return max(own, .zero) }
        if let retryAfter, error.code == .badStatus { return min(max(retryAfter, .zero), longestRetryAfter) }
        switch error.code {
        case .badStatus: return lifetime(ofStatus: error.status)
        case .badContentType: return unreadable
        case .badImageData: return isOwnLimit(error.cause) ? .zero : unreadable
        case .tlsFailed, .tooManyRedirects, .redirectRefused, .protocolError: return misconfigured
        default: return .zero
        }
    }

    private func lifetime(ofStatus status: Int?) -> Duration {
        switch status {
        case 404, 410: missing
        // Credentials may be given, time may pass, load may fall.
        case 401, 407, 408, 421, 425, 429: .zero
        case .some(400..<500): refused
        default: .zero
        }
    }

    /// Another request may have other limits, or take what there is of a cut picture.
    private func isOwnLimit(_ cause: (any Error)?) -> Bool {
        guard let cause = cause as? WebImageError else { return false }
        return cause.code == .limitExceeded || cause.code == .truncatedData
    }
}
