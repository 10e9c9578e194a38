import Synchronization

/// Whether the server accepts new work. Any thread may use it.
public final class ServerState: Sendable {
    enum Phase: String, Sendable { case starting, ready, draining }

    private struct State {
        var phase = Phase.starting
        var drainingSince: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    public init() {}

    var current: Phase { state.withLock { $0.phase } }

    func become(_ next: Phase) {
        state.withLock { state in
            state.phase = next
            if next == .draining, state.drainingSince == nil { state.drainingSince = .now }
        }
    }

    /// What is left of a time that began when the server began to drain.
    func timeLeft(of limit: Duration) -> Duration {
        guard let begin = state.withLock({ $0.drainingSince }) else { return limit }
        return max(limit - (.now - begin), .zero)
    }
}
