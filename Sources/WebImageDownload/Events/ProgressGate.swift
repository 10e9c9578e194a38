/// Decides which progress of one body is reported: what has grown enough since the last report.
package struct ProgressGate: Sendable {
    private let interval: Double
    private var last = 0.0
    private var hasTold = false

    /// - Parameter minimumInterval: how far the received part must have grown, 0 to 1.
    package init(minimumInterval: Double) { interval = min(max(minimumInterval, 0), 1) }

    /// Starts over, because another body replaces the first.
    package mutating func beginAnew() { (last, hasTold) = (0, false) }

    /// Whether to report this progress: the first bytes, the last, and each growth by the interval; all if the length
    /// is unknown.
    package mutating func admits(received: Int, expected: Int?) -> Bool {
        guard let expected, expected > 0, interval > 0 else { return true }
        let part = Double(received) / Double(expected)
        guard !hasTold || part - last >= interval || received >= expected else { return false }
        hasTold = true
        last = part
        return true
    }
}
