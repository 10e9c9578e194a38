import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Retries over real sockets, on a clock that the test moves.
@Suite struct DownloadRetryTests {
    private let body = pattern(20_000)

    private func tagged(_ tag: String = "\"v1\"", _ bytes: [UInt8]? = nil) -> OriginResponse {
        .bytes(bytes ?? body, contentType: "image/png", etag: tag)
    }

    @Test func aBusyServerIsAskedAgainAfterItsRetryAfter() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", .status(503, headers: [("Retry-After", "7")]), tagged())
        let download = rig.download("/a")
        await rig.server.waitForFinished("/a", 1)
        await rig.passRest(seconds: 6)
        #expect(rig.server.hits("/a") == 1)
        rig.clock.advance(by: .seconds(1))
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(download.metrics?.retries == 1)
        #expect(rig.server.hits("/a") == 2)
    }

    @Test func aDateInRetryAfterCountsFromTheServersOwn() async throws {
        let rig = try Rig.retrying()
        let busy = OriginResponse.status(
            429, headers: [("Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")])
        rig.server.serve("/a", busy, tagged())
        let download = rig.download("/a")
        await rig.passRest(seconds: 2)
        #expect(rig.server.hits("/a") == 1)
        rig.clock.advance(by: .seconds(1))
        #expect(await rig.fetch(download).end == "complete")
    }

    @Test func triesHaveALimitAndTheLastErrorIsTold() async throws {
        let rig = try Rig.retrying(2)
        rig.server.serve("/a", .status(500))
        let download = rig.download("/a")
        await rig.passRest(seconds: 1)
        await rig.server.waitForHits("/a", 2)
        await rig.passRest(seconds: 2)
        #expect(await rig.fetch(download).end == "badStatus")
        #expect(rig.server.hits("/a") == 3)
    }

    @Test(arguments: [404, 410, 403, 501])
    func permanentStatusesAreNotRetried(_ status: Int) async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", .status(status))
        #expect(await rig.fetch("/a").end == "badStatus")
        #expect(rig.server.hits("/a") == 1)
    }

    @Test func aServerThatAsksForTooMuchPatienceIsNotAskedAgain() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", .status(503, headers: [("Retry-After", "3600")]))
        #expect(await rig.fetch("/a").end == "badStatus")
    }

    @Test func aRetryThatWouldComeTooLateIsNotWaitedFor() async throws {
        let rig = try Rig.retrying { $0.deadlines = DownloadDeadlines(total: .seconds(5)) }
        rig.server.serve("/a", .status(503, headers: [("Retry-After", "6")]))
        #expect(await rig.fetch("/a").end == "badStatus")
    }

    @Test func onlySafeMethodsAreRepeated() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", .status(503))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.method = .post
        request.body = [1, 2, 3]
        #expect(await rig.fetch(rig.downloader.download(request)).end == "badStatus")
        #expect(rig.server.requests("/a").first?.method == "POST")
    }

    // MARK: Resuming a body

    @Test func aBrokenBodyIsResumedByARangeRequest() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", tagged().with(.cut(at: .byte(7000))), tagged())
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        let second = try #require(rig.server.requests("/a").last)
        #expect(second.header("range") == "bytes=7000-" && second.header("if-range") == "\"v1\"")
        // The server may count the bytes that it sent later than the client receives them.
        while rig.server.bodyBytesSent("/a") < body.count { await Task.yield() }
        #expect(rig.server.bodyBytesSent("/a") == body.count)
        #expect(download.metrics?.resumedBytes == 7000)
        #expect(download.exchange?.head.status == 200)
    }

    @Test func readersSeeReceivedBytesDuringARetryWait() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", tagged().with(.cut(at: .byte(7000))), tagged())
        let download = rig.download("/a")
        await download.log.readable(after: 6999)
        #expect(download.log.end == nil && download.log.receivedCount == 7000)
        await rig.passRest()
        #expect(await rig.fetch(download).end == "complete")
    }

    @Test func withoutAStrongValidatorTheWholeBodyIsRequestedAgain() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", tagged("W/\"v1\"").with(.cut(at: .byte(7000))), tagged("W/\"v1\""))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(rig.server.requests("/a").last?.header("range") == nil)
    }

    @Test func aServerThatIgnoresTheRangeIsReadFromTheStart() async throws {
        let rig = try Rig.retrying()
        let deaf = tagged().changed { $0.servesRanges = false }
        rig.server.serve("/a", deaf.with(.cut(at: .byte(7000))), deaf)
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(download.metrics?.resumedBytes == 0)
    }

    @Test(arguments: ["bytes 6999-19999/20000", "bytes 7000-19999/30000", "bytes 7001-19999/20000", "junk", ""])
    func aPartThatDoesNotFitIsRefused(_ range: String) async throws {
        let rig = try Rig.retrying()
        var part = OriginResponse(status: 206, headers: [("Content-Range", range)], body: Array(body[7000...]))
        part.servesRanges = false
        rig.server.serve("/a", tagged().with(.cut(at: .byte(7000))), part)
        let download = rig.download("/a")
        await rig.passRest()
        let (bytes, end) = await rig.fetch(download)
        #expect(["protocolError", "truncatedBody"].contains(end) && bytes == Array(body[..<7000]))
    }

    /// Some servers answer every `Range` with the same part. The download once failed, and its URL was not requested
    /// again for a minute.
    @Test(arguments: ["bytes 0-19999/20000", "bytes 7001-19999/20000", "junk"])
    func afterAPartThatDoesNotFitTheWholeIsAskedFor(_ range: String) async throws {
        let rig = try Rig.retrying()
        var part = OriginResponse(
            status: 206, headers: [("Content-Range", range), ("ETag", "\"v1\"")], body: Array(body[7000...]))
        part.servesRanges = false
        rig.server.serve("/a", tagged().with(.cut(at: .byte(7000))), part, tagged())
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(rig.server.requests("/a").map { $0.header("range") } == [nil, "bytes=7000-", nil])
    }

    @Test func anUnrequestedPartIsAProtocolError() async throws {
        let rig = try Rig.retrying()
        var part = OriginResponse(status: 206, headers: [("Content-Range", "bytes 0-9/100")], body: Array(body[..<10]))
        part.servesRanges = false
        rig.server.serve("/a", part)
        #expect(await rig.fetch("/a") == ([], "protocolError"))
    }

    /// A 206 need not repeat the content type of the whole.
    @Test func aPartWithoutATypeGoesOn() async throws {
        let rig = try Rig.retrying()
        rig.downloader.configuration.acceptableContentTypes = ["image/*"]
        var part = OriginResponse(
            status: 206, headers: [("Content-Range", "bytes 7000-19999/20000"), ("ETag", "\"v1\"")],
            body: Array(body[7000...]))
        part.servesRanges = false
        rig.server.serve("/a", tagged().with(.cut(at: .byte(7000))), part)
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(download.metrics?.resumedBytes == 7000)
    }

    /// Some servers answer every request with a 206.
    @Test(arguments: ["bytes 0-9/10", "bytes 0-9/*"]) func aPartThatIsTheWholeIsTaken(_ range: String) async throws {
        let rig = try Rig.retrying()
        let whole = Array(body[..<10])
        var part = OriginResponse(status: 206, headers: [("Content-Range", range)], body: whole)
        part.servesRanges = false
        rig.server.serve("/a", part)
        let download = rig.download("/a")
        #expect(await rig.fetch(download) == (whole, "complete"))
    }

    /// A header field may continue on the next line if that line begins with a space or tab.
    @Test func foldedFieldsAreReadWhole() async throws {
        let rig = try Rig.retrying()
        let fields = [("Cache-Control", "max-age=3600,\r\n no-store"), ("Vary", "Foo,\r\n\t*"), ("X-Next", "1")]
        rig.server.serve("/a", OriginResponse(status: 200, headers: fields, body: body))
        let download = rig.download("/a")
        #expect(await rig.fetch(download) == (body, "complete"))
        let head = try #require(download.exchange?.head)
        #expect(CacheControl(head[.cacheControl]).noStore && head[.vary]?.hasSuffix("*") == true)
        #expect(head[try #require(HTTPField.Name("X-Next"))] == "1")
    }

    @Test func aBodyWhoseEndWasLostIsWholeWhenNothingIsLeft() async throws {
        let rig = try Rig.retrying()
        let chunked = tagged().with(framing: .chunked(size: 4000))
        rig.server.serve("/a", chunked.with(.cut(at: .byte(20_000))), tagged())
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(rig.server.requests("/a").last?.header("range") == "bytes=20000-")
    }

    /// A server once sent more than it had announced. The rest came when the connection was already used for the next
    /// URL, which then failed with `protocolError` and was not tried again.
    @Test func theRestOfAnEarlierAnswerDoesNotFailTheNext() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/long", tagged())
        var garbled = tagged()
        garbled.prologue = Array("the end of a picture".utf8)
        garbled.keepsAlive = false
        rig.server.serve("/a", garbled, tagged())
        #expect(await rig.fetch("/long").end == "complete")
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(rig.server.hits("/a") == 2)
    }

    @Test func aStandstillIsTriedAgainToo() async throws {
        let rig = try Rig.retrying { $0.deadlines = DownloadDeadlines(idle: .seconds(3)) }
        rig.server.serve("/a", tagged().with(.stall(at: .byte(7000))), tagged())
        let download = rig.download("/a")
        await download.log.readable(after: 6999)
        rig.clock.advance(by: .seconds(3))
        await rig.passRest()
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(rig.server.requests("/a").last?.header("range") == "bytes=7000-")
    }

    // MARK: While a transfer waits for its retry

    @Test func aTransferAwaitingARetryHoldsNoSlotAndCanBeJoined() async throws {
        let rig = try Rig.retrying { $0.maxConcurrent = 1 }
        rig.server.serve("/a", .status(503))
        rig.server.serve("/b", tagged())
        let first = rig.download("/a")
        while rig.downloader.counters.resting == 0 { await Task.yield() }
        #expect(await rig.fetch("/b").end == "complete")
        let second = rig.download("/a")
        #expect(second.wasJoined && second.log === first.log)
        first.cancel()
        #expect(second.log.end == nil)
        second.cancel()
        #expect(second.log.end?.name == "cancelled")
        #expect(rig.downloader.counters.resting == 0)
        rig.clock.advance(by: .seconds(100))
        #expect(rig.server.hits("/a") == 1)
    }

    @Test func aHostThatKeepsFailingIsLeftAlone() async throws {
        let rig = try Rig.retrying(0) { $0.circuit = CircuitPolicy(failures: 3, firstPause: .seconds(10)) }
        rig.server.serve("/a", .status(503), .status(503), .status(503), tagged())
        for _ in 1...3 { #expect(await rig.fetch("/a").end == "badStatus") }
        #expect(await rig.fetch("/a").end == "circuitOpen")
        #expect(rig.server.hits("/a") == 3 && rig.downloader.openCircuits.count == 1)
        rig.clock.advance(by: .seconds(10))
        #expect(await rig.fetch("/a").end == "complete")
        #expect(rig.downloader.openCircuits.isEmpty)
        #expect(await rig.fetch("/a").end == "complete")
    }

    /// A host that missed the short deadline of one request was once avoided by all other requests, too.
    @Test func aDeadlineOfOneRequestDoesNotOpenTheHostsCircuit() async throws {
        let rig = try Rig.retrying(0) { $0.circuit = CircuitPolicy(failures: 1) }
        rig.server.serve("/a", tagged().with(.stall(at: .headByte(12))))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.deadlines = DownloadDeadlines(firstByte: .seconds(1))
        let download = rig.downloader.download(request)
        while rig.server.hits("/a") == 0 { await Task.yield() }
        while download.log.end == nil {
            rig.clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(await rig.fetch(download).end == "firstByteTimeout")
        #expect(rig.downloader.openCircuits.isEmpty)
    }

    @Test func theLargestNumberIsNoLimit() async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = .max
                $0.maxConcurrentPerHost = .max
            })
        rig.server.serve("/a", tagged())
        #expect(await rig.fetch("/a").end == "complete")
    }

    @Test func missingPicturesDoNotOpenTheHostsCircuit() async throws {
        let rig = try Rig.retrying(0) { $0.circuit = CircuitPolicy(failures: 1) }
        for _ in 1...5 { #expect(await rig.fetch("/missing").end == "badStatus") }
        #expect(rig.downloader.openCircuits.isEmpty)
    }
}
