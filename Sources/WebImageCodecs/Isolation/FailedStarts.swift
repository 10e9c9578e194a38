/// When the next process may be started, after others failed to start: the system may have no memory, files or process
/// numbers left for a moment. A pure value.
struct FailedStarts {
    /// After `count` failures within this time, no process is started for a pause. The pause doubles while starts go on
    /// failing.
    private static let most = (count: 5, within: Duration.seconds(10))
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(30))

    private var failures: [ContinuousClock.Instant] = []
    private var pause = pauses.first
    private var pausedUntil: ContinuousClock.Instant?

    /// The remaining time of a pause; nil: a process may be started.
    func rest(at now: ContinuousClock.Instant) -> Duration? {
        pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }

    mutating func noteFailure(at now: ContinuousClock.Instant) {
        // Failures of starts that were under way when a pause began do not count.
        guard rest(at: now) == nil else { return }
        if pausedUntil != nil {
            pause = min(pause * 2, Self.pauses.longest)
        } else {
            failures = failures.suffix(Self.most.count - 1) + [now]
            guard failures.count == Self.most.count, let first = failures.first, now - first < Self.most.within
            else { return }
        }
        pausedUntil = now + pause
    }

    mutating func noteSuccess() { self = FailedStarts() }
}
