import Testing

@testable import FleetCoordination

struct FleetClockTests {
    private let clock = FleetClock(wall: { 50_000 })
    private let start = ContinuousClock.now

    /// Takes a time of Redis some milliseconds after the start.
    private func take(_ redis: Int, after milliseconds: Int) {
        clock.take(redis, at: start + .milliseconds(milliseconds))
    }

    private func now(after milliseconds: Int) -> Int { clock.nowAtMost(at: start + .milliseconds(milliseconds)) }

    @Test func beforeRedisHasAnsweredTheClockOfThisMachineCounts() {
        #expect(now(after: 0) == 55_000)
    }

    @Test func theTimeSinceTheLastAnswerIsAddedWithAnAllowance() {
        take(1_000_000, after: 0)
        #expect(now(after: 0) == 1_001_000)
        #expect(now(after: 60_000) == 1_061_060)
        take(1_100_000, after: 60_000)
        #expect(now(after: 60_000) == 1_101_000)
    }

    @Test func anOlderAnswerThatComesLateChangesNothing() {
        take(1_000_000, after: 0)
        take(999_990, after: 1)
        #expect(now(after: 1) == 1_001_001)
    }

    /// The clock of Redis was set back by a little, so that every later answer is less than was expected. The
    /// allowance for clocks of different speeds once grew for ever then.
    @Test func afterASmallStepBackTheBoundDoesNotRunAhead() {
        take(1_000_000, after: 0)
        for hour in 1...1000 { take(999_000 + hour * 3_600_000, after: hour * 3_600_000) }
        #expect(now(after: 3_600_000_000) == 1_000_000 + 3_600_000_000 + 1000)
    }

    @Test func aLargeStepBackIsFollowed() {
        take(1_000_000, after: 0)
        take(900_000, after: 10)
        #expect(now(after: 10) == 901_000)
    }

    /// The clock of Redis is slower by a thousandth. The bound is ahead by the allowed difference at most.
    @Test func aSlowerClockIsFollowedWithinTheDifference() {
        for second in 0...100_000 { take(1_000_000 + second * 999, after: second * 1000) }
        let ahead = now(after: 100_000_000) - (1_000_000 + 100_000 * 999)
        #expect((1000...6000).contains(ahead))
    }
}
