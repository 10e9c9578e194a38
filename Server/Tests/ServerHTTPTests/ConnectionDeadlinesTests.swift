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

    @Test func aBodyThatNeverEndsIsNoRest() {
        var deadlines = Self.opened()
        deadlines.receivedBytes(now: at(0))
        deadlines.requestBegan()
        deadlines.answered(now: at(1))
        deadlines.receivedBytes(now: at(10))
        #expect(deadlines.verdict(progress: 0, now: at(11)) == .slowRequest)
    }

    @Test func nobodyIsTimedWhileAnAnswerIsOwed() {
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

    @Test func whoReadsNothingHasTenSeconds() {
        var deadlines = Self.opened()
        deadlines.readerIsAwaited(progress: 5000, now: at(3))
        #expect(deadlines.nextCheck == at(13))
        #expect(deadlines.verdict(progress: 5000, now: at(12.9)) == .open)
        #expect(deadlines.verdict(progress: 5000, now: at(13)) == .slowReader)
    }

    /// - Returns: when a reader was closed of whom `taken` says how many bytes it has read by a time; nil: it was not in ten minutes.
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
    func whoReads16KiBASecondIsNeverClosed(lump: UInt64) {
        #expect(end { UInt64($0 * 16384) / lump * lump } == nil)
        // Nor where the event loop is late.
        #expect(end(late: 12) { UInt64($0 * 16384) / lump * lump } == nil)
    }

    @Test func whoReadsHalfOfThatIsClosedSoon() throws {
        let end = try #require(end { UInt64($0 * 8192) })
        #expect((10...30).contains(end))
    }

    @Test func aByteNowAndThenIsNotReading() throws {
        let end = try #require(end { UInt64($0) })
        #expect((10...12).contains(end))
    }

    @Test func whatWasReadBeforeEarnsNoCredit() throws {
        // A hundred megabytes at once, and then nothing.
        let end = try #require(end { $0 < 5 ? 0 : 100_000_000 })
        #expect(end == 20)
    }

    /// - Returns: a connection of HTTP/2 on which a request was made and answered by the fifth second.
    private func multiplexed() -> ConnectionDeadlines {
        var deadlines = Self.opened()
        deadlines.becomesMultiplexed()
        deadlines.requestBegan()
        deadlines.requestEnded()
        deadlines.answered(now: at(5))
        return deadlines
    }

    /// It is asked to leave after the idle time, and has a reader's time to do so.
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
        // Who still waits for an answer stays for it.
        var busy = multiplexed()
        busy.requestBegan()
        busy.leaves(now: at(6))
        #expect(busy.nextCheck == nil)
        busy.answered(now: at(30))
        #expect(busy.nextCheck == at(40))
    }
}
