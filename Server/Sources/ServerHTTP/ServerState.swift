import Synchronization

/// Whether the server accepts new work. Any thread may use it.
public final class ServerState: Sendable {
    enum Phase: String, Sendable { case starting, ready, draining }

    private let phase = Mutex(Phase.starting)

    public init() {}

    var current: Phase { phase.withLock { $0 } }

    func become(_ next: Phase) { phase.withLock { $0 = next } }
}
