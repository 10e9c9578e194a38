import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload

/// The arithmetic of retries: delays, dates and circuits.
@Suite struct RetryPolicyTests {
    private let lost = WebImageError(.connectionLost, "lost")

    @Test func theWaitDoublesUpToItsLimitAndIsDrawnInFull() {
        let policy = RetryPolicy(retries: 8, firstDelay: .seconds(1), longestDelay: .seconds(10))
        let longest = (1...9).map { policy.delay(before: $0, after: lost, retryAfter: nil, jitter: 1) }
        #expect(longest == [1, 2, 4, 8, 10, 10, 10, 10].map { .seconds($0) } + [nil])
        #expect(policy.delay(before: 3, after: lost, retryAfter: nil, jitter: 0) == .zero)
        #expect(policy.delay(before: 3, after: lost, retryAfter: nil, jitter: 0.25) == .seconds(1))
        #expect(policy.delay(before: 1, after: lost, retryAfter: nil, jitter: 7) == .seconds(1))
    }

    /// The multiplication once ended the process.
    @Test func theLongestTimesAreTaken() throws {
        let always = RetryPolicy(retries: 30, firstDelay: .seconds(Int64.max), longestDelay: .seconds(10))
        #expect(always.delay(before: 30, after: lost, retryAfter: nil, jitter: 1) == .seconds(10))
        let never = RetryPolicy(retries: 30, firstDelay: .seconds(Int64.max), longestDelay: .seconds(Int64.max))
        let year = try #require(never.delay(before: 30, after: lost, retryAfter: nil, jitter: 1))
        #expect((Duration.seconds(365 * 86_400)...Duration.seconds(367 * 86_400)).contains(year))
    }

    @Test func retryAfterIsObeyedUnlessItIsTooLong() {
        let policy = RetryPolicy(firstDelay: .seconds(1), longestRetryAfter: .seconds(60))
        let busy = WebImageError(.badStatus, "busy", status: 503)
        func delay(_ seconds: Int) -> Duration? {
            policy.delay(before: 1, after: busy, retryAfter: .seconds(seconds), jitter: 0.5)
        }
        #expect(delay(0) == .milliseconds(500) && delay(7) == .seconds(7) && delay(60) == .seconds(60))
        #expect(delay(61) == nil)
    }

    @Test func onlyTransientErrorsAreRetried() {
        let policy = RetryPolicy()
        let healing = WebImageError.Code.all.map(\.code).filter { policy.mayHeal(WebImageError($0, "")) }
        #expect(Set(healing) == RetryPolicy.transientCodes)
        #expect(!healing.contains(.tlsFailed) && !healing.contains(.addressRefused) && !healing.contains(.invalidURL))
        let statuses = (100..<600).filter { policy.mayHeal(WebImageError(.badStatus, "", status: $0)) }
        #expect(statuses == [408, 429, 500, 502, 503, 504])
        #expect(RetryPolicy.never.delay(before: 1, after: lost, retryAfter: nil, jitter: 0) == nil)
    }

    /// Dates in the three forms of RFC 9110 section 5.6.7, and texts that are not dates.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("6 Nov 1994 8:49:37", 784_111_777), ("06-Nov-1994 08:49:37 GMT", 784_111_777),
            ("08:49:37 november/06/94", 784_111_777), ("Sun, 06 Nov 1994 08:49:37", 784_111_777),
            ("Sat, 29 Feb 2020 23:59:60 GMT", 1_583_020_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)])
    func datesAreRead(_ text: String, _ seconds: Int64) {
        #expect(CookieDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "yesterday", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 25:00:00 GMT",
        "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:370 GMT", "::",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Nov Nov Nov Nov Nov Nov Nov Nov", "Sun, 06 Nov 99999 08:49:37 GMT",
        "1 2 3 4 5 6 7 8 9", String(repeating: "Nov ", count: 1000),
    ])
    func invalidDatesAreRefused(_ text: String) {
        #expect(CookieDate.seconds(text) == nil)
    }

    @Test(
        arguments: [
            ("120", 120), ("0", 0), ("99999999999999999999999", 1 << 31), ("-1", nil), ("soon", nil), ("1.5", nil),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ] as [(String, Int?)])
    func retryAfterIsSecondsOrADate(_ value: String, _ seconds: Int?) {
        let head = ResponseHead(
            status: 503, headers: [.retryAfter: value, .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(RetryAfter.delay(of: head, wallTime: 0) == seconds.map { .seconds($0) })
        #expect(RetryAfter.delay(of: ResponseHead(status: 503), wallTime: 0) == nil)
    }

    // MARK: Circuits

    @Test func aHostThatKeepsFailingIsLeftAloneThenProbed() {
        var breaker = CircuitBreaker(
            policy: CircuitPolicy(failures: 3, firstPause: .seconds(10), longestPause: .seconds(30)))
        func asks(_ host: String, _ time: Duration) -> Bool { breaker.admits(host, at: time) }
        for _ in 1...2 { breaker.note(.failure, of: "a", at: .zero) }
        #expect(asks("a", .zero))
        breaker.note(.failure, of: "a", at: .zero)
        #expect(!asks("a", .seconds(9)) && asks("b", .zero))
        #expect(breaker.open == ["a": .seconds(10)])
        // Only one probe is admitted at a time. A probe without a result makes room for another.
        #expect(asks("a", .seconds(10)) && !asks("a", .seconds(10)))
        breaker.note(.neither, of: "a", at: .seconds(10))
        #expect(asks("a", .seconds(11)))
        breaker.note(.failure, of: "a", at: .seconds(11))
        #expect(!asks("a", .seconds(30)) && asks("a", .seconds(31)))
        breaker.note(.failure, of: "a", at: .seconds(31))
        #expect(breaker.open == ["a": .seconds(61)])
        #expect(asks("a", .seconds(61)))
        breaker.note(.success, of: "a", at: .seconds(61))
        #expect(asks("a", .seconds(61)) && breaker.open.isEmpty)
    }

    @Test func aSuccessBetweenClearsTheCount() {
        var breaker = CircuitBreaker(policy: CircuitPolicy(failures: 2))
        func asks(_ host: String, _ time: Duration) -> Bool { breaker.admits(host, at: time) }
        for _ in 0..<10 {
            breaker.note(.failure, of: "a", at: .zero)
            breaker.note(.success, of: "a", at: .zero)
        }
        #expect(asks("a", .zero))
    }

    @Test func theNumberOfHostsIsBounded() {
        var breaker = CircuitBreaker(policy: CircuitPolicy(failures: 1))
        func asks(_ host: String, _ time: Duration) -> Bool { breaker.admits(host, at: time) }
        for number in 0..<5000 { breaker.note(.failure, of: "\(number)", at: .seconds(number)) }
        #expect(breaker.open.count == CircuitBreaker.hostLimit)
        #expect(breaker.open["4999"] != nil && breaker.open["0"] == nil)
    }
}
