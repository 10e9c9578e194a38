/// When the panel shows its figures anew: at most four times a second, and as long as they change. A pure value.
struct RefreshPace {
    static let interval = Duration.milliseconds(250)

    private var last: Duration?
    private var isDue = false

    /// Something may have changed.
    ///
    /// - Returns: when to refresh; nil when that has been asked for already.
    mutating func note(now: Duration) -> Duration? {
        guard !isDue else { return nil }
        isDue = true
        return max(now, last.map { $0 + Self.interval } ?? now)
    }

    /// The figures were shown.
    ///
    /// - Parameter hasChanged: whether they were others than before: then there may be more to come.
    /// - Returns: when to look again; nil: there is nothing to do until ``note(now:)``.
    mutating func refreshed(now: Duration, hasChanged: Bool) -> Duration? {
        last = now
        isDue = hasChanged
        return hasChanged ? now + Self.interval : nil
    }
}
