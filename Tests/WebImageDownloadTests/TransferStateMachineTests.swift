import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload

@Suite struct TransferStateMachineTests {
    private func machine(
        _ deadlines: DownloadDeadlines = DownloadDeadlines(), limit: Int = 1000, redirects: Int = 3,
        method: HTTPRequest.Method = .get, url: String = "http://h/a"
    ) throws -> TransferStateMachine {
        TransferStateMachine(
            RedirectChain(try WebURL(url), method: method, limit: redirects),
            rules: .init(bodyLimit: limit),
            clocks: TransferClocks(deadlines, createdAt: .zero))
    }

    private func head(_ status: Int = 200, length: Int? = nil, location: String? = nil) -> ResponseHead {
        var fields = HTTPFields()
        if let length { fields[.contentLength] = "\(length)" }
        if let location { fields[.location] = location }
        return ResponseHead(status: status, headers: fields)
    }

    private func name(_ action: TransferStateMachine.Action) -> String {
        switch action {
        case .none: "none"
        case .accept(let length): "accept \(length.map { "\($0)" } ?? "unknown")"
        case .replace(let length): "replace \(length.map { "\($0)" } ?? "unknown")"
        case .keep: "keep"
        case .stopTransport: "stop"
        case .abort(let error, let stops): "abort \(error.code.name)\(stops ? " and stop" : "")"
        case .resume: "go on"
        case .hop: "hop"
        case .rest(let error, let until): "rest until \(until) after \(error.code.name)"
        case .requeue: "requeue"
        case .end(.complete): "complete"
        case .end(.failed(let error)): "failed \(error.code.name)"
        case .release: "release"
        }
    }

    private let lost = WebImageError(.connectionLost, "lost")

    @Test func aBodyIsKeptToItsEnd() throws {
        var machine = try machine()
        #expect(machine.start(at: .zero) == true)
        #expect(machine.start(at: .zero) == false)
        machine.connected(at: .seconds(1))
        #expect(name(machine.head(head(length: 5), at: .seconds(1))) == "accept 5")
        #expect(name(machine.bytes(3, at: .seconds(1))) == "keep")
        #expect(name(machine.bytes(2, at: .seconds(1))) == "keep")
        #expect(name(machine.finished(nil, at: .zero)) == "complete")
        #expect(name(machine.finished(nil, at: .zero)) == "none")
        #expect(machine.clocks.next == nil)
    }

    @Test func aShortBodyIsTruncatedWhateverTheTransportSays() throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        _ = machine.head(head(length: 5), at: .zero)
        _ = machine.bytes(4, at: .zero)
        #expect(name(machine.finished(nil, at: .zero)) == "failed truncatedBody")
    }

    @Test func anAnswerToHEADHasNoBodyToWaitFor() throws {
        var machine = try machine(limit: 10, method: .head)
        _ = machine.start(at: .zero)
        #expect(name(machine.head(head(length: 5000), at: .zero)) == "accept unknown")
        #expect(name(machine.finished(nil, at: .zero)) == "complete")
    }

    @Test func aBodyThatIsLongerThanAnnouncedIsNoPicture() throws {
        var machine = try machine(limit: 100)
        _ = machine.start(at: .zero)
        #expect(name(machine.head(head(length: 5), at: .zero)) == "accept 5")
        #expect(name(machine.bytes(7, at: .zero)) == "keep")
        #expect(name(machine.finished(nil, at: .zero)) == "failed protocolError")
    }

    @Test func aTooLargeBodyIsRefusedWhenAnnouncedAndWhenCounted() throws {
        var announced = try machine(limit: 10)
        _ = announced.start(at: .zero)
        #expect(name(announced.head(head(length: 11), at: .zero)) == "abort bodyTooLarge and stop")
        #expect(name(announced.finished(.cancelled, at: .zero)) == "release")
        var counted = try machine(limit: 10)
        _ = counted.start(at: .zero)
        #expect(name(counted.head(head(), at: .zero)) == "accept unknown")
        #expect(name(counted.bytes(10, at: .zero)) == "keep")
        #expect(name(counted.bytes(1, at: .zero)) == "abort bodyTooLarge and stop")
        #expect(name(counted.bytes(100, at: .zero)) == "none")
        #expect(name(counted.finished(.cancelled, at: .zero)) == "release")
    }

    @Test func aBadStatusIsToldAtOnceAndItsShortBodyLeftToCome() throws {
        var short = try machine()
        _ = short.start(at: .zero)
        #expect(name(short.head(head(404, length: 100), at: .zero)) == "abort badStatus")
        #expect(name(short.bytes(100, at: .zero)) == "none")
        #expect(name(short.finished(nil, at: .zero)) == "release")
        var long = try machine()
        _ = long.start(at: .zero)
        #expect(name(long.head(head(500, length: 1 << 20), at: .zero)) == "abort badStatus and stop")
        var endless = try machine()
        _ = endless.start(at: .zero)
        #expect(name(endless.head(head(500), at: .zero)) == "abort badStatus")
        #expect(name(endless.bytes(70_000, at: .zero)) == "stop")
        #expect(name(endless.expire(at: .seconds(1))) == "stop")
        #expect(name(endless.expire(at: .seconds(100))) == "none")
        #expect(name(endless.finished(.cancelled, at: .zero)) == "release")
    }

    @Test func aRedirectIsFollowedAfterItsBody() throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        machine.connected(at: .zero)
        #expect(name(machine.head(head(302, length: 3, location: "b"), at: .zero)) == "none")
        #expect(name(machine.bytes(3, at: .zero)) == "none")
        #expect(name(machine.finished(lost, at: .zero)) == "hop")
        #expect(machine.chain.current.text == "http://h/b")
        #expect(machine.start(at: .zero) == true)
        #expect(name(machine.head(head(length: 1), at: .zero)) == "accept 1")
        #expect(name(machine.bytes(1, at: .zero)) == "keep")
        #expect(name(machine.finished(nil, at: .zero)) == "complete")
        #expect(machine.received == 1)
    }

    @Test(arguments: [
        ("ftp://h/", "abort redirectRefused"), ("javascript:alert(1)", "abort redirectRefused"),
        ("http://h/a", "abort tooManyRedirects"), ("//h/", "none"), ("https://h/a", "none"),
        ("http://", "abort redirectRefused"),
    ])
    func onlyRedirectsToAllowedURLsAreFollowed(_ location: String, _ expected: String) throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        #expect(name(machine.head(head(301, location: location), at: .zero)) == expected)
    }

    @Test func aRedirectFromHTTPSToHTTPIsRefused() throws {
        var machine = try machine(url: "https://h/")
        _ = machine.start(at: .zero)
        #expect(name(machine.head(head(301, location: "http://h/b"), at: .zero)) == "abort redirectRefused")
    }

    @Test func redirectsAreCountedAndCirclesSeen() throws {
        var machine = try machine(redirects: 2)
        for hop in 1...3 {
            _ = machine.start(at: .zero)
            let action = machine.head(head(307, location: "/\(hop)"), at: .zero)
            #expect(name(action) == (hop <= 2 ? "none" : "abort tooManyRedirects"))
            _ = machine.finished(nil, at: .zero)
        }
        #expect(machine.chain.count == 2)
    }

    @Test func aRedirectWithoutAPlaceIsABadStatus() throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        #expect(name(machine.head(head(302), at: .zero)) == "abort badStatus")
    }

    @Test func secretsStayWithTheirOrigin() throws {
        var chain = RedirectChain(try WebURL("https://h/a"), method: .get, limit: 10)
        try chain.follow("/b", status: 301)
        #expect(chain.keepsSecrets)
        try chain.follow("https://other/", status: 301)
        #expect(chain.keepsSecrets == false)
        try chain.follow("https://h/c", status: 301)
        #expect(chain.keepsSecrets == false)
    }

    /// RFC 9110 section 15.4: 303 turns the method into GET, as 301 and 302 do here; 307 and 308 keep it; HEAD stays
    /// HEAD.
    @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "PUT"), (308, "PUT")])
    func theMethodFollowsTheStandard(_ status: Int, _ method: String) throws {
        var chain = RedirectChain(try WebURL("http://h/a"), method: .put, limit: 10)
        try chain.follow("/b", status: status)
        #expect(chain.method.rawValue == method)
        var ofHead = RedirectChain(try WebURL("http://h/a"), method: .head, limit: 10)
        try ofHead.follow("/b", status: status)
        #expect(ofHead.method == .head)
    }

    // MARK: Deadlines

    @Test func eachPhaseHasItsOwnDeadline() throws {
        let deadlines = DownloadDeadlines(connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3))
        var connecting = try machine(deadlines)
        #expect(connecting.clocks.next == nil)
        _ = connecting.start(at: .seconds(10))
        #expect(connecting.clocks.next == .seconds(11))
        #expect(name(connecting.expire(at: .milliseconds(10_999))) == "none")
        #expect(name(connecting.expire(at: .seconds(11))) == "abort connectTimeout and stop")
        #expect(name(connecting.expire(at: .seconds(99))) == "none")
        #expect(name(connecting.finished(.cancelled, at: .zero)) == "release")

        var waiting = try machine(deadlines)
        _ = waiting.start(at: .zero)
        waiting.connected(at: .seconds(1))
        #expect(name(waiting.expire(at: .milliseconds(2999))) == "none")
        #expect(name(waiting.expire(at: .seconds(3))) == "abort firstByteTimeout and stop")

        var receiving = try machine(deadlines)
        _ = receiving.start(at: .zero)
        receiving.connected(at: .zero)
        _ = receiving.head(head(), at: .seconds(1))
        #expect(receiving.clocks.next == .seconds(4))
        _ = receiving.bytes(1, at: .seconds(3))
        #expect(name(receiving.expire(at: .seconds(5))) == "none")
        #expect(name(receiving.expire(at: .seconds(6))) == "abort idleTimeout and stop")
    }

    @Test func theTotalCountsFromTheCallAndThroughRedirects() throws {
        let deadlines = DownloadDeadlines(connect: nil, firstByte: nil, idle: nil, total: .seconds(5))
        var queued = try machine(deadlines)
        #expect(queued.clocks.next == .seconds(5))
        #expect(name(queued.expire(at: .seconds(5))) == "failed deadlineExceeded")
        #expect(queued.start(at: .seconds(5)) == false)
        var hopping = try machine(deadlines)
        _ = hopping.start(at: .zero)
        _ = hopping.head(head(302, location: "/b"), at: .seconds(1))
        _ = hopping.finished(nil, at: .zero)
        _ = hopping.start(at: .seconds(4))
        #expect(name(hopping.expire(at: .seconds(5))) == "abort deadlineExceeded and stop")
    }

    @Test func idleAndSpeedDeadlinesPauseWithTheTransfer() throws {
        let speed = DownloadDeadlines.MinimumSpeed(bytesPerSecond: 100, window: .seconds(2))
        var machine = try machine(
            DownloadDeadlines(connect: nil, firstByte: nil, idle: .seconds(3), minimumSpeed: speed), limit: 1 << 20)
        _ = machine.start(at: .zero)
        machine.connected(at: .zero)
        _ = machine.head(head(), at: .zero)
        _ = machine.bytes(300, at: .seconds(1))
        machine.pause(at: .seconds(1))
        #expect(machine.clocks.next == nil)
        #expect(name(machine.expire(at: .seconds(50))) == "none")
        machine.resume(at: .seconds(101))
        // Before the pause, one second of the speed window and none of the idle time had passed.
        #expect(machine.clocks.next == .seconds(102))
        #expect(name(machine.expire(at: .seconds(102))) == "none")
        #expect(machine.clocks.next == .seconds(104))
        #expect(name(machine.expire(at: .seconds(104))) == "abort idleTimeout and stop")
    }

    @Test func aBodyThatDripsIsTooSlow() throws {
        let speed = DownloadDeadlines.MinimumSpeed(bytesPerSecond: 100, window: .seconds(2))
        var machine = try machine(DownloadDeadlines(idle: .seconds(60), minimumSpeed: speed), limit: 1 << 20)
        _ = machine.start(at: .zero)
        machine.connected(at: .zero)
        _ = machine.head(head(), at: .zero)
        _ = machine.bytes(200, at: .seconds(1))
        #expect(name(machine.expire(at: .seconds(2))) == "none")
        _ = machine.bytes(199, at: .seconds(3))
        let end = machine.expire(at: .nanoseconds(3_999_999_991))
        #expect(name(end) == "none")
        let late = machine.expire(at: .nanoseconds(4_000_000_009))
        #expect(name(late) == "abort tooSlow and stop")
        guard case .abort(let error, _) = late else { return }
        #expect(error.message == "199 bytes in 2 s, less than 100 a second")
    }

    /// The next check of the speed was once due at once, again and again.
    @Test func aWindowOfNoLengthIsNotCheckedWithoutAnEnd() throws {
        let speed = DownloadDeadlines.MinimumSpeed(bytesPerSecond: 1, window: .zero)
        var machine = try machine(DownloadDeadlines(idle: .seconds(60), minimumSpeed: speed), limit: 1 << 20)
        _ = machine.start(at: .zero)
        machine.connected(at: .zero)
        _ = machine.head(head(), at: .zero)
        _ = machine.bytes(200, at: .seconds(1))
        #expect(name(machine.expire(at: .seconds(1))) == "none")
        #expect(try #require(machine.clocks.next) > .seconds(1))
    }

    @Test func aRedirectThatDoesNotEndIsCutShort() throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        _ = machine.head(head(302, location: "/b"), at: .zero)
        #expect(machine.clocks.next == .seconds(1))
        #expect(name(machine.expire(at: .seconds(1))) == "stop")
        #expect(name(machine.finished(.cancelled, at: .zero)) == "hop")
    }

    /// When the total deadline passed while the rest of a refused body arrived, it once stayed due without effect and
    /// kept the clock's thread busy.
    @Test func aPassedDeadlineOfARefusedBodyFiresOnce() throws {
        var machine = try machine(DownloadDeadlines(total: .milliseconds(500)))
        _ = machine.start(at: .zero)
        _ = machine.head(head(404, length: 100), at: .zero)
        #expect(machine.clocks.next == .seconds(1))
        #expect(name(machine.expire(at: .seconds(1))) == "stop")
        #expect(machine.clocks.next == nil)
    }

    @Test func aCancelIsReportedOnce() throws {
        var waiting = try machine()
        #expect(name(waiting.fail(.cancelled)) == "failed cancelled")
        #expect(name(waiting.fail(.cancelled)) == "none")
        var running = try machine()
        _ = running.start(at: .zero)
        #expect(name(running.fail(.cancelled)) == "abort cancelled and stop")
        #expect(name(running.fail(.cancelled)) == "none")
        #expect(name(running.head(head(), at: .zero)) == "none")
        #expect(name(running.finished(nil, at: .zero)) == "release")
    }

    @Test func anEndWithoutAHeadIsAProtocolError() throws {
        var machine = try machine()
        _ = machine.start(at: .zero)
        #expect(name(machine.finished(nil, at: .zero)) == "failed protocolError")
    }
}
