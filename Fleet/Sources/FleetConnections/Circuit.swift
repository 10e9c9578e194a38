public import NIOCore

/// A circuit breaker for a server that fails. A pure value: it is told the events.
///
/// After five consecutive failures nothing is sent to the server for 1 s. Then one probe is sent. If the server answers it, requests
/// are sent again, as a trial: a server may answer a probe and still refuse everything else. Five consecutive successes end the
/// trial. Another five consecutive failures begin a pause that is twice as long as the last, as does a probe that fails; no pause is
/// longer than 30 s.
public struct Circuit: Sendable {
    public enum Action: Hashable, Sendable {
        case nothing
        /// The server has begun to fail. Send one probe after a delay.
        case open(probeAfter: TimeAmount)
        /// The server still fails. Send one probe after a delay.
        case probe(after: TimeAmount)
        /// The server works again.
        case recovered
    }

    static let maxFailures = 5
    static let trialSuccesses = 5
    static let firstPause = TimeAmount.seconds(1)
    static let longestPause = TimeAmount.seconds(30)

    private var failures = 0
    private var successes = 0
    /// The last pause. Nil while the server works.
    private var pause: TimeAmount?
    /// Whether requests to the server are paused.
    public private(set) var isOpen = false

    public init() {}

    /// Whether requests are neither paused nor on trial.
    public var isTrusting: Bool { pause == nil }

    public mutating func succeed() -> Action {
        // A late answer to an earlier request does not close the circuit; only the probe does.
        guard !isOpen else { return .nothing }
        failures = 0
        guard pause != nil else { return .nothing }
        successes += 1
        guard successes >= Self.trialSuccesses else { return .nothing }
        pause = nil
        return .recovered
    }

    public mutating func fail() -> Action {
        guard !isOpen else { return .nothing }
        successes = 0
        failures += 1
        guard failures >= Self.maxFailures else { return .nothing }
        isOpen = true
        if pause != nil { return prolong() }
        pause = Self.firstPause
        return .open(probeAfter: Self.firstPause)
    }

    public mutating func endProbe(succeeded: Bool) -> Action {
        guard isOpen else { return .nothing }
        guard succeeded else { return prolong() }
        (isOpen, failures, successes) = (false, 0, 0)
        return .nothing
    }

    private mutating func prolong() -> Action {
        let next = min((pause ?? Self.firstPause) * 2, Self.longestPause)
        pause = next
        return .probe(after: next)
    }
}
