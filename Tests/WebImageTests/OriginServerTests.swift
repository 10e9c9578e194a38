import Testing
import WebImageCore
import WebImageTesting

@Suite(.timeLimit(.minutes(1)))
struct OriginServerTests {
    let server: OriginServer
    let body = (0..<1000).map { UInt8($0 % 251) }

    init() throws { server = try OriginServer() }

    // MARK: - Plain service

    @Test func oneConnectionServesSeveralRequestsAndEachIsCounted() throws {
        server.serve("/a", .bytes(body, contentType: "image/jpeg"))
        let client = try Client(server)
        for _ in 0..<3 { #expect(client.get("/a")?.body == body) }
        #expect(client.get("/a?x=1")?.header("content-type") == "image/jpeg")
        #expect(client.get("/none")?.status == 404)
        #expect(server.hits("/a") == 4)
        #expect(server.hits("/a?x=1") == 1)
        #expect(server.hits("/none") == 1)
        #expect(server.requests().map(\.target) == ["/a", "/a", "/a", "/a?x=1", "/none"])
        #expect(server.connectionCount == 1)
        #expect(server.openConnections == 1)
        #expect(server.bodyBytesSent("/a") == 4 * body.count)
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        server.serve(under: "/p/") { .text($0.path) }
        let client = try Client(server)
        client.send("GET /p/1 HTTP/1.1\r\n\r\nGET /p/2 HTTP/1.1\r\n\r\n")
        #expect(client.response()?.text == "/p/1")
        #expect(client.response()?.text == "/p/2")
    }

    @Test func aRequestIsRecordedWithItsHeadersAndBody() throws {
        let client = try Client(server)
        client.send("POST http://proxied.example/up?q=1 HTTP/1.1\r\nX-One: a b \r\nContent-Length: 3\r\n\r\nabc")
        #expect(client.response()?.status == 404)
        let request = try #require(server.requests("/up").first)
        #expect(request.method == "POST")
        #expect(request.header("x-one") == "a b")
        #expect(request.body == Array("abc".utf8))
        #expect(request.connection == 1)
    }

    @Test func theNthRequestGetsTheNthResponseAndTheLastStays() throws {
        server.serve("/a", .status(503), .redirect(to: "/b"), .text("there"))
        let client = try Client(server)
        #expect(client.get("/a")?.status == 503)
        let redirect = client.get("/a")
        #expect(redirect?.status == 302)
        #expect(redirect?.header("location") == "/b")
        #expect(client.get("/a")?.text == "there")
        #expect(client.get("/a")?.text == "there")
    }

    @Test func aHeadRequestGetsTheLengthAndNoBody() throws {
        server.serve("/a", .bytes(body))
        let client = try Client(server)
        client.send("HEAD /a HTTP/1.1\r\n\r\n")
        let head = client.response(hasBody: false)
        #expect(head?.header("content-length") == "1000")
        #expect(client.get("/a")?.body == body)
    }

    @Test func aMalformedRequestIsRefused() throws {
        let client = try Client(server)
        client.send("nonsense\r\n\r\n")
        #expect(client.response()?.status == 400)
        #expect(client.rest() == .end([]))
        #expect(server.requests().isEmpty)
    }

    // MARK: - Conditions and ranges

    @Test(arguments: [
        ("bytes=0-9", 206, 0..<10, "bytes 0-9/1000"),
        ("bytes=990-", 206, 990..<1000, "bytes 990-999/1000"),
        ("bytes=-5", 206, 995..<1000, "bytes 995-999/1000"),
        ("bytes=500-5000", 206, 500..<1000, "bytes 500-999/1000"),
        ("bytes=1000-", 416, 0..<0, "bytes */1000"),
        ("bytes=5-1", 200, 0..<1000, nil),
        ("bytes=0-1,5-6", 200, 0..<1000, nil),
    ])
    func aRangeGivesThatPart(range: String, status: Int, part: Range<Int>, contentRange: String?) throws {
        server.serve("/a", .bytes(body, etag: "\"v1\""))
        let answer = try Client(server).get("/a", "Range: \(range)")
        #expect(answer?.status == status)
        #expect(answer?.body == Array(body[part]))
        #expect(answer?.header("content-range") == contentRange)
    }

    @Test func aRangeCountsOnlyForTheSameRepresentation() throws {
        server.serve("/a", .bytes(body, etag: "\"v1\""))
        let client = try Client(server)
        #expect(client.get("/a", "Range: bytes=1-", "If-Range: \"v1\"")?.status == 206)
        #expect(client.get("/a", "Range: bytes=1-", "If-Range: \"v2\"")?.status == 200)
        #expect(client.get("/a", "Range: bytes=1-", "If-Range: W/\"v1\"")?.status == 200)
    }

    @Test func aKnownTagGives304WithItsHeadersAndNoBody() throws {
        server.serve("/a", .bytes(body, contentType: "image/png", etag: "\"v1\"", cacheControl: "max-age=5"))
        let client = try Client(server)
        let answer = client.get("/a", "If-None-Match: \"v0\", W/\"v1\"")
        #expect(answer?.status == 304)
        #expect(answer?.header("cache-control") == "max-age=5")
        #expect(answer?.header("content-type") == nil)
        #expect(client.get("/a", "If-None-Match: \"v2\"")?.body == body)
    }

    @Test func datesAreWrittenInHTTPFormat() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }

    // MARK: - Faults

    @Test func aCutEndsInOrderAndAResetDoesNot() throws {
        server.serve("/cut", .bytes(body).with(.cut(at: .byte(300))))
        server.serve("/reset", .bytes(body).with(.reset(at: .beforeHead)))
        let cut = try Client(server).get("/cut")
        #expect(cut?.header("content-length") == "1000")
        #expect(cut?.body == Array(body[..<300]))
        let reset = try Client(server)
        reset.send("GET /reset HTTP/1.1\r\n\r\n")
        #expect(reset.rest() == .reset)
    }

    @Test func aResponseIsCutAfterOrWithinItsHead() throws {
        server.serve("/a", .bytes(body).with(.cut(at: .afterHead)))
        server.serve("/b", .bytes(body).with(.cut(at: .headByte(12))))
        let answer = try Client(server).get("/a")
        #expect(answer?.status == 200)
        #expect(answer?.body == [])
        let client = try Client(server)
        client.send("GET /b HTTP/1.1\r\n\r\n")
        #expect(client.rest() == .end(Array("HTTP/1.1 200".utf8)))
    }

    @Test func aHeldResponseGoesOnWhenItsGateOpens() async throws {
        let gate = Gate()
        server.serve("/a", .bytes(body).with(.hold(gate, at: .byte(100))))
        let client = try Client(server)
        client.send("GET /a HTTP/1.1\r\n\r\n")
        #expect(await server.waitForHeld("/a"))
        #expect(server.bodyBytesSent("/a") == 100)
        gate.open()
        #expect(client.response()?.body == body)
        #expect(await server.waitForFinished("/a"))
    }

    @Test(arguments: [OriginResponse.Moment.beforeHead, .afterHead, .byte(10)])
    func aClientThatLeavesDuringAStallIsNoticed(moment: OriginResponse.Moment) async throws {
        server.serve("/a", .bytes(body).with(.stall(at: moment)))
        let client = try Client(server)
        client.send("GET /a HTTP/1.1\r\n\r\n")
        #expect(await server.waitForHeld("/a"))
        client.close()
        #expect(await server.waitForClosed("/a"))
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test func aDripSendsEveryByteInPieces() throws {
        server.serve("/a", .bytes(body).with(.drip(bytes: 300, every: .milliseconds(1))))
        server.serve("/b", .bytes(body).with(.paced(over: .milliseconds(10), pieces: 7)))
        let client = try Client(server)
        #expect(client.get("/a")?.body == body)
        #expect(client.get("/b")?.body == body)
    }

    // MARK: - Framing

    @Test func chunksAreAsLongAsAskedAndEndInOrder() throws {
        server.serve("/a", .bytes(Array("abcdefgh".utf8)).with(framing: .chunked(size: 3)))
        let client = try Client(server)
        client.send("GET /a HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(client.restAfterHead() == "3\r\nabc\r\n3\r\ndef\r\n2\r\ngh\r\n0\r\n\r\n")
    }

    @Test(arguments: [
        (OriginResponse.Behaviour.cut(at: .byte(4)), "3\r\nabc\r\n3\r\nd"),
        (.cut(at: .byte(3)), "3\r\nabc\r\n"),
        (.cut(at: .byte(8)), "3\r\nabc\r\n3\r\ndef\r\n2\r\ngh\r\n"),
        (.badChunkSize(after: 3), "3\r\nabc\r\nno size\r\n"),
        (.badChunkSize(after: 0), "no size\r\n"),
    ])
    func aChunkedBodyBreaksWhereItIsTold(behaviour: OriginResponse.Behaviour, wire: String) throws {
        server.serve("/a", .bytes(Array("abcdefgh".utf8)).with(framing: .chunked(size: 3)).with(behaviour))
        let client = try Client(server)
        client.send("GET /a HTTP/1.1\r\n\r\n")
        #expect(client.restAfterHead() == wire)
    }

    @Test func lengthsCanBeFalseOrMissing() throws {
        server.serve("/false", .bytes(body).with(framing: .falseLength(2000)))
        server.serve("/none", .bytes(body).with(framing: .untilClose))
        server.serve("/raw", .raw(Array("SSH-2.0-none\r\n".utf8)))
        server.serve("/huge", .text("x").withHugeHeaders(bytes: 100_000))
        let lying = try Client(server).get("/false")
        #expect(lying?.header("content-length") == "2000")
        #expect(lying?.body == body)
        let silent = try Client(server).get("/none")
        #expect(silent?.header("content-length") == nil)
        #expect(silent?.body == body)
        let raw = try Client(server)
        raw.send("GET /raw HTTP/1.1\r\n\r\n")
        #expect(raw.rest() == .end(Array("SSH-2.0-none\r\n".utf8)))
        #expect(try Client(server).get("/huge")?.headLength ?? 0 > 100_000)
    }

    // MARK: - Waits and ends

    @Test func hitsAreExactUnderManyClients() async throws {
        server.serve("/a", .bytes(body))
        let server = server
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let client = try Client(server)
                    for _ in 0..<25 { #expect(client.get("/a")?.status == 200) }
                }
            }
            try await group.waitForAll()
        }
        #expect(await server.waitForHits("/a", 200))
        #expect(server.hits("/a") == 200)
        #expect(server.connectionCount == 8)
        #expect(await server.waitForOpenConnections(atMost: 0))
    }

    @Test func aWaitEndsWithItsTimeoutItsTaskOrTheServer() async throws {
        #expect(await !server.waitForHits("/never", timeout: .milliseconds(1)))
        let server = server
        let cancelled = Task { await server.waitForHits("/never") }
        cancelled.cancel()
        #expect(await !cancelled.value)
        let stopped = Task { await server.waitForHits("/never") }
        server.stop()
        #expect(await !stopped.value)
    }

    @Test func aStoppedServerRefusesAndClosesItsConnections() throws {
        let client = try Client(server)
        server.serve("/a", .text("x"))
        #expect(client.get("/a")?.text == "x")
        server.stop()
        #expect(client.rest() == .end([]))
        #expect(throws: WebImageError.self) { try Client(port: server.port) }
    }

    @Test func aClosedPortRefusesAndABlackHoleNeverAnswers() throws {
        #expect(throws: WebImageError.self) { try Client(port: OriginServer.closedPort()) }
        let hole = try BlackHole()
        let late = try LoopbackSocket.connecting(to: UInt16(hole.port), waits: false)
        defer { late.close() }
        #expect(!late.isConnected(within: .milliseconds(200)))
        let open = try LoopbackSocket.connecting(to: UInt16(server.port), waits: false)
        defer { open.close() }
        #expect(open.isConnected(within: .seconds(10)))
    }

    @Test func aGateOpensForThreadsAndTasksAlike() async {
        let gate = Gate()
        #expect(!gate.wait(timeout: .milliseconds(1)))
        let waiting = Task { await gate.opened() }
        gate.open()
        gate.open()
        await waiting.value
        #expect(gate.wait())
        #expect(gate.isOpen)
    }
}

/// A client with just enough HTTP to check the server's raw output.
private final class Client {
    enum Rest: Equatable {
        case end([UInt8])
        case reset
    }

    struct Answer {
        var status: Int
        var head: [Substring]
        var body: [UInt8]
        var headLength: Int

        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private let socket: LoopbackSocket
    private var received: [UInt8] = []
    private var isClosed = false

    convenience init(_ server: OriginServer) throws { try self.init(port: server.port) }

    init(port: Int) throws { socket = try .connecting(to: UInt16(port)) }

    deinit { close() }

    func close() {
        if !isClosed { socket.close() }
        isClosed = true
    }

    func send(_ text: String) { _ = socket.send(text) }

    func get(_ path: String, _ headers: String...) -> Answer? {
        send("GET \(path) HTTP/1.1\r\nHost: x\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n")
        return response()
    }

    func response(hasBody: Bool = true) -> Answer? {
        guard let head = takeHead() else { return nil }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        var answer = Answer(status: status, head: Array(lines), body: [], headLength: head.count)
        guard hasBody, status != 304 else { return answer }
        let length = answer.header("content-length").flatMap { Int($0) } ?? .max
        while received.count < length, fill() {}
        answer.body = Array(received.prefix(length))
        received.removeFirst(answer.body.count)
        return answer
    }

    /// Receives everything until the server ends the connection.
    func rest() -> Rest {
        while true {
            guard let more = socket.receive() else { return .reset }
            if more.isEmpty { return .end(received) }
            received += more
        }
    }

    func restAfterHead() -> String? {
        guard takeHead() != nil, case .end(let bytes) = rest() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func takeHead() -> [UInt8]? {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.firstRange(of: mark) {
                defer { received.removeFirst(end.upperBound) }
                return Array(received[..<end.upperBound])
            }
            if !fill() { return nil }
        }
    }

    private func fill() -> Bool {
        guard let more = socket.receive(), !more.isEmpty else { return false }
        received += more
        return true
    }
}
