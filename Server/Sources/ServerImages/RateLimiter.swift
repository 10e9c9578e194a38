import Synchronization

/// Limits the requests of each client to a rate with a burst. Any thread may use it.
///
/// It is the generic cell rate algorithm: for each client it stores when its last request would be due at the allowed
/// rate.
final class RateLimiter: Sendable {
    private struct State {
        /// The due time of each client in seconds, on the limiter's clock.
        var due: [String: Double] = [:]
        /// The due times of clients that have not been seen since ``due`` was last full.
        var older: [String: Double] = [:]
    }

    /// Seconds between two requests at the allowed rate.
    let interval: Double
    /// The number of seconds by which requests may come too early.
    let tolerance: Double
    private let maxClients: Int
    private let now: @Sendable () -> Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - perSecond: the number of requests that a client may make each second.
    ///   - burst: the number of requests that it may make at once after a pause; at least 1.
    ///   - maxClients: the size of each of the two tables; clients that have not been seen for longest are forgotten.
    ///   - now: returns seconds on a monotonic clock.
    init(
        perSecond: Double, burst: Int, maxClients: Int = 32_768,
        now: @escaping @Sendable () -> Double = RateLimiter.uptime
    ) {
        interval = 1 / perSecond
        tolerance = interval * Double(max(burst, 1) - 1)
        self.maxClients = maxClients
        self.now = now
    }

    private static let start = ContinuousClock.now

    static func uptime() -> Double { (ContinuousClock.now - start).inSeconds }

    /// - Parameter servers: how many servers share the limit in equal parts.
    /// - Returns: nil if the request is within the limit, else the seconds until the next one is.
    func take(_ client: String, among servers: Int = 1) -> Double? {
        let now = now()
        let interval = interval * Double(servers)
        let tolerance = max(tolerance - (interval - self.interval), 0)
        return state.withLock { state in
            let due = max(state.due[client] ?? state.older[client] ?? now, now)
            let wait = due - now - tolerance
            // Tolerates rounding errors.
            if wait > 1e-9 { return wait }
            if state.due.count >= maxClients, state.due[client] == nil {
                state.older = state.due
                state.due = [:]
            }
            state.due[client] = due + interval
            return nil
        }
    }
}
