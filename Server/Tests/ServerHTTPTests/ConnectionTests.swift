import FleetTesting
import NIOCore
import ServerConfiguration
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// How the server handles clients that are slow, hostile or gone, over real sockets.
@Suite struct ConnectionTests {
    /// An origin with a PNG that is followed by `count` bytes. With `skp:png` the server sends the file as it is, as
    /// one buffer.
    private func bigPicture(_ count: Int = 12_000_000) throws -> OriginServer {
        let origin = try OriginServer()
        var bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        bytes += [UInt8](repeating: 7, count: count)
        origin.serve("/a.png", OriginResponse(body: bytes))
        return origin
    }

    /// An origin that does not answer before the gate is opened.
    private func heldPicture(_ gate: Gate) throws -> OriginServer {
        let origin = try OriginServer()
        origin.serve(
            "/a.png",
            OriginResponse(
                body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png),
                behaviours: [.hold(gate, at: .beforeHead)]))
        return origin
    }

    private func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: test\r\n\(fields)\r\n"
    }

    private func statuses(_ text: String) -> [String] {
        text.ranges(of: "HTTP/1.1 ").map { String(text[$0.upperBound...].prefix(3)) }
    }

    /// The final chunk of a body was once sent after an answer without a body, and was taken for the next answer.
    @Test(arguments: ["raw:1", "nothing"]) func aHeadHasNoBody(options: String) async throws {
        let origin = try OriginServer()
        let body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        origin.serve("/a.png", OriginResponse(body: body).with(framing: .chunked(size: 100)))
        try await RunningServer.run { server in
            let path = options == "nothing" ? "/favicon.ico" : RunningServer.path(options, origin)
            let text = "HEAD \(path) HTTP/1.1\r\nHost: test\r\n\r\n"
            let all = try await RawConnection.answer(text + get("/health", "Connection: close\r\n"), port: server.port)
            #expect(statuses(all) == [options == "nothing" ? "404" : "200", "200"])
            let ends = all.ranges(of: "\r\n\r\n")
            #expect(ends.count == 2 && all[ends[0].upperBound...].hasPrefix("HTTP/1.1 200 OK"))
            let head = all[..<ends[0].lowerBound].lowercased()
            #expect(head.contains("content-length: 0") == (options == "nothing") && !head.contains("chunked"))
        }
    }

    /// A client of HTTP/1.0 does not know chunks: it reads until the connection ends.
    @Test func bodiesWithoutALengthAreFramedForTheirClient() async throws {
        let origin = try OriginServer()
        let body = Array("0123456789".utf8)
        origin.serve("/a.png", OriginResponse(body: body).with(framing: .chunked(size: 5)))
        try await RunningServer.run { server in
            let path = RunningServer.path("raw:1", origin)
            let old = try await RawConnection.answer("GET \(path) HTTP/1.0\r\n\r\n", port: server.port)
            #expect(old.hasSuffix("\r\n\r\n0123456789") && !old.lowercased().contains("transfer-encoding"))
            let new = try await RawConnection.answer(get(path, "Connection: close\r\n"), port: server.port)
            #expect(new.hasSuffix("\r\n0\r\n\r\n") && new.lowercased().contains("transfer-encoding: chunked"))
        }
    }

    /// To a client of HTTP/1.0, the normal end of the connection would mean that the body is complete.
    @Test func aBodyThatBreaksOffIsNotTakenForWholeByHTTP10() async throws {
        let origin = try OriginServer()
        let response = OriginResponse(
            body: [UInt8](repeating: 7, count: 500_000), behaviours: [.cut(at: .byte(300_000))])
        origin.serve("/a.png", response.with(framing: .chunked(size: 5000)))
        try await RunningServer.run { server in
            let client = try await RawConnection(port: server.port)
            try await client.send("GET \(RunningServer.path("raw:1", origin)) HTTP/1.0\r\n\r\n")
            try? await client.closed()
            #expect(client.hasFailed && client.received.count < 500_000)
        }
    }

    /// After `Connection: close` the server answers no further request on the connection.
    @Test func noRequestIsAnsweredAfterConnectionClose() async throws {
        try await RunningServer.run(["IMGPROXY_KEEP_ALIVE_TIMEOUT": "0"]) { server in
            let text = try await RawConnection.answer(get("/health") + get("/ready"), port: server.port)
            #expect(text.contains("\r\nConnection: close\r\n") && text.hasSuffix("webimage is running"))
            #expect(statuses(text) == ["200"])
        }
    }

    @Test(arguments: [
        "", "Host: a\r\nHost: b\r\n", "Host: a b/\r\n", "Host: a\r\nTransfer-Encoding: xchunked\r\n",
    ]) func requestsWithAnInvalidHostOrTransferEncodingAreRefused(fields: String) async throws {
        try await RunningServer.run { server in
            let request = "GET /ready HTTP/1.1\r\n\(fields)\r\n"
            let text = try await RawConnection.answer(get("/health") + request + get("/health"), port: server.port)
            #expect(statuses(text) == ["200", "400"])
        }
    }

    @Test func anExpectedContinueIsSentForAPurge() async throws {
        let port = RedisServer.freePort()
        try await RunningServer.run(["WEBIMAGE_ADMIN_BIND": "127.0.0.1:\(port)"]) { _ in
            // The admin address may begin to listen later than the server.
            var first: RawConnection?
            while first == nil {
                await Task.yield()
                first = try? await RawConnection(port: port)
            }
            let client = try #require(first)
            try await client.send(
                "POST /purge HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n"
            )
            try await client.wait { $0.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n") }
            try await client.send(#"{"all": true}"#)
            try await client.closed()
            #expect(statuses(client.text) == ["100", "200"])
            let head = try await RawConnection.answer(
                "HEAD /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
            #expect(statuses(head) == ["200"] && head.hasSuffix("\r\n\r\n"))
        }
    }

    /// A body that never comes holds no connection of the admin address: only a purge with the secret reads one, and not
    /// for long.
    @Test func theAdminAddressWaitsForNoBodyThatItDoesNotNeed() async throws {
        let port = RedisServer.freePort()
        let variables = [
            "WEBIMAGE_ADMIN_BIND": "127.0.0.1:\(port)", "IMGPROXY_SECRET": "word",
            "IMGPROXY_READ_REQUEST_TIMEOUT": "1",
        ]
        try await RunningServer.run(variables) { _ in
            for (target, status) in [("/x", "404"), ("/purge", "403"), ("/purge", "408")] {
                var client: RawConnection?
                while client == nil {
                    await Task.yield()
                    client = try? await RawConnection(port: port)
                }
                let bearer = status == "408" ? "Authorization: Bearer word\r\n" : ""
                try await client?.send("POST \(target) HTTP/1.1\r\nHost: a\r\n\(bearer)Content-Length: 13\r\n\r\n")
                try await client?.wait { $0.hasPrefix("HTTP/1.1 \(status) ") }
            }
        }
    }

    /// Each answer that a client left unread was once copied into memory, for as many requests as it sent.
    @Test func unreadAnswersOfAClientTakeLittleMemory() async throws {
        let origin = try OriginServer()
        var body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        body += [UInt8](repeating: 7, count: 60_000)
        origin.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        try await RunningServer.run { server in
            let request = get(RunningServer.path("skp:png", origin))
            _ = try await RawConnection.answer(
                get(RunningServer.path("skp:png", origin), "Connection: close\r\n"), port: server.port)
            let client = try await RawConnection(port: server.port, reads: false)
            for _ in 0..<10 { try await client.send(String(repeating: request, count: 50)) }
            try await server.wait { ($0.metric("requests_total") ?? 0) > 3 }
            // The buffers of the system hold little of the 30 MB that were asked for.
            for _ in 0..<20 {
                _ = try await RawConnection.answer(get("/health", "Connection: close\r\n"), port: server.port)
            }
            #expect((server.metric("requests_total") ?? .max) < 300)
            try await client.readOn()
            try await client.wait { statuses($0).count == 500 && $0.utf8.count > 500 * body.count }
        }
    }

    /// Answers from memory take a shorter path. Clients must see no difference.
    @Test func answersFromMemoryLookLikeOthers() async throws {
        let origin = try OriginServer()
        let body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        origin.serve("/a.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        try await RunningServer.run { server in
            let path = RunningServer.path("w:20", origin)
            func head(_ fields: String = "", method: String = "GET", close: Bool = true) async throws -> [String] {
                let text = "\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(fields)"
                // The last request of a connection takes the long path, so a second request follows the one under test.
                let last = get("/health", "Connection: close\r\n")
                let all = close ? text + "Connection: close\r\n\r\n" : text + "\r\n" + last
                let answer = try await RawConnection.answer(all, port: server.port)
                let head = answer.ranges(of: "\r\n\r\n").first.map { answer[..<$0.lowerBound] } ?? answer[...]
                return head.split(separator: "\r\n").map(String.init).sorted()
            }
            func names(_ head: [String]) -> [String] {
                head.dropFirst().map { String($0.prefix { $0 != ":" }).lowercased() }.filter { $0 != "connection" }
                    .sorted()
            }
            _ = try await head()
            let (long, short) = (try await head(), try await head(close: false))
            #expect(names(long) == names(short) && names(long).contains("date") && names(long).contains("server"))
            #expect(short.contains { $0.lowercased() == "cache-status: webimage; hit; detail=memory" })
            let tag = try #require(short.first { $0.lowercased().hasPrefix("etag: ") }?.dropFirst(6))
            let known = try await head("If-None-Match: \(tag)\r\n", close: false)
            #expect(known.contains("HTTP/1.1 304 Not Modified"))
            #expect(!names(known).contains("content-length") && !names(known).contains("transfer-encoding"))
            #expect(names(try await head(method: "HEAD", close: false)) == names(short))
        }
    }

    /// A request that must wait for the origin is answered before a later one whose answer is in memory.
    @Test func answersKeepTheOrderOfRequests() async throws {
        let gate = Gate()
        let origin = try heldPicture(gate)
        let body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        origin.serve("/b.png", OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body))
        try await RunningServer.run { server in
            let there = "/_/f:webp/plain/\(origin.url("/b.png"))"
            _ = try await RawConnection.answer(get(there, "Connection: close\r\n"), port: server.port)
            let connection = try await RawConnection(port: server.port)
            try await connection.send(
                get(there) + get(RunningServer.path("f:png", origin)) + get(there)
                    + get("/health", "Connection: close\r\n"))
            _ = await origin.waitForHits("/a.png")
            gate.open()
            try await connection.closed()
            let types = connection.text.split(separator: "\r\n")
                .compactMap { $0.lowercased().hasPrefix("content-type: ") ? String($0.dropFirst(14)) : nil }
            #expect(types == ["image/webp", "image/png", "image/webp", "text/plain"])
        }
    }

    @Test func idleConnectionsAreClosedForNewClients() async throws {
        try await RunningServer.run(["IMGPROXY_MAX_CLIENTS": "4"]) { server in
            var idle: [RawConnection] = []
            for _ in 0..<6 { idle.append(try await RawConnection(port: server.port)) }
            // An incomplete request does not count as one.
            try await idle[5].send("GET /health HTTP/1.1\r\n")
            for _ in 0..<3 {
                let answer = try await RawConnection.answer(get("/health", "Connection: close\r\n"), port: server.port)
                #expect(statuses(answer) == ["200"])
            }
            for connection in idle.prefix(2) { try await connection.closed() }
        }
    }

    @Test func aClientThatNeverReadsIsClosed() async throws {
        let origin = try bigPicture()
        try await RunningServer.run([:], { $0.writeResponseTimeout = .milliseconds(200) }) { server in
            let client = try await RawConnection(port: server.port, reads: false)
            try await client.send(get(RunningServer.path("skp:png", origin)))
            try await server.wait { $0.metric("webimage_slow_readers_total") == 1 }
            try await client.readOn()
            try? await client.closed()
            #expect(client.received.count < 12_000_000)
            // Other clients are still answered.
            let other = try await RawConnection.answer(get("/health", "Connection: close\r\n"), port: server.port)
            #expect(statuses(other) == ["200"])
        }
    }

    /// The client reads 64 KiB at a time. Progress was once counted in whole bodies, so that such a client was closed
    /// at the first check.
    @Test func aSlowButSteadyReaderGetsTheWholeAnswer() async throws {
        let origin = try bigPicture()
        try await RunningServer.run([:], { $0.writeResponseTimeout = .milliseconds(500) }) { server in
            let client = try await RawConnection(port: server.port, reads: false)
            try await client.send(get(RunningServer.path("skp:png", origin), "Connection: close\r\n"))
            client.read(every: .milliseconds(8))
            try await client.closed()
            #expect(client.received.count > 12_000_000)
            #expect(server.metric("webimage_slow_readers_total") == 0)
        }
    }

    @Test func aHeadThatComesByteByByteIsCutOff() async throws {
        try await RunningServer.run([:], { $0.readRequestTimeout = .milliseconds(200) }) { server in
            let client = try await RawConnection(port: server.port)
            try await client.send("GET / HTTP/1.1\r\nX-A: ")
            client.send("a", every: .milliseconds(2))
            try await client.closed()
            #expect(client.received.isEmpty)
        }
    }

    @Test func aBodyThatComesByteByByteIsCutOffToo() async throws {
        try await RunningServer.run([:], { $0.readRequestTimeout = .milliseconds(200) }) { server in
            let client = try await RawConnection(port: server.port)
            try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            client.send("a", every: .milliseconds(2))
            try await client.closed()
            #expect(statuses(client.text) == ["405"])
        }
    }

    @Test func aConnectionThatRestsIsClosed() async throws {
        try await RunningServer.run([:], { $0.keepAliveTimeout = .milliseconds(200) }) { server in
            let client = try await RawConnection(port: server.port)
            try await client.send(get("/health"))
            try await client.closed()
            #expect(statuses(client.text) == ["200"])
            #expect(server.metric("webimage_slow_readers_total") == 0)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() async throws {
        let gate = Gate()
        let origin = try heldPicture(gate)
        try await RunningServer.run { server in
            let client = try await RawConnection(port: server.port)
            let path = RunningServer.path("w:10", origin)
            try await client.send(
                get("/health") + get(path) + get("/favicon.ico") + get("/ready", "Connection: close\r\n"))
            try await server.wait { $0.endpoint.service.waitingCount == 1 }
            try await client.wait { $0.hasSuffix("webimage is running") }
            #expect(statuses(client.text) == ["200"])
            gate.open()
            try await client.closed()
            #expect(statuses(client.text) == ["200", "200", "404", "200"])
            #expect(client.text.hasSuffix("\r\n\r\nready"))
        }
    }

    @Test(arguments: [false, true])
    func theWorkForAClientThatGoesIsCancelled(pipelined: Bool) async throws {
        let gate = Gate()
        let origin = try heldPicture(gate)
        try await RunningServer.run { server in
            let client = try await RawConnection(port: server.port)
            // The end of the first answer must not hide that the client of the second request has gone.
            let first = pipelined ? get("/health") : ""
            try await client.send(first + get(RunningServer.path("w:10", origin)))
            try await server.wait { $0.endpoint.service.waitingCount == 1 }
            if pipelined { try await client.wait { $0.hasSuffix("webimage is running") } }
            try await client.close()
            try await server.wait { $0.endpoint.service.waitingCount == 0 && $0.metric("requests_in_progress") == 0 }
            #expect(server.endpoint.metricsText.contains(#"status_codes_total{status="499"} 1"#))
            gate.open()
        }
    }

    @Test(arguments: ["HTTP/1.0", "HTTP/1.1"], ["Connection: close", "connection: Close", "Connection: TE, close"])
    func theConnectionEndsBehindTheLastAnswer(version: String, field: String) async throws {
        try await RunningServer.run { server in
            let text = try await RawConnection.answer(
                "GET /health \(version)\r\nHost: a\r\n\(field)\r\n\r\n" + get("/ready"), port: server.port)
            #expect(statuses(text) == ["200"])
            #expect(text.contains("\r\nConnection: close\r\n"))
        }
    }

    /// The parser now expects another protocol and would never see a further request.
    @Test(arguments: [
        "GET /health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n",
    ]) func aRequestForAnotherProtocolIsTheLastToBeAnswered(head: String) async throws {
        try await RunningServer.run(["IMGPROXY_KEEP_ALIVE_TIMEOUT": "3600"]) { server in
            let text = try await RawConnection.answer(head, port: server.port)
            #expect(statuses(text) == [head.hasPrefix("CONNECT") ? "405" : "200"])
            #expect(text.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test func theConnectionOfHTTP10EndsByItself() async throws {
        try await RunningServer.run { server in
            for fields in ["", "Connection: keep-alive\r\n"] {
                let text = try await RawConnection.answer("GET /health HTTP/1.0\r\n\(fields)\r\n", port: server.port)
                #expect(text.hasSuffix("webimage is running"))
            }
        }
    }

    /// By default NIO closes at once, and the client loses what it has not read yet.
    @Test func aServerThatStopsSendsTheAnswersItHasBegun() async throws {
        let origin = try bigPicture()
        var client: RawConnection?
        try await RunningServer.run { server in
            let own = try await RawConnection(port: server.port, reads: false)
            try await own.send(get(RunningServer.path("skp:png", origin)))
            own.read()
            try await own.wait { !$0.isEmpty }
            own.read(every: .milliseconds(1))
            client = own
        }
        try await client?.closed()
        #expect((client?.received.count ?? 0) > 12_000_000)
    }
}
