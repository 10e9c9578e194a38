public import NIOCore

/// A circuit breaker for a server that fails. A pure value: it is told the events and their times.
///
/// After five consecutive failures nothing is sent to the server for 1 s. Then one probe is sent; if that fails too,
/// the pause is doubled, up to 30 s.
public struct Circuit: Sendable {
    /// What to do after a failure.
    public enum Action: Hashable, Sendable {
        case nothing
        /// Send one probe after a delay.
        case probe(after: TimeAmount)
    }

    static let mostFailures = 5
    static let firstPause = TimeAmount.seconds(1)
    static let longestPause = TimeAmount.seconds(30)

    private var failures = 0
    private var pause: TimeAmount?

    public init() {}

    /// Whether requests to the server are paused.
    public var isOpen: Bool { pause != nil }

    public mutating func succeed() {
        // A late answer to an earlier request does not close it; only the probe does.
        if !isOpen { failures = 0 }
    }

    public mutating func fail() -> Action {
        guard !isOpen else { return .nothing }
        failures += 1
        guard failures >= Self.mostFailures else { return .nothing }
        pause = Self.firstPause
        return .probe(after: Self.firstPause)
    }

    public mutating func endProbe(succeeded: Bool) -> Action {
        guard let last = pause else { return .nothing }
        if succeeded {
            (failures, pause) = (0, nil)
            return .nothing
        }
        let next = min(last * 2, Self.longestPause)
        pause = next
        return .probe(after: next)
    }
}
