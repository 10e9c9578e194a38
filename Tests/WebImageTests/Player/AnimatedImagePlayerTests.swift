import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Tests of which frame is shown at which time. Frame `n` of the fakes is `n + 1` pixels wide.
@MainActor @Suite struct AnimatedImagePlayerTests {
    let clock = ManualFrameClock()

    /// Records the frames that a player shows and their times, as `index@milliseconds`.
    @MainActor final class Screen {
        private(set) var shown: [String] = []
        private(set) var loops: [Int] = []
        private(set) var ends = 0
        var indices: [Int] { shown.compactMap { Int($0.prefix { $0 != "@" }) } }

        init(_ player: AnimatedImagePlayer, _ clock: ManualFrameClock) {
            player.onFrame = { [unowned self, unowned clock] image, index in
                #expect(image.size.width == index + 1)
                shown.append("\(index)@\(Int(clock.now / .milliseconds(1)))")
            }
            player.onLoop = { [unowned self] in loops.append($0) }
            player.onEnd = { [unowned self] in ends += 1 }
        }
    }

    func player(_ frames: FakeFrames) throws -> (AnimatedImagePlayer, Screen) {
        let player = try #require(AnimatedImagePlayer(frames.image, clock: clock))
        return (player, Screen(player, clock))
    }

    @Test func aStillHasNoPlayer() {
        #expect(AnimatedImagePlayer(Fixture.gradient(4, 4)) == nil)
        #expect(AnimatedImagePlayer(FakeFrames(delays: [50]).image) == nil)
        #expect(AnimatedImagePlayer(FakeFrames(delays: [50], isComplete: false).image) != nil)
    }

    @Test func eachFrameIsShownForItsTime() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 50, 200]))
        clock.advance(by: .seconds(1))
        #expect(screen.shown.isEmpty, "it does not play of itself")
        player.play()
        clock.advance(by: .milliseconds(700))
        #expect(screen.shown == ["1@1100", "2@1150", "0@1350", "1@1450", "2@1500", "0@1700"])
        #expect(screen.loops == [1, 2] && player.currentLoop == 2 && player.currentFrame.size.width == 1)
    }

    /// In the first round, the still once stood in for the first frame.
    @Test func theStillOfAnAPNGIsNoneOfItsFrames() throws {
        let frames = FakeFrames(delays: [100, 100], beginsWithStill: false)
        let still = Fixture.gradient(9, 9).with(animation: ImageAnimation(frames))
        let player = try #require(AnimatedImagePlayer(still, clock: clock))
        let screen = Screen(player, clock)
        #expect(player.currentFrame.size.width == 9 && screen.shown.isEmpty)
        player.play()
        #expect(player.currentFrame.size.width == 1)
        clock.advance(by: .milliseconds(250))
        player.pause()
        player.play()
        #expect(screen.shown == ["0@0", "1@100", "0@200"])
    }

    /// When a frame that was no longer wanted arrived, it once replaced the frame that was shown by then.
    @Test func aFrameOfAnEarlierModeIsNotShownAnyMore() async throws {
        let frames = FakeFrames(delays: [100, 100, 100], isInstant: false)
        let (player, screen) = try player(frames)
        frames.finish(0)
        player.mode = .reverse
        #expect(await eventually { frames.isAwaited(2) })
        player.mode = .forward
        #expect(player.isSettled && player.currentIndex == 0)
        frames.finish(2)
        for _ in 0..<200 { await Task.yield() }
        #expect(screen.indices == [0] && player.currentFrame.size.width == 1)
    }

    /// After a stop, a frame with nine seconds left was once shown for nine seconds at any speed.
    @Test func theRemainingFrameTimeFollowsTheRateThroughAStop() throws {
        let (player, screen) = try player(FakeFrames(delays: [10_000, 10_000]))
        player.play()
        clock.advance(by: .seconds(1))
        player.rate = 0
        clock.advance(by: .seconds(100))
        player.rate = 10
        clock.advance(by: .milliseconds(899))
        #expect(screen.shown.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(screen.indices == [1])
        // The same with a pause, during which the rate changes.
        clock.advance(by: .milliseconds(500))
        player.pause()
        player.rate = 0
        player.rate = 5
        player.play()
        clock.advance(by: .milliseconds(999))
        #expect(screen.indices == [1])
        clock.advance(by: .milliseconds(1))
        #expect(screen.indices == [1, 0])
    }

    /// `onLoop` is called after every round, including the last, and before `onEnd`.
    @Test(arguments: PlaybackMode.allCases) func onLoopIsCalledAfterEveryRound(mode: PlaybackMode) throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.mode = mode
        player.loopLimit = 2
        var loopsAtEnd: [Int]?
        player.onEnd = { loopsAtEnd = screen.loops }
        player.play()
        clock.advance(by: .seconds(5))
        #expect(loopsAtEnd == [1, 2] && player.currentLoop == 2 && !player.isPlaying)
    }

    @Test(arguments: [(nil, 2), (0, 0), (3, 3)] as [(Int?, Int)])
    func playingEndsAfterTheRequestedRounds(given: Int?, expected: Int) throws {
        let (player, screen) = try player(FakeFrames(delays: [10, 10, 10], loops: 2))
        player.loopLimit = given
        player.play()
        clock.advance(by: .seconds(1))
        #expect(player.isPlaying == (expected == 0))
        if expected > 0 {
            #expect(screen.indices.count == expected * 3 - 1 && screen.indices.last == 2 && screen.ends == 1)
            #expect(clock.waitingCount == 0)
            player.play()
            #expect(player.currentIndex == 0 && player.currentLoop == 0 && player.isPlaying)
        }
    }

    @Test func aFileWithoutALoopCountIsPlayedOnce() throws {
        let (player, screen) = try player(FakeFrames(delays: [10, 10], loops: nil))
        player.play()
        clock.advance(by: .seconds(1))
        #expect(screen.indices == [1] && !player.isPlaying)
    }

    @Test func theRateChangesTheRemainingTimeOfAFrame() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.play()
        clock.advance(by: .milliseconds(50))
        player.rate = 2
        clock.advance(by: .milliseconds(100))
        #expect(screen.shown == ["1@75", "2@125"])
        player.rate = 0
        clock.advance(by: .seconds(5))
        #expect(screen.shown.count == 2 && clock.waitingCount == 0 && player.isPlaying)
        player.rate = 1
        clock.advance(by: .milliseconds(60))
        #expect(screen.shown.count == 3)
    }

    @Test func pausingKeepsTheRemainingTimeOfTheFrame() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.play()
        clock.advance(by: .milliseconds(60))
        player.pause()
        clock.advance(by: .seconds(3))
        player.play()
        clock.advance(by: .milliseconds(39))
        #expect(screen.shown.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(screen.shown == ["1@3100"])
    }

    @Test func stoppingKeepsTheFrameOrGoesBack() throws {
        let frames = FakeFrames(delays: [100, 100, 100])
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(250))
        player.stop()
        #expect(player.currentIndex == 2 && frames.freed == 0)
        player.resetsWhenStopped = true
        player.freesWhenStopped = true
        player.play()
        player.stop()
        #expect(player.currentIndex == 0 && player.currentLoop == 0 && screen.indices.last == 0 && frames.freed == 1)
    }

    @Test func seekingShowsAFrameWhileThePlayerStandsStill() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100, 100]))
        player.seek(to: 2, loop: 5)
        #expect(screen.indices == [2] && player.currentLoop == 5)
        player.seek(to: 99)
        #expect(player.currentIndex == 3)
        player.play()
        clock.advance(by: .milliseconds(100))
        #expect(screen.indices == [2, 3, 0] && player.currentLoop == 6)
    }

    @Test(arguments: [
        (PlaybackMode.reverse, [3, 2, 1, 0, 3]), (.bounce, [1, 2, 3, 2, 1]), (.reversedBounce, [3, 2, 1, 0, 1]),
    ])
    func eachModePlaysItsOrderOfFrames(mode: PlaybackMode, expected: [Int]) throws {
        let (player, screen) = try player(FakeFrames(delays: [10, 10, 10, 10]))
        player.mode = mode
        player.play()
        clock.advance(by: .milliseconds(mode == .bounce ? 50 : 40))
        #expect(screen.indices == expected)
    }

    // MARK: - Late frames

    @Test func aBusyMainLoopShowsEveryFrameOrKeepsTheTime() throws {
        for drops in [false, true] {
            let clock = ManualFrameClock()
            let frames = FakeFrames(delays: Array(repeating: 10, count: 20))
            let player = try #require(AnimatedImagePlayer(frames.image, clock: clock))
            player.dropsLateFrames = drops
            let screen = Screen(player, clock)
            player.play()
            clock.jump(by: .milliseconds(73))
            clock.advance(by: .milliseconds(27))
            // If late frames are dropped, frames 1 to 6 are.
            #expect(screen.shown == (drops ? ["7@73", "8@80", "9@90", "10@100"] : ["1@73", "2@73", "3@83", "4@93"]))
        }
    }

    @Test func aFrameThatIsNotDecodedIsWaitedFor() async throws {
        let frames = FakeFrames(delays: [10, 10, 10], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        #expect(frames.prepared == [1], "the next one is decoded while this one is shown")
        clock.advance(by: .milliseconds(35))
        #expect(await eventually { frames.isAwaited(1) })
        frames.finish(1)
        #expect(await eventually { !screen.shown.isEmpty })
        frames.finish(2)
        clock.advance(by: .milliseconds(10))
        // The animation's time stood still during the wait, so the frame is shown for its full time.
        #expect(screen.shown == ["1@35", "2@45"])
    }

    @Test func aSeekForgetsTheFrameThatWasWaitedFor() async throws {
        let frames = FakeFrames(delays: [10, 10, 10, 10], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(10))
        #expect(await eventually { frames.isAwaited(1) })
        player.seek(to: 3)
        #expect(await eventually { frames.isAwaited(3) })
        frames.finish(1)
        frames.finish(3)
        #expect(await eventually { !screen.shown.isEmpty })
        #expect(screen.indices == [3])
    }

    /// After a seek from `onFrame`, the shown frame's time once ran on, and the sought frame was skipped if its decode
    /// took longer.
    @Test func aFrameThatIsSoughtFromOnFrameIsWaitedFor() async throws {
        let frames = FakeFrames(delays: [10, 10, 10, 10], isInstant: false)
        let (player, screen) = try player(frames)
        for index in 0...2 { frames.finish(index) }
        let show = player.onFrame
        player.onFrame = { [unowned player] image, index in
            show?(image, index)
            if index == 1 { player.seek(to: 3) }
        }
        player.play()
        clock.advance(by: .milliseconds(10))
        #expect(await eventually { frames.isAwaited(3) })
        clock.advance(by: .milliseconds(50))
        frames.finish(3)
        #expect(await eventually { player.isSettled })
        #expect(screen.indices == [1, 3])
    }

    /// The last round was once counted twice: when it ended, and when playing went on.
    @Test func aRoundIsCountedOnce() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.loopLimit = 1
        player.play()
        clock.advance(by: .seconds(1))
        #expect(screen.loops == [1] && screen.ends == 1)
        player.loopLimit = 3
        player.play()
        clock.advance(by: .seconds(2))
        #expect(screen.loops == [1, 2, 3] && screen.ends == 2)
        #expect(screen.indices == [1, 2, 0, 1, 2, 0, 1, 2])
    }

    /// A seek or a new limit from the last round's `onLoop` once had no effect, because the animation ended anyway.
    @Test func theLastRoundMayBeFollowedByMore() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.loopLimit = 1
        var told = 0
        player.onLoop = { [unowned player] _ in
            told += 1
            if told == 1 { player.seek(to: 1, loop: 0) }
            if told == 2 { player.loopLimit = 2 }
        }
        player.play()
        clock.advance(by: .milliseconds(300))
        #expect(screen.shown == ["1@100", "2@200", "1@300"] && player.isPlaying && screen.ends == 0)
        clock.advance(by: .milliseconds(200))
        #expect(screen.indices == [1, 2, 1, 2, 0] && player.isPlaying && screen.ends == 0)
        clock.advance(by: .seconds(1))
        #expect(screen.indices == [1, 2, 1, 2, 0, 1, 2] && !player.isPlaying && screen.ends == 1)
        #expect(told == 3 && clock.waitingCount == 0)
    }

    @Test func noRateIsTooLargeOrTooSmall() throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.play()
        for rate in [1e-30, .infinity, 1, -.infinity, .nan, 1e300, 1e-18, 1e-19, 1] { player.rate = rate }
        clock.advance(by: .milliseconds(1))
        player.rate = .nan
        #expect(player.rate == 0)
        let shown = screen.shown.count
        clock.advance(by: .seconds(1))
        #expect(screen.shown.count == shown)
    }

    @Test func aDamagedFrameEndsPlayingWithAnError() async throws {
        let frames = FakeFrames(delays: [10, 10, 10], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(10))
        #expect(await eventually { frames.isAwaited(1) })
        frames.finish(1, WebImageError(.corruptData, "a damaged frame"))
        #expect(await eventually { player.error != nil })
        #expect(!player.isPlaying && player.currentFrame.size.width == 1 && screen.ends == 1 && clock.waitingCount == 0)
        #expect(player.currentIndex == 0)
    }

    // MARK: - Growing, hiding, sharing

    @Test func anAnimationMayArriveWhileItPlays() throws {
        let frames = FakeFrames(delays: [10, 10], loops: 1, isComplete: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(40))
        #expect(screen.indices == [1] && player.isPlaying)
        frames.add(delays: [10, 10], isComplete: false)
        player.update(frames.image)
        clock.advance(by: .milliseconds(30))
        #expect(screen.indices == [1, 2, 3])
        frames.add(delays: [10], isComplete: true)
        clock.advance(by: .milliseconds(40))
        #expect(screen.indices == [1, 2, 3, 4] && !player.isPlaying, "and never goes back")
        // An update with fewer frames changes nothing.
        player.update(FakeFrames(delays: [10, 10]).image)
        #expect(player.animation.frameCount == 5)
    }

    @Test func anInvisiblePlayerRestsAndFreesItsFrames() throws {
        let frames = FakeFrames(delays: [100, 100])
        let (player, screen) = try player(frames)
        let other = try #require(AnimatedImagePlayer(frames.image, clock: clock))
        player.play()
        clock.advance(by: .milliseconds(30))
        player.isVisible = false
        clock.advance(by: .seconds(9))
        #expect(screen.shown.isEmpty && clock.waitingCount == 0 && player.isPlaying)
        #expect(frames.viewers == 1 && frames.freed == 0, "another player shows them")
        other.isVisible = false
        #expect(frames.viewers == 0 && frames.freed == 1)
        player.isVisible = true
        clock.advance(by: .milliseconds(70))
        #expect(screen.shown == ["1@9100"] && frames.viewers == 1)
    }

    @Test func aReleasedPlayerStops() throws {
        let frames = FakeFrames(delays: [10, 10])
        var player = AnimatedImagePlayer(frames.image, clock: clock)
        player?.play()
        #expect(frames.viewers == 1 && clock.waitingCount == 1)
        player = nil
        #expect(frames.viewers == 0 && clock.waitingCount == 0)
        clock.advance(by: .seconds(1))
    }

    @Test func theMachinesClockWakes() async {
        let clock = SystemFrameClock()
        let (begin, gate) = (clock.now, Gate())
        let cancelled = clock.wake(at: begin) { Issue.record("it was cancelled") }
        cancelled.cancel()
        var end: Duration?
        _ = clock.wake(at: begin + .milliseconds(20)) {
            end = clock.now
            gate.open()
        }
        await gate.opened()
        #expect(end.map { $0 >= begin + .milliseconds(20) } == true)
    }
}
