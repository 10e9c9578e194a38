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
    var nowAtMost: Int {
        guard let last = last.withLock({ $0 }) else { return wall() + Self.difference }
        let passed = Self.milliseconds(ContinuousClock.now - last.here)
        return last.redis + passed + passed / 1000 + 1000
    }

    func take(_ redis: Int) {
        let here = ContinuousClock.now
        last.withLock { last in
            // Answers may arrive out of order: an older one is less exact.
            if let (before, then) = last, before + Self.milliseconds(here - then) > redis,
                before - redis < Self.difference
            {
                return
            }
            last = (redis, here)
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }
}
