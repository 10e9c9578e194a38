import Testing

@testable import WebImageCodecs

@Suite struct FailedStartsTests {
    private let begin = ContinuousClock.now

    @Test func aPauseFollowsFiveFailuresInTenSeconds() {
        var starts = FailedStarts()
        for second in 0..<4 { starts.noteFailure(at: begin + .seconds(second)) }
        #expect(starts.rest(at: begin + .seconds(3)) == nil)
        starts.noteFailure(at: begin + .seconds(4))
        #expect(starts.rest(at: begin + .seconds(4)) == .seconds(1))
        #expect(starts.rest(at: begin + .seconds(5)) == nil)
        var rare = FailedStarts()
        for count in 0..<20 { rare.noteFailure(at: begin + .seconds(3 * count)) }
        #expect(rare.rest(at: begin + .seconds(57)) == nil)
    }

    @Test func pausesDoubleUntilAStartSucceeds() {
        var starts = FailedStarts()
        for _ in 0..<5 { starts.noteFailure(at: begin) }
        // Starts that were under way when the pause began do not count.
        for _ in 0..<5 { starts.noteFailure(at: begin) }
        var now = begin
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            #expect(starts.rest(at: now) == .seconds(pause))
            now += .seconds(pause)
            #expect(starts.rest(at: now) == nil)
            starts.noteFailure(at: now)
        }
        starts.noteSuccess()
        for _ in 0..<4 { starts.noteFailure(at: now) }
        #expect(starts.rest(at: now) == nil)
        starts.noteFailure(at: now)
        #expect(starts.rest(at: now) == .seconds(1))
    }
}
