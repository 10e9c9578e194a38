import Synchronization

/// Estimates an upper bound of Redis' clock. It is the time of purges that Redis cannot be told of, so that earlier
/// work never counts as more recent than such a purge. Any thread may use it.
///
/// Redis states its time with each answer; the time that has passed on this machine since then is added.
final class FleetClock: Sendable {
    private let last = Mutex<(redis: Int, here: ContinuousClock.Instant)?>(nil)
    private let wall: @Sendable () -> Int

    /// - Parameter wall: milliseconds since 1970 by this machine's clock, used until Redis has answered.
    init(wall: @escaping @Sendable () -> Int) { self.wall = wall }

    /// The maximum difference between the clocks of two machines, in milliseconds.
    private static let difference = 5000

    /// The upper bound in milliseconds since 1970. It allows for the delay of an answer, and for clocks that differ in
    /// speed by a thousandth.
    func nowAtMost(at here: ContinuousClock.Instant = .now) -> Int {
        guard let last = last.withLock({ $0 }) else { return wall() + Self.difference }
        let passed = Self.milliseconds(here - last.here)
        return last.redis + passed + passed / 1000 + 1000
    }

    /// - Parameter here: when the answer with this time of Redis came.
    func take(_ redis: Int, at here: ContinuousClock.Instant = .now) {
        last.withLock { last in
            // Answers may arrive out of order, and Redis' clock may have been set back a little. The time that was
            // expected is then the upper bound. It is stored as of now, so that the allowance for clocks of different
            // speeds begins anew.
            let expected = last.map { $0.redis + Self.milliseconds(here - $0.here) } ?? redis
            let isLess = redis < expected && expected - redis < Self.difference
            last = (isLess ? expected : redis, here)
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }
}
