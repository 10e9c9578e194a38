import Synchronization

/// Counts requests by client: so many a second, and some more at once. Any thread may use it.
///
/// The generic cell rate algorithm: of each client it is known when the last of its requests would be due at the allowed rate.
final class RateLimiter: Sendable {
    private struct State {
        /// Seconds on the clock of the limiter.
        var due: [String: Double] = [:]
        /// That of the clients that were not seen since ``due`` was full last.
        var older: [String: Double] = [:]
    }

    /// Seconds between two requests at the allowed rate.
    let interval: Double
    /// Seconds by which requests may come too early.
    let tolerance: Double
    private let mostClients: Int
    private let now: @Sendable () -> Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - perSecond: requests that a client may go on making.
    ///   - burst: requests that it may make at once after a while without any; at least 1.
    ///   - mostClients: so many are known, twice; who was not seen for longest is forgotten.
    ///   - now: seconds, on a clock that is not set back.
    init(
        perSecond: Double, burst: Int, mostClients: Int = 32_768,
        now: @escaping @Sendable () -> Double = RateLimiter.uptime
    ) {
        interval = 1 / perSecond
        tolerance = interval * Double(max(burst, 1) - 1)
        self.mostClients = mostClients
        self.now = now
    }

    private static let start = ContinuousClock.now

    static func uptime() -> Double { (ContinuousClock.now - start).inSeconds }

    /// - Parameter servers: how many servers the limit holds for, of which each takes its share.
    /// - Returns: nil when the request is within the limit, else the seconds after which the next one is.
    func take(_ client: String, among servers: Int = 1) -> Double? {
        let now = now()
        let interval = interval * Double(servers)
        let tolerance = max(tolerance - (interval - self.interval), 0)
        return state.withLock { state in
            let due = max(state.due[client] ?? state.older[client] ?? now, now)
            let wait = due - now - tolerance
            // Sums of doubles are off by a little.
            if wait > 1e-9 { return wait }
            if state.due.count >= mostClients, state.due[client] == nil {
                state.older = state.due
                state.due = [:]
            }
            state.due[client] = due + interval
            return nil
        }
    }
}
