public import NIOCore

/// Leaves a server alone that fails. A pure value: it is told what happens and when.
///
/// After five failures in a row nothing is asked of the server for 1 s. Then one question is; if that fails too, the server is left
/// alone for twice as long, up to 30 s.
public struct Circuit: Sendable {
    /// What is to be done about the server that failed.
    public enum Action: Hashable, Sendable {
        case nothing
        /// Ask it one question after a time.
        case probe(after: TimeAmount)
    }

    static let mostFailures = 5
    static let firstPause = TimeAmount.seconds(1)
    static let longestPause = TimeAmount.seconds(30)

    private var failures = 0
    private var pause: TimeAmount?

    public init() {}

    /// Whether the server is left alone.
    public var isOpen: Bool { pause != nil }

    public mutating func succeed() {
        // A late answer to an early question does not close it: that is the probe's to do.
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
