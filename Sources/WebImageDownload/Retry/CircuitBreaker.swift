import WebImageCore

/// When a host that keeps failing is blocked. Requests to it then fail at once (`circuitOpen`), and occupy neither
/// slots nor the host.
public struct CircuitPolicy: Hashable, Sendable {
    /// The number of failures in a row after which a host is blocked. Default 10.
    ///
    /// These failures count: names that do not resolve, connections that are refused or time out, answers that do not
    /// arrive, and the statuses 502, 503 and 504. A missing or damaged picture does not count.
    public var failures: Int
    /// How long the host is blocked at first; each failed probe doubles the time. Default 10 s.
    public var firstPause: Duration
    /// The longest time for which a host is blocked. Default 2 min.
    public var longestPause: Duration

    /// Makes a policy. Fewer than one failure counts as one.
    public init(failures: Int = 10, firstPause: Duration = .seconds(10), longestPause: Duration = .seconds(120)) {
        self.failures = max(failures, 1)
        self.firstPause = firstPause
        self.longestPause = longestPause
    }
}

/// The circuits of all hosts. A pure value; hosts without failures take no memory, and at most ``hostLimit`` are
/// stored.
package struct CircuitBreaker: Sendable {
    package enum Outcome {
        case success
        case failure
        /// The outcome says nothing about the host.
        case neither
    }

    private struct Circuit {
        var failures = 0
        var pause: Duration = .zero
        /// Until when requests are refused; nil while they are allowed.
        var closedUntil: Duration?
        var isProbing = false
        var touched: Duration = .zero
    }

    static let hostLimit = 1024
    var policy: CircuitPolicy?
    private var circuits: [String: Circuit] = [:]

    package init(policy: CircuitPolicy?) { self.policy = policy }

    /// Whether a request may be sent to `host` now. After the pause one request is allowed as a probe: its outcome must
    /// be reported.
    package mutating func admits(_ host: String, at now: Duration) -> Bool {
        guard policy != nil, var circuit = circuits[host], let until = circuit.closedUntil else { return true }
        guard now >= until, !circuit.isProbing else { return false }
        circuit.isProbing = true
        circuits[host] = circuit
        return true
    }

    package mutating func note(_ outcome: Outcome, of host: String, at now: Duration) {
        guard let policy else { return circuits.removeAll() }
        switch outcome {
        case .success: circuits[host] = nil
        case .neither: circuits[host]?.isProbing = false
        case .failure: noteFailure(of: host, policy, at: now)
        }
    }

    private mutating func noteFailure(of host: String, _ policy: CircuitPolicy, at now: Duration) {
        var circuit = circuits[host] ?? Circuit()
        circuit.failures += 1
        circuit.touched = now
        let wasProbing = circuit.isProbing
        circuit.isProbing = false
        // Requests from before the circuit opened may still fail; only a failed probe extends the pause.
        if wasProbing || (circuit.closedUntil == nil && circuit.failures >= policy.failures) {
            let next = circuit.pause == .zero ? policy.firstPause : circuit.pause * 2
            circuit.pause = min(next, policy.longestPause)
            circuit.closedUntil = now + circuit.pause
        }
        circuits[host] = circuit
        if circuits.count > Self.hostLimit, let oldest = circuits.min(by: { $0.value.touched < $1.value.touched }) {
            circuits[oldest.key] = nil
        }
    }

    /// True while no host has failed.
    var isEmpty: Bool { circuits.isEmpty }

    /// Until when requests to `host` are refused.
    package func opening(of host: String) -> Duration? { circuits[host]?.closedUntil }

    /// The hosts that were blocked, and until when.
    var open: [String: Duration] { circuits.compactMapValues(\.closedUntil) }

    mutating func reset() { circuits = [:] }

    /// What the end of a request says about its host.
    static func outcome(status: Int?, failure: WebImageError?) -> Outcome {
        if let status { return [502, 503, 504].contains(status) ? .failure : .success }
        switch failure?.code {
        case .dnsFailed, .connectionRefused, .connectTimeout, .firstByteTimeout, .connectionLost: return .failure
        default: return .neither
        }
    }
}
