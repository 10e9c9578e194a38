import WebImageCore

/// The manager's options for requests that do not set their own.
struct LoadDefaults: Sendable {
    let limits: DecodeLimits
    let timeout: Duration?
    /// Whether any default differs from the library's. It is false for most managers, whose requests then need no
    /// check.
    private let saysAnything: Bool

    init(limits: DecodeLimits = .default, timeout: Duration? = nil) {
        self.limits = limits
        self.timeout = timeout
        saysAnything = limits != .default || timeout != nil
    }

    /// The request with these defaults in place of the options that it does not set.
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
    /// The error of a load whose timeout has passed.
    static func tookTooLong(_ timeout: Duration, _ request: ImageRequest) -> WebImageError {
        WebImageError(
            over: .timeout, code: .deadlineExceeded, "the load took longer than \(timeout.inWords)",
            location: request.redactedURL)
    }
}
