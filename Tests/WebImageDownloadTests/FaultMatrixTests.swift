import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Every way in which a server can fail. Each fault ends in its own error within its deadline, and the downloader works
/// afterwards.
@Suite struct FaultMatrixTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let end: String
        /// The time after which the fault is noticed; zero if it is noticed at once.
        var after = Duration.zero
        var response: OriginResponse?
        var url: String?

        init(_ name: String, _ end: String, _ response: OriginResponse) {
            (testDescription, self.end, self.response) = (name, end, response)
        }

        init(_ name: String, _ end: String, url: String) { (testDescription, self.end, self.url) = (name, end, url) }

        func noticed(after time: Duration) -> Fault {
            var copy = self
            copy.after = time
            return copy
        }
    }

    private static let picture = OriginResponse.bytes(pattern(5000), contentType: "image/png")

    private static let faults: [Fault] = [
        Fault("no such host", "dnsFailed", url: "http://nonexistent.invalid/"),
        // No server listens on port 1.
        Fault("refused", "connectionRefused", url: "http://127.0.0.1:1/"),
        Fault("no such scheme", "unsupportedScheme", url: "gopher://h/"),
        Fault("stall before the head", "firstByteTimeout", picture.with(.stall(at: .beforeHead))).noticed(
            after: .seconds(2)),
        Fault("stall in the head", "firstByteTimeout", picture.with(.stall(at: .headByte(12)))).noticed(
            after: .seconds(2)),
        Fault("stall in the body", "idleTimeout", picture.with(.stall(at: .byte(1000)))).noticed(after: .seconds(3)),
        Fault("a drop at a time", "tooSlow", picture.with(.drip(bytes: 1, every: .milliseconds(100)))).noticed(
            after: .seconds(2)),
        Fault("reset before the head", "connectionLost", picture.with(.reset(at: .beforeHead))),
        Fault("reset in the head", "connectionLost", picture.with(.reset(at: .headByte(12)))),
        Fault("reset after the head", "connectionLost", picture.with(.reset(at: .afterHead))),
        Fault("reset in the body", "connectionLost", picture.with(.reset(at: .byte(1000)))),
        Fault("cut before the head", "connectionLost", picture.with(.cut(at: .beforeHead))),
        Fault("cut in the body", "truncatedBody", picture.with(.cut(at: .byte(1000)))),
        Fault("a length too long", "truncatedBody", picture.with(framing: .falseLength(9000))),
        Fault("a length too short", "complete", picture.with(framing: .falseLength(100))),
        Fault("chunks cut", "truncatedBody", picture.with(framing: .chunked(size: 900)).with(.cut(at: .byte(1000)))),
        Fault(
            "chunks broken", "protocolError",
            picture.with(framing: .chunked(size: 900)).with(.badChunkSize(after: 1000))),
        Fault("no HTTP on a used connection", "connectionLost", .raw(Array("+OK POP3 ready\r\n".utf8))),
        Fault("a huge head", "protocolError", picture.withHugeHeaders(bytes: 400_000)),
        Fault("too much", "bodyTooLarge", .bytes([UInt8](repeating: 0, count: 20_000), contentType: "image/png")),
        Fault(
            "too much in chunks", "bodyTooLarge",
            OriginResponse.bytes([UInt8](repeating: 0, count: 20_000), contentType: "image/png").with(
                framing: .chunked(size: 5000))),
        Fault("another type", "badContentType", .text("<html></html>", contentType: "text/html")),
        Fault("a loop", "tooManyRedirects", .redirect(to: "/fault")),
        Fault("a redirect to a file", "redirectRefused", .redirect(to: "file:///etc/passwd")),
        Fault("a redirect to nowhere", "badStatus", .status(302)),
        Fault("401", "badStatus", .status(401, headers: [("WWW-Authenticate", "Basic")])),
        Fault("407", "badStatus", .status(407)), Fault("404", "badStatus", .status(404)),
        Fault("410", "badStatus", .status(410)), Fault("500", "badStatus", .status(500)),
        Fault("429", "badStatus", .status(429, headers: [("Retry-After", "1")])),
        Fault("503", "badStatus", .status(503, headers: [("Retry-After", "1")])),
        Fault(
            "a part unasked", "protocolError",
            OriginResponse(
                status: 206, headers: [("Content-Range", "bytes 5-9/10"), ("Content-Type", "image/png")],
                body: [1, 2, 3, 4, 5])),
        Fault("304 without an entry", "notModified", OriginResponse(status: 304)),
    ]

    @Test(arguments: faults)
    func aFaultIsNamedAndThePoolIsHealthy(_ fault: Fault) async throws {
        let rig = try Rig(
            .with {
                $0.deadlines = DownloadDeadlines(
                    connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3),
                    minimumSpeed: .init(bytesPerSecond: 100, window: .seconds(2)))
                if fault.end == "idleTimeout" { $0.deadlines.minimumSpeed = nil }
                $0.acceptableContentTypes = ["image/*", "*/*"]
                if fault.end == "badContentType" { $0.acceptableContentTypes = ["image/*"] }
                $0.bodyLimit = 10_000
                $0.maxConcurrent = 1
            })
        rig.server.serve("/ok", Self.picture)
        _ = await rig.fetch("/ok")
        if let response = fault.response { rig.server.serve("/fault", response) }
        let download = rig.download(fault.url ?? "/fault")
        if fault.after > .zero {
            await rig.server.waitForHits("/fault", 1)
            // Waits for the first byte of a body that then stalls.
            if fault.end != "firstByteTimeout" { await download.log.readable(after: 0) }
            rig.clock.advance(by: fault.after - .milliseconds(1))
            #expect(download.log.end == nil)
            rig.clock.advance(by: .milliseconds(1))
            if fault.end == "idleTimeout" || fault.end == "tooSlow" { rig.clock.advance(by: fault.after) }
        }
        #expect(await rig.fetch(download).end == fault.end)
        #expect(await rig.fetch("/ok").end == "complete")
        #expect(rig.downloader.counters.running == 0 && rig.downloader.counters.waiting == 0)
        #expect(rig.downloader.counters.resting == 0)
    }

    @Test func aFullBacklogHoldsUpNobodyElse() async throws {
        let rig = try Rig(.with { $0.deadlines = DownloadDeadlines(connect: .seconds(1)) })
        let hole = try BlackHole()
        rig.server.serve("/ok", Self.picture)
        let stuck = (0..<3).map { rig.download(hole.url("/\($0)")) }
        #expect(await rig.fetch("/ok").end == "complete")
        rig.clock.advance(by: .seconds(1))
        for download in stuck { #expect(await rig.fetch(download).end == "connectTimeout") }
        // Readers learn of the end before the transport has ended the transfer.
        while rig.downloader.counters.running > 0 { await Task.yield() }
    }

    /// For an origin without TLS the proxy itself answers 407. For one with TLS it refuses the tunnel.
    @Test(arguments: ["http://far.example/a", "https://far.example/a"])
    func aProxyThatRequiresCredentialsIsAnError(_ url: String) async throws {
        let proxy = try OriginServer()
        proxy.serve(under: "") { _ in .status(407, headers: [("Proxy-Authenticate", "Basic realm=\"x\"")]) }
        let rig = try Rig(.with { $0.proxy = .server("http://127.0.0.1:\(proxy.port)") })
        rig.server.serve("/ok", Self.picture)
        let isTunnel = url.hasPrefix("https")
        #expect(await rig.fetch(url).end == (isTunnel ? "authenticationFailed" : "badStatus"))
        let wrong = BasicCredentials(user: "ada", password: "wrong")
        rig.downloader.configuration.proxy = .server("http://127.0.0.1:\(proxy.port)", credentials: wrong)
        let download = rig.download(url)
        guard case .failed(let error) = await download.log.ended() else {
            Issue.record("a proxy that refuses us gave a body")
            return
        }
        #expect(error.code == .authenticationFailed && !error.message.contains("wrong"))
        #expect(proxy.requests().last?.method == (isTunnel ? "CONNECT" : "GET"))
        rig.downloader.configuration.proxy = .direct
        #expect(await rig.fetch("/ok").end == "complete")
    }

    @Test func thousandsOfDownloadsLeaveNothingOpen() async throws {
        let rig = try Rig()
        rig.server.serve("/ok", Self.picture)
        rig.server.serve("/cut", Self.picture.with(.cut(at: .byte(1000))))
        for _ in 0..<20 { _ = await rig.fetch("/ok") }
        let before = rig.server.connectionCount
        for round in 0..<1000 {
            #expect(
                await rig.fetch(round % 50 == 0 ? "/cut" : "/ok").end
                    == (round % 50 == 0 ? "truncatedBody" : "complete"))
        }
        // A new connection is made only in place of each one that was cut.
        #expect(rig.server.connectionCount - before <= 21)
        #expect(await rig.server.waitForOpenConnections(atMost: 6))
        #expect(rig.downloader.counters.running == 0)
    }
}
