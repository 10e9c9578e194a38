public import WebImageCore

/// When and how often a failed download is retried.
///
/// The delay before the n-th retry is random between zero and `firstDelay` doubled n - 1 times, at most `longestDelay`
/// (exponential backoff with full jitter), and never shorter than the server's `Retry-After`. If the origin gave the
/// body a strong validator, a retry continues where the body broke off. Otherwise the body is loaded again, and its
/// bytes are compared with those that have already arrived.
public struct RetryPolicy: Hashable, Sendable, Codable {
    /// The number of retries; 0 for none. Default 2.
    public var retries: Int
    /// The longest delay before the first retry. Default 500 ms.
    public var firstDelay: Duration
    /// The longest delay before any retry. Default 10 s.
    public var longestDelay: Duration
    /// If the server asks for a longer delay in `Retry-After`, the download fails at once. Default 60 s.
    public var longestRetryAfter: Duration
    /// The errors that are retried. Default ``transientCodes``.
    public var codes: Set<WebImageError.Code>
    /// The statuses that are retried. Default ``transientStatuses``.
    public var statuses: Set<Int>

    public init(
        retries: Int = 2, firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(10),
        longestRetryAfter: Duration = .seconds(60), codes: Set<WebImageError.Code> = transientCodes,
        statuses: Set<Int> = transientStatuses
    ) {
        self.retries = max(retries, 0)
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.longestRetryAfter = longestRetryAfter
        self.codes = codes
        self.statuses = statuses
    }

    /// No retries.
    public static let never = RetryPolicy(retries: 0)

    /// Names that do not resolve (libcurl cannot tell an unknown name from a resolver that is down), connections that
    /// are refused, late or broken, answers and bodies that stall. TLS failures, and refusals by a policy or a limit,
    /// are not included.
    public static let transientCodes: Set<WebImageError.Code> = [
        .dnsFailed, .connectionRefused, .connectTimeout, .firstByteTimeout, .idleTimeout, .tooSlow, .truncatedBody,
        .connectionLost,
    ]

    /// 408, 429, 500, 502, 503, 504.
    public static let transientStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]

    func mayHeal(_ error: WebImageError) -> Bool {
        if error.code == .badStatus { return error.status.map(statuses.contains) ?? false }
        return codes.contains(error.code)
    }

    /// How long to wait before the next attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - retry: 1 for the first retry.
    ///   - jitter: 0 to 1.
    func delay(before retry: Int, after error: WebImageError, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard retry <= retries, mayHeal(error) else { return nil }
        // A year is as long as any wait, and can be multiplied.
        let longest = min(longestDelay, .seconds(366 * 86_400))
        let doubled = min(firstDelay, longest) * (1 << min(retry - 1, 20))
        let backoff = min(doubled, longest) * min(max(jitter, 0), 1)
        guard let retryAfter else { return backoff }
        return retryAfter <= longestRetryAfter ? max(retryAfter, backoff) : nil
    }
}
