import Synchronization

/// What Redis' clock shows at most, for purges that Redis cannot be told: nothing that was begun before them counts as younger.
/// Any thread may use it.
///
/// Redis tells its time with each answer. From then on the time that has passed here is added.
final class FleetClock: Sendable {
    private let last = Mutex<(redis: Int, here: ContinuousClock.Instant)?>(nil)
    private let wall: @Sendable () -> Int

    /// - Parameter wall: milliseconds since 1970 by this machine's clock, for as long as Redis has said nothing.
    init(wall: @escaping @Sendable () -> Int) { self.wall = wall }

    /// Clocks of two machines may differ by so many milliseconds.
    private static let difference = 5000

    /// Milliseconds since 1970, at most: an answer may have been on its way for a while, and clocks differ by a thousandth at most.
    var nowAtMost: Int {
        guard let last = last.withLock({ $0 }) else { return wall() + Self.difference }
        let passed = Self.milliseconds(ContinuousClock.now - last.here)
        return last.redis + passed + passed / 1000 + 1000
    }

    func take(_ redis: Int) {
        let here = ContinuousClock.now
        last.withLock { last in
            // Answers may come in another order than they were given: an older one says less.
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
