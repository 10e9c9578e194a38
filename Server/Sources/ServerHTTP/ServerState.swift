import Synchronization

/// Whether the server accepts new work. Any thread may use it.
public final class ServerState: Sendable {
    enum Phase: String, Sendable { case starting, ready, draining }

    private let phase = Mutex(Phase.starting)
    private let drainingSince = Mutex<ContinuousClock.Instant?>(nil)

    public init() {}

    var current: Phase { phase.withLock { $0 } }

    func become(_ next: Phase) {
        if next == .draining { drainingSince.withLock { $0 = $0 ?? .now } }
        phase.withLock { $0 = next }
    }

    /// What is left of a time that began when the server began to drain.
    func timeLeft(of limit: Duration) -> Duration {
        guard let begin = drainingSince.withLock({ $0 }) else { return limit }
        return max(limit - (.now - begin), .zero)
    }
}
