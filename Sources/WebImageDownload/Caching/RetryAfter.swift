import HTTPTypes

/// `Retry-After` (RFC 9110 section 10.2.3): a date or a number of seconds.
package enum RetryAfter {
    /// How long an answer asks to wait, relative to its own `Date` if there is one; nil if it does not say.
    static func delay(of head: ResponseHead, wallTime: Int64) -> Duration? {
        let sent = head[.date].flatMap { HTTPTimestamp($0, now: wallTime)?.seconds }
        return delay(head[.retryAfter], now: sent ?? wallTime)
    }

    /// How long to wait: not negative, and at most 68 years; callers apply their own limit. Nil if the value is
    /// invalid.
    ///
    /// - Parameter now: seconds since 1970.
    package static func delay(_ value: String?, now: Int64) -> Duration? {
        guard let value else { return nil }
        let text = value.trimmingBlanks()
        if let seconds = DeltaSeconds.parse(text) { return .seconds(seconds) }
        guard let date = HTTPTimestamp(String(text), now: now) else { return nil }
        return .seconds(min(max(date.seconds.subtracting(now), 0), DeltaSeconds.most))
    }
}
