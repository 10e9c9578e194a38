import Testing
import WebImageTesting

@testable import WebImage

/// Replacing an animation's frames by frames of another size while it is played.
extension AnimatedImagePlayerTests {
    /// A view that grows loads its animation in a larger size. The animation once began again, even when it was paused
    /// or at its end.
    @Test func framesOfAnotherSizeContinueAtTheSamePosition() async throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100, 100]))
        player.rate = 0.5
        player.play()
        clock.advance(by: .milliseconds(850))
        #expect(screen.indices == [1, 2, 0, 1] && player.currentLoop == 1)
        let larger = FakeFrames(delays: [100, 100, 100], height: 2)
        #expect(player.replaceFrames(with: larger.image))
        #expect(await eventually { player.currentFrame.size.height == 2 })
        #expect(player.isPlaying && player.rate == 0.5 && larger.viewers == 1)
        clock.advance(by: .milliseconds(150))
        // The shown frame is shown in its new size, and only for the rest of its time.
        #expect(screen.shown.suffix(3) == ["1@800", "1@850", "2@1000"] && player.currentLoop == 1)
        player.pause()
        #expect(player.replaceFrames(with: FakeFrames(delays: [100, 100, 100], height: 3).image))
        #expect(await eventually { player.currentFrame.size.height == 3 })
        #expect(!player.isPlaying && player.currentIndex == 2)
    }

    @Test func anAnimationThatHasEndedStaysAtItsLastFrameInAnotherSize() async throws {
        let (player, screen) = try player(FakeFrames(delays: [100, 100], loops: 1))
        player.play()
        clock.advance(by: .seconds(1))
        #expect(screen.ends == 1)
        #expect(player.replaceFrames(with: FakeFrames(delays: [100, 100], loops: 1, height: 2).image))
        #expect(await eventually { player.currentFrame.size.height == 2 })
        clock.advance(by: .seconds(1))
        #expect(player.currentIndex == 1 && !player.isPlaying && player.currentLoop == 1 && screen.ends == 1)
    }

    /// A frame that is awaited when the size changes is shown in the old size, and then in the new one.
    @Test func anAwaitedFrameIsReplacedByTheNewSize() async throws {
        let frames = FakeFrames(delays: [100, 100, 100], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(100))
        #expect(await eventually { frames.isAwaited(1) })
        #expect(player.replaceFrames(with: FakeFrames(delays: [100, 100, 100], height: 2).image))
        frames.finish(1)
        #expect(await eventually { player.currentFrame.size.height == 2 })
        #expect(screen.indices == [1, 1] && player.isSettled)
    }

    @Test func anotherAnimationDoesNotTakeOver() throws {
        let (player, _) = try player(FakeFrames(delays: [100, 100]))
        #expect(!player.replaceFrames(with: Fixture.gradient(4, 4)))
        #expect(!player.replaceFrames(with: FakeFrames(delays: [100, 100, 100]).image))
        #expect(!player.replaceFrames(with: FakeFrames(delays: [100, 100], isComplete: false).image))
        #expect(player.animation.frameCount == 2)
    }
}
