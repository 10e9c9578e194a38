import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Frames that are not decoded when they are due, while the player is paused, stopped or sought, and which players count
/// as viewers.
extension AnimatedImagePlayerTests {
    /// After `pause()` or `stop()`, the frame for which the player had waited was once shown, and its round and its
    /// error were reported.
    @Test(arguments: [false, true], [false, true])
    func aFrameThatWasAwaitedIsNotShownAfterAPause(stops: Bool, isDamaged: Bool) async throws {
        let frames = FakeFrames(delays: [10, 10], loops: 2, isInstant: false)
        let (player, screen) = try player(frames)
        frames.finish(1)
        player.play()
        clock.advance(by: .milliseconds(20))
        #expect(await eventually { frames.isAwaited(0) })
        #expect(screen.shown == ["1@10"])
        stops ? player.stop() : player.pause()
        #expect(player.isSettled && player.currentIndex == 1 && player.currentLoop == 0)
        frames.finish(0, isDamaged ? WebImageError(.corruptData, "a damaged frame") : nil)
        for _ in 0..<200 { await Task.yield() }
        #expect(screen.shown == ["1@10"] && screen.loops.isEmpty && screen.ends == 0 && player.error == nil)
        frames.finish(0)
        clock.advance(by: .seconds(1))
        player.play()
        clock.advance(by: .milliseconds(1))
        #expect(screen.shown == ["1@10", "0@1020"] && screen.loops == [1], "the frame was due long ago")
    }

    @Test func aFrameThatIsSoughtIsShownAfterAPause() async throws {
        let frames = FakeFrames(delays: [10, 10, 10], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        player.seek(to: 2)
        #expect(await eventually { frames.isAwaited(2) })
        player.pause()
        frames.finish(2)
        #expect(await eventually { player.isSettled })
        #expect(screen.indices == [2] && player.currentIndex == 2)
    }

    /// A new size that arrives while the player waits for a frame is for the frame that it then goes back to.
    @Test func aPauseKeepsTheNewSizeOfTheFrame() async throws {
        let frames = FakeFrames(delays: [100, 100, 100], isInstant: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(100))
        #expect(await eventually { frames.isAwaited(1) })
        #expect(player.replaceFrames(with: FakeFrames(delays: [100, 100, 100], height: 2).image))
        player.pause()
        frames.finish(1)
        #expect(await eventually { player.currentFrame.size.height == 2 })
        #expect(screen.indices == [0] && player.currentFrame.size.width == 1 && player.currentIndex == 0)
    }

    /// A frame that was sought while the player waited for more of the file was once cut short when more arrived.
    @Test func aSoughtFrameIsShownForItsTimeWhenMoreFramesArrive() throws {
        let frames = FakeFrames(delays: [100, 100], isComplete: false)
        let (player, screen) = try player(frames)
        player.play()
        clock.advance(by: .milliseconds(250))
        #expect(screen.shown == ["1@100"])
        player.seek(to: 0)
        frames.add(delays: [100], isComplete: true)
        player.update(frames.image)
        clock.advance(by: .milliseconds(100))
        #expect(screen.shown == ["1@100", "0@250", "1@350"])
    }

    /// A user who moved a slider over a bounce that had ended once got a report of its end for each visit to its start.
    @Test func seekingAfterTheEndOfABounceDoesNotReportTheEndAgain() throws {
        let (player, screen) = try player(FakeFrames(delays: [10, 10, 10], loops: 1))
        player.mode = .bounce
        player.play()
        clock.advance(by: .seconds(1))
        #expect(screen.indices == [1, 2, 1, 0] && screen.ends == 1)
        for index in [2, 0, 1, 0] { player.seek(to: index) }
        #expect(screen.ends == 1 && !player.isPlaying)
        player.play()
        clock.advance(by: .seconds(1))
        #expect(screen.ends == 2)
    }

    // MARK: - Viewers

    /// A hidden player that kept its frames was once not counted as a viewer after its frames had changed size, nor
    /// after the setting had changed.
    @Test func aHiddenPlayerThatKeepsItsFramesIsAViewer() throws {
        let frames = FakeFrames(delays: [10, 10])
        let player = try #require(AnimatedImagePlayer(frames.image, clock: clock))
        player.freesWhenHidden = false
        player.isVisible = false
        #expect(frames.viewers == 1 && frames.freed == 0)
        let larger = FakeFrames(delays: [10, 10], height: 2)
        #expect(player.replaceFrames(with: larger.image))
        #expect(frames.viewers == 0 && larger.viewers == 1)
        player.freesWhenHidden = true
        #expect(larger.viewers == 0 && larger.freed == 1)
        player.freesWhenHidden = false
        player.isVisible = true
        #expect(larger.viewers == 1)
    }

    /// It entered and left as the last viewer, which released frames that had been decoded ahead.
    @Test func aPlayerThatIsHiddenFromTheBeginningReleasesNoFrames() throws {
        let frames = FakeFrames(delays: [10, 10])
        let player = try #require(AnimatedImagePlayer(frames.image, clock: clock, isVisible: false))
        #expect(!player.isVisible && frames.viewers == 0 && frames.freed == 0)
        player.isVisible = true
        #expect(frames.viewers == 1)
    }

    /// `stop()` once made a hidden player a viewer.
    @Test func aHiddenPlayerThatStopsIsNoViewer() throws {
        let frames = FakeFrames(delays: [10, 10])
        let player = try #require(AnimatedImagePlayer(frames.image, clock: clock))
        player.freesWhenStopped = true
        player.isVisible = false
        player.stop()
        #expect(frames.viewers == 0)
        player.isVisible = true
        #expect(frames.viewers == 1)
    }
}
