/// Decides when the panel refreshes its figures: at most four times a second, and only while they change. A pure value.
struct RefreshPace {
    static let interval = Duration.milliseconds(250)

    private var last: Duration?
    private var isDue = false

    /// Notes that something may have changed.
    ///
    /// - Returns: when to refresh; nil if a refresh is already scheduled.
    mutating func note(now: Duration) -> Duration? {
        guard !isDue else { return nil }
        isDue = true
        return max(now, last.map { $0 + Self.interval } ?? now)
    }

    /// Notes that the figures were refreshed.
    ///
    /// - Parameter hasChanged: whether the figures differ from before, so that more changes may follow.
    /// - Returns: when to refresh again; nil if nothing needs to be done until ``note(now:)``.
    mutating func refreshed(now: Duration, hasChanged: Bool) -> Duration? {
        last = now
        isDue = hasChanged
        return hasChanged ? now + Self.interval : nil
    }
}
