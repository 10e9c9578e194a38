import WebImageCore

/// What a manager says for the requests that do not say it themselves.
struct LoadDefaults: Sendable {
    let limits: DecodeLimits
    let timeout: Duration?
    /// False for most managers, whose requests then need no look.
    private let saysAnything: Bool

    init(limits: DecodeLimits = .default, timeout: Duration? = nil) {
        self.limits = limits
        self.timeout = timeout
        saysAnything = limits != .default || timeout != nil
    }

    /// The request as it is loaded.
    func applied(to request: ImageRequest) -> ImageRequest {
        guard saysAnything,
            request.options.decoding.ownLimits == nil || (timeout != nil && request.options.timeout == nil)
        else {
            return request
        }
        return request.with(
            limits: request.options.decoding.ownLimits ?? limits, timeout: request.options.timeout ?? timeout)
    }
}

extension WebImageError {
    /// What a load ends in when its time is up.
    static func tookTooLong(_ timeout: Duration, _ request: ImageRequest) -> WebImageError {
        WebImageError(
            over: .timeout, code: .deadlineExceeded, "the load took longer than \(timeout.inWords)",
            location: request.redactedURL)
    }
}
