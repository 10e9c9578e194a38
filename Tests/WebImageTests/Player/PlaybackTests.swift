import Testing

@testable import WebImage

/// The order of frames in each playback mode.
@Suite struct PlaybackTests {
    private func indices(_ mode: PlaybackMode, count: Int, rounds: Int, steps: Int) -> [Int] {
        var playback = Playback(mode: mode, count: count, isComplete: true, roundLimit: rounds)
        playback.seek(to: playback.start)
        var indices = [playback.index]
        while indices.count < steps, !playback.isOver, playback.advance() { indices.append(playback.index) }
        return indices
    }

    @Test(arguments: [
        (PlaybackMode.forward, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]), (.reverse, [3, 2, 1, 0, 3, 2, 1, 0, 3, 2]),
        (.bounce, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3]), (.reversedBounce, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]),
    ])
    func framesComeInTheOrderOfTheMode(mode: PlaybackMode, expected: [Int]) {
        #expect(indices(mode, count: 4, rounds: 0, steps: 10) == expected)
    }

    @Test(arguments: [
        (PlaybackMode.forward, [0, 1, 2, 0, 1, 2]), (.reverse, [2, 1, 0, 2, 1, 0]),
        (.bounce, [0, 1, 2, 1, 0, 1, 2, 1, 0]), (.reversedBounce, [2, 1, 0, 1, 2, 1, 0, 1, 2]),
    ])
    func aLimitOfRoundsHolds(mode: PlaybackMode, expected: [Int]) {
        #expect(indices(mode, count: 3, rounds: 2, steps: 100) == expected)
    }

    @Test func twoFramesBounceAsWell() {
        #expect(indices(.bounce, count: 2, rounds: 0, steps: 6) == [0, 1, 0, 1, 0, 1])
        #expect(indices(.bounce, count: 2, rounds: 1, steps: 6) == [0, 1, 0])
    }

    @Test func framesThatHaveNotArrivedAreWaitedFor() {
        var playback = Playback(count: 2, isComplete: false, roundLimit: 1)
        #expect(playback.advance() && playback.next == .notThereYet && !playback.advance() && playback.index == 1)
        playback.count = 3
        #expect(playback.advance() && playback.index == 2 && playback.next == .notThereYet)
        playback.isComplete = true
        #expect(playback.next == .end)
    }

    /// A bounce turns at the last frame that has arrived only once it is known to be the animation's last.
    @Test func aBounceDoesNotTurnEarly() {
        var playback = Playback(mode: .bounce, count: 3, isComplete: false, roundLimit: 0)
        playback.seek(to: 2)
        #expect(playback.next == .notThereYet)
        playback.count = 4
        #expect(playback.next == .frame(3, completesRound: false))
        playback.isComplete = true
        #expect(playback.advance() && playback.next == .frame(2, completesRound: false))
    }
}
