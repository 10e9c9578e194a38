import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Failures of networks and servers over real sockets. Deadlines run on a clock that the test moves.
@Suite struct DownloadFailureTests {
    private let body = pattern(1000)

    private func picture(_ behaviours: OriginResponse.Behaviour...) -> OriginResponse {
        var response = OriginResponse.bytes(body, contentType: "image/png")
        response.behaviours = behaviours
        return response
    }

    private func error(of download: Download) async -> WebImageError? {
        guard case .failed(let error) = await download.log.ended() else { return nil }
        return error
    }

    @Test func aRefusedConnectionIsNamed() async throws {
        let rig = try Rig()
        let port = try OriginServer.closedPort()
        let error = await error(of: rig.download("http://user:secret@127.0.0.1:\(port)/a?token=hidden"))
        #expect(error?.code == .connectionRefused)
        #expect(error?.location == "http://127.0.0.1:\(port)/a?token=…")
        #expect("\(error.map { "\($0)" } ?? "")".contains("secret") == false)
    }

    @Test func aHostWithoutAnAddressIsNamed() async throws {
        #expect(try await Rig().fetch("http://nonexistent.invalid/a").end == "dnsFailed")
    }

    @Test(arguments: [
        ("", "invalidURL"), ("http://", "invalidURL"), ("ftp://h/a", "unsupportedScheme"), ("x:y", "unsupportedScheme"),
    ])
    func aURLThatCannotBeLoadedFailsAtOnce(_ url: String, _ code: String) throws {
        #expect(try Rig().download(url).log.end?.name == code)
    }

    /// The path with the faulty behaviour, the number of bytes that arrive before the failure, and the error's code.
    @Test(arguments: [
        ("/short", 1000, "truncatedBody"), ("/cut", 400, "truncatedBody"), ("/cut-in-chunk", 150, "truncatedBody"),
        ("/cut-between-chunks", 200, "truncatedBody"), ("/reset", 0, "connectionLost"),
        ("/reset-before-head", 0, "connectionLost"), ("/silent", 0, "connectionLost"),
        ("/bad-chunk", 200, "protocolError"),
        ("/not-http", 0, "protocolError"), ("/huge-head", 0, "protocolError"), ("/missing", 0, "badStatus"),
    ])
    func aBrokenAnswerIsNamedAndItsGoodBytesKept(_ path: String, _ good: Int, _ code: String) async throws {
        let rig = try Rig()
        rig.server.serve("/short", picture().with(framing: .falseLength(2000)))
        rig.server.serve("/cut", picture(.cut(at: .byte(400))))
        rig.server.serve("/cut-in-chunk", picture(.cut(at: .byte(150))).with(framing: .chunked(size: 100)))
        rig.server.serve("/cut-between-chunks", picture(.cut(at: .byte(200))).with(framing: .chunked(size: 100)))
        rig.server.serve("/reset", picture(.reset(at: .byte(400))))
        rig.server.serve("/reset-before-head", picture(.reset(at: .beforeHead)))
        rig.server.serve("/silent", picture(.cut(at: .beforeHead)))
        rig.server.serve("/bad-chunk", picture(.badChunkSize(after: 200)).with(framing: .chunked(size: 100)))
        rig.server.serve("/not-http", .raw(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)))
        rig.server.serve("/huge-head", picture().withHugeHeaders(bytes: 290_000))
        let answer = await rig.fetch(path)
        #expect(answer.end == code)
        // A reset may discard bytes that the kernel has not delivered yet.
        if path == "/reset" {
            #expect(body.starts(with: answer.body))
        } else {
            #expect(answer.body == Array(body[..<good]))
        }
    }

    @Test func aBodyThatEndsWithItsConnectionIsWhole() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture().with(framing: .untilClose))
        #expect(await rig.fetch("/a") == (body, "complete"))
        rig.server.serve("/empty", .status(204))
        #expect(await rig.fetch("/empty") == ([], "complete"))
        rig.server.serve("/nothing", .bytes([], contentType: "image/png"))
        #expect(await rig.fetch("/nothing") == ([], "complete"))
    }

    @Test func theStatusIsInTheError() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .status(503))
        #expect(await error(of: rig.download("/a"))?.status == 503)
    }

    // MARK: Limits

    @Test func aBodyOverTheLimitIsRefusedWhenAnnouncedOrCounted() async throws {
        let rig = try Rig(.with { $0.bodyLimit = 999 })
        rig.server.serve("/announced", picture())
        rig.server.serve("/counted", picture().with(framing: .chunked(size: 100)))
        #expect(await rig.fetch("/announced") == ([], "bodyTooLarge"))
        let counted = await rig.fetch("/counted")
        #expect(counted.end == "bodyTooLarge" && counted.body.count < 1000)
        var request = DownloadRequest(url: rig.server.url("/announced"))
        request.bodyLimit = 1000
        #expect(await rig.fetch(rig.downloader.download(request)) == (body, "complete"))
    }

    // MARK: Deadlines

    private let brief = DownloadConfiguration.with {
        $0.deadlines = DownloadDeadlines(connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3))
    }

    @Test func aConnectionThatTakesTooLongIsAConnectTimeout() async throws {
        let rig = try Rig(brief)
        let hole = try BlackHole()
        let download = rig.download(hole.url("/a"))
        rig.clock.advance(by: .milliseconds(999))
        #expect(download.log.end == nil)
        rig.clock.advance(by: .milliseconds(1))
        #expect(download.log.end?.name == "connectTimeout")
    }

    @Test func anAnswerThatTakesTooLongIsAFirstByteTimeout() async throws {
        let rig = try Rig(brief)
        rig.server.serve("/a", picture(.stall(at: .beforeHead)))
        let download = rig.download("/a")
        await rig.server.waitForHeld("/a", 1)
        rig.clock.advance(by: .milliseconds(1999))
        #expect(download.log.end == nil)
        rig.clock.advance(by: .milliseconds(1))
        #expect(download.log.end?.name == "firstByteTimeout")
        #expect(await rig.server.waitForClosed("/a", 1))
    }

    @Test func aBodyThatStallsIsAnIdleTimeout() async throws {
        let rig = try Rig(brief)
        rig.server.serve("/a", picture(.stall(at: .byte(500))))
        let download = rig.download("/a")
        await download.log.readable(after: 499)
        rig.clock.advance(by: .milliseconds(2999))
        #expect(download.log.end == nil)
        rig.clock.advance(by: .milliseconds(1))
        #expect(await rig.fetch(download) == (Array(body.prefix(500)), "idleTimeout"))
    }

    /// The head came with the first byte of the body, which may be made slowly.
    @Test func aHeadInTimeIsEnoughForTheFirstDeadline() async throws {
        let rig = try Rig(brief)
        rig.server.serve("/a", picture(.stall(at: .afterHead)))
        let download = rig.download("/a")
        #expect(await eventually { download.log.latest.head?.status == 200 })
        rig.clock.advance(by: .milliseconds(2999))
        #expect(download.log.end == nil)
        rig.clock.advance(by: .milliseconds(1))
        #expect(await rig.fetch(download) == ([], "idleTimeout"))
    }

    @Test func aBodyBelowTheMinimumSpeedIsTooSlow() async throws {
        let rig = try Rig(
            .with { $0.deadlines.minimumSpeed = .init(bytesPerSecond: 300, window: .seconds(2)) })
        rig.server.serve("/a", picture(.stall(at: .byte(500))))
        let download = rig.download("/a")
        await download.log.readable(after: 499)
        rig.clock.advance(by: .seconds(2))
        #expect(download.log.end?.name == "tooSlow")
    }

    @Test func theTotalDeadlineIncludesTimeInTheQueue() async throws {
        let rig = try Rig(.with { $0.deadlines = DownloadDeadlines(total: .seconds(5)) })
        rig.server.serve("/a", picture(.stall(at: .byte(500))))
        let running = rig.download("/a")
        await running.log.readable(after: 499)
        rig.downloader.isSuspended = true
        rig.clock.advance(by: .seconds(1))
        let waiting = rig.download("/b")
        rig.clock.advance(by: .seconds(4))
        #expect(running.log.end?.name == "deadlineExceeded")
        #expect(waiting.log.end == nil)
        rig.clock.advance(by: .seconds(1))
        #expect(waiting.log.end?.name == "deadlineExceeded")
        #expect(rig.server.hits("/b") == 0)
    }

    @Test func aRequestMayHaveDeadlinesOfItsOwn() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture(.stall(at: .beforeHead)))
        rig.server.serve("/b", picture(.stall(at: .beforeHead)))
        let patient = rig.download("/a")
        var request = DownloadRequest(url: rig.server.url("/b"))
        request.deadlines = DownloadDeadlines(total: .seconds(1))
        let hasty = rig.downloader.download(request)
        await rig.server.waitForHeld("/a", 1)
        await rig.server.waitForHeld("/b", 1)
        rig.clock.advance(by: .seconds(1))
        #expect(hasty.log.end?.name == "deadlineExceeded" && patient.log.end == nil)
        rig.clock.advance(by: .seconds(14))
        #expect(patient.log.end?.name == "firstByteTimeout")
    }

    @Test func manyTransfersNeedOneTimer() async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 50; $0.maxConcurrentPerHost = 50
            })
        rig.server.serve(under: "/") { _ in .bytes([1], contentType: "image/png").with(.stall(at: .beforeHead)) }
        let downloads = (0..<50).map { rig.download("/\($0)") }
        for index in 0..<50 { await rig.server.waitForHeld("/\(index)", 1) }
        #expect(rig.clock.waitingCount == 1)
        for download in downloads { download.cancel() }
    }

    // MARK: Addresses

    @Test func aPolicyRefusesAnAddressAlsoOnAConnectionThatStands() async throws {
        let rig = try Rig()
        rig.server.serve("/a", picture())
        var guarded = DownloadRequest(url: rig.server.url("/a"))
        guarded.addressPolicy = AddressPolicy(name: "not here") { $0 != "127.0.0.1" }
        #expect(await rig.fetch(rig.downloader.download(guarded)).end == "addressRefused")
        #expect(rig.server.connectionCount == 0)
        #expect(await rig.fetch("/a") == (body, "complete"))
        #expect(await rig.fetch(rig.downloader.download(guarded)).end == "addressRefused")
        #expect(rig.server.hits("/a") == 1)
        guarded.addressPolicy = AddressPolicy(name: "here") { $0 == "127.0.0.1" }
        #expect(await rig.fetch(rig.downloader.download(guarded)) == (body, "complete"))
    }
}

extension ByteLog {
    /// Waits until the byte at `offset` has arrived or the log has ended.
    func readable(after offset: Int) async {
        await withCheckedContinuation { continuation in
            _ = whenReadable(after: offset) { continuation.resume() }
        }
    }
}
