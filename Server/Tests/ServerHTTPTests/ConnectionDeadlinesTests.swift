import NIOCore
import Testing

@testable import ServerHTTP

@Suite struct ConnectionDeadlinesTests {
    private static func at(_ seconds: Double) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds * 1e9)) }

    private static func opened() -> ConnectionDeadlines {
        ConnectionDeadlines(ConnectionDeadlines.Limits(idle: .seconds(30)), now: at(0))
    }

    private func at(_ seconds: Double) -> NIODeadline { Self.at(seconds) }

    @Test func aHeadThatComesByteByByteHasTenSecondsInAll() {
        var deadlines = Self.opened()
        for second in 1..<10 { deadlines.receivedBytes(now: at(Double(second))) }
        #expect(deadlines.nextCheck == at(10))
        #expect(deadlines.verdict(progress: 0, now: at(9)) == .open)
        #expect(deadlines.verdict(progress: 0, now: at(10)) == .slowRequest)
    }

    @Test func theTimeOfALaterRequestBeginsWithItsFirstByte() {
        var deadlines = Self.opened()
        deadlines.receivedBytes(now: at(1))
        deadlines.requestBegan()
        deadlines.requestEnded()
        #expect(deadlines.nextCheck == nil)
        deadlines.answered(now: at(5))
        #expect(deadlines.nextCheck == at(35))
        #expect(deadlines.verdict(progress: 0, now: at(35)) == .idle)
        deadlines.receivedBytes(now: at(20))
        deadlines.receivedBytes(now: at(29))
        #expect(deadlines.nextCheck == at(30))
        #expect(deadlines.verdict(progress: 0, now: at(30)) == .slowRequest)
    }

    @Test func aBodyThatNeverEndsIsASlowRequest() {
        var deadlines = Self.opened()
        deadlines.receivedBytes(now: at(0))
        deadlines.requestBegan()
        deadlines.answered(now: at(1))
        deadlines.receivedBytes(now: at(10))
        #expect(deadlines.verdict(progress: 0, now: at(11)) == .slowRequest)
    }

    @Test func noDeadlineRunsWhileAnAnswerIsOwed() {
        var deadlines = Self.opened()
        for _ in 0..<2 {
            deadlines.requestBegan()
            deadlines.requestEnded()
        }
        deadlines.answered(now: at(1))
        deadlines.receivedBytes(now: at(2))
        #expect(deadlines.nextCheck == nil)
        #expect(deadlines.verdict(progress: 0, now: at(100)) == .open)
        deadlines.answered(now: at(100))
        #expect(deadlines.nextCheck == at(110))
    }

    @Test func theAnswerToNoRequestIsNotCounted() {
        var deadlines = Self.opened()
        deadlines.answered(now: at(1))
        #expect(deadlines.requestsInProgress == 0)
    }

    @Test func aClientThatReadsNothingHasTenSeconds() {
        var deadlines = Self.opened()
        deadlines.readerIsAwaited(progress: 5000, now: at(3))
        #expect(deadlines.nextCheck == at(13))
        #expect(deadlines.verdict(progress: 5000, now: at(12.9)) == .open)
        #expect(deadlines.verdict(progress: 5000, now: at(13)) == .slowReader)
    }

    /// Simulates a client that has read `taken(time)` bytes by each time in seconds.
    ///
    /// - Parameter late: By how many seconds each check comes late.
    /// - Returns: The time at which the client is closed as too slow, or nil if it is not closed within ten minutes.
    private func end(late: Double = 0, _ taken: (Double) -> UInt64) -> Double? {
        var deadlines = Self.opened()
        deadlines.readerIsAwaited(progress: 0, now: at(0))
        while let next = deadlines.nextCheck {
            let now = Double(next.uptimeNanoseconds) / 1e9 + late
            if now > 600 { return nil }
            if deadlines.verdict(progress: taken(now), now: at(now)) == .slowReader { return now }
        }
        return nil
    }

    @Test(arguments: [1, 16 << 10, 64 << 10, 128 << 10])
    func aClientThatReads16KiBASecondIsNeverClosed(lump: UInt64) {
        #expect(end { UInt64($0 * 16384) / lump * lump } == nil)
        // Nor is the client closed if the event loop is late.
        #expect(end(late: 12) { UInt64($0 * 16384) / lump * lump } == nil)
    }

    @Test func aClientThatReads8KiBASecondIsClosedSoon() throws {
        let end = try #require(end { UInt64($0 * 8192) })
        #expect((10...30).contains(end))
    }

    @Test func aClientThatReadsAByteASecondIsClosed() throws {
        let end = try #require(end { UInt64($0) })
        #expect((10...12).contains(end))
    }

    @Test func fastReadingEarnsNoCreditForLater() throws {
        // The client reads a hundred megabytes at once, and then nothing.
        let end = try #require(end { $0 < 5 ? 0 : 100_000_000 })
        #expect(end == 20)
    }

    /// A connection of HTTP/2 with one request, which was answered at the fifth second.
    private func multiplexed() -> ConnectionDeadlines {
        var deadlines = Self.opened()
        deadlines.becomesMultiplexed()
        deadlines.requestBegan()
        deadlines.requestEnded()
        deadlines.answered(now: at(5))
        return deadlines
    }

    /// After the idle time the client is asked to leave. It has as much time for that as a reader.
    @Test func aClientThatDoesNotLeaveIsClosed() {
        var deadlines = multiplexed()
        deadlines.receivedBytes(now: at(20))
        #expect(deadlines.nextCheck == at(45))
        #expect(deadlines.verdict(progress: 0, now: at(44.9)) == .open)
        #expect(deadlines.verdict(progress: 0, now: at(45)) == .idle)
    }

    @Test func aClientIsNotIdleWhileItReads() {
        var deadlines = multiplexed()
        deadlines.requestBegan()
        deadlines.partWaits(now: at(50))
        deadlines.answered(now: at(50))
        #expect(deadlines.nextCheck == at(60))
        deadlines.partWent(now: at(59))
        #expect(deadlines.verdict(progress: 0, now: at(60)) == .open)
        #expect(deadlines.nextCheck == at(99))
    }

    @Test func aServerThatStopsDoesNotWaitForIdleClients() {
        var deadlines = multiplexed()
        deadlines.leaves(now: at(6))
        #expect(deadlines.nextCheck == at(16))
        // A client that still waits for an answer is not closed.
        var busy = multiplexed()
        busy.requestBegan()
        busy.leaves(now: at(6))
        #expect(busy.nextCheck == nil)
        busy.answered(now: at(30))
        #expect(busy.nextCheck == at(40))
    }
}
