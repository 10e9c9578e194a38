import HTTPTypes
import Logging
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct ResultCachingTests {
    /// A picture whose URL names the format is the same for all clients.
    @Test func aFormatInTheURLIsMadeOnceForAllClients() async throws {
        let server = try TestServer(["IMGPROXY_AUTO_WEBP": "1", "IMGPROXY_AUTO_AVIF": "1"])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = "/_/w:10/plain/\(server.origin.url("/a.png"))@jpg"
        for (accepted, found) in [("image/webp", "fwd=miss"), ("image/avif", "hit; detail=memory")] {
            let answer = await server.get(path, [.accept: accepted])
            #expect(answer.fields[.contentType] == "image/jpeg")
            #expect(answer.fields[.cacheStatus] == "webimage; \(found)")
        }
    }

    @Test func aRepeatedRequestIsAnsweredFromMemory() async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let first = await server.picture("w:10/q:50")
        #expect(first.fields[.cacheStatus] == "webimage; fwd=miss")
        let second = await server.picture("q:50/w:10")
        #expect(second.fields[.cacheStatus] == "webimage; hit; detail=memory")
        #expect(second.bytes == first.bytes)
        #expect(server.origin.hits("/a.png") == 1)
    }

    @Test func resultsInMemoryAreAnsweredSynchronously() async throws {
        let server = try TestServer(["IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b"])
        try server.serve(headers: [("Cache-Control", "max-age=100")])
        let path = server.endpoint.settings.grammar.signed("/w:10/plain/\(server.origin.url("/a.png"))")
        func request(_ path: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
            HTTPRequest(method: method, scheme: "http", authority: "test", path: path, headerFields: fields)
        }
        #expect(server.endpoint.answerFromMemory(request(path)) == nil)
        let first = await server.get(path)
        let second = try #require(server.endpoint.answerFromMemory(request(path)))
        #expect(second.bytes == first.bytes)
        #expect(second.fields[.cacheStatus] == "webimage; hit; detail=memory")
        #expect(second.fields[.contentSecurityPolicy] == first.fields[.contentSecurityPolicy])
        let tag = try #require(first.fields[.eTag])
        #expect(server.endpoint.answerFromMemory(request(path, .get, [.ifNoneMatch: tag]))?.status == 304)
        #expect(
            server.endpoint.answerFromMemory(request(path, .head))?.fields[.contentLength] == "\(first.bytes.count)")
        // A path with another signature is not answered from memory: its signature is checked.
        let forged = "/_" + path.dropFirst(path.dropFirst().prefix { $0 != "/" }.count + 1)
        #expect(server.endpoint.answerFromMemory(request(forged)) == nil)
        #expect(await server.get(forged).status == 403)
        #expect(server.endpoint.answerFromMemory(request(path, .post)) == nil)
        server.advance(200)
        #expect(server.endpoint.answerFromMemory(request(path)) == nil)
    }

    @Test func aConditionIsAnsweredWithoutTheOrigin() async throws {
        let server = try TestServer()
        try server.serve(headers: [
            ("Cache-Control", "max-age=100"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ])
        let first = await server.picture("w:10")
        let tag = try #require(first.fields[.eTag])
        for value in [tag, "W/" + tag, "\"x\", \(tag)", "*"] {
            let answer = await server.picture("w:10", "/a.png", [.ifNoneMatch: value])
            #expect(answer.status == 304, "\(value)")
            #expect(answer.bytes.isEmpty)
            #expect(answer.fields[.eTag] == tag)
        }
        #expect(await server.picture("w:10", "/a.png", [.ifNoneMatch: "\"x\""]).status == 200)
        #expect(
            await server.picture("w:10", "/a.png", [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"]).status == 304)
        #expect(
            await server.picture("w:10", "/a.png", [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"]).status == 200)
        #expect(server.origin.hits("/a.png") == 1)
    }

    @Test func simultaneousRequestsShareOneTransfer() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.origin.serve(
            "/a.png",
            OriginResponse(
                headers: [("Cache-Control", "max-age=100")],
                body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png),
                behaviours: [.hold(gate, at: .beforeHead)]))
        let answers = await withTaskGroup(of: Answer.self) { group in
            for number in 0..<16 { group.addTask { await server.picture(number % 2 == 0 ? "w:10/q:50" : "q:50/w:10") } }
            while server.endpoint.service.waitingCount < 16 { await Task.yield() }
            gate.open()
            var answers: [Answer] = []
            for await answer in group { answers.append(answer) }
            return answers
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map(\.bytes)).count == 1)
        #expect(server.origin.hits("/a.png") == 1)
        #expect(answers.filter { $0.fields[.cacheStatus] == "webimage; fwd=miss; collapsed" }.count == 15)
    }

    @Test func staleResultsAreServedWhileTheOriginIsAsked() async throws {
        let server = try TestServer()
        var response = OriginResponse(
            headers: [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")],
            body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png))
        // Without a `Date`, because the test's clock runs ahead of the origin's.
        response.sendsDate = false
        server.origin.serve("/a.png", response)
        let first = await server.picture("w:10")
        server.advance(20)
        let stale = await server.picture("w:10")
        #expect(stale.fields[.cacheStatus] == "webimage; hit; detail=stale")
        #expect(stale.bytes == first.bytes)
        while await server.picture("w:10").fields[.cacheStatus] != "webimage; hit; detail=memory" { await Task.yield() }
        #expect(server.origin.hits("/a.png") == 2)
    }

    /// However many stale answers are given while the origin is slow, there is only one renewal.
    @Test func aSlowOriginIsAskedOnceForAllStaleAnswers() async throws {
        let server = try TestServer()
        let gate = Gate()
        var response = OriginResponse(
            headers: [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")],
            body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png))
        response.sendsDate = false
        var slow = response
        slow.behaviours = [.hold(gate, at: .beforeHead)]
        server.origin.serve("/a.png", response, slow)
        _ = await server.picture("w:10")
        server.advance(20)
        _ = await server.picture("w:10")
        while server.origin.hits("/a.png") < 2 { await Task.yield() }
        for _ in 0..<50 {
            #expect(await server.picture("w:10").fields[.cacheStatus] == "webimage; hit; detail=stale")
        }
        #expect(server.endpoint.service.renewingCount == 1)
        gate.open()
        while await server.picture("w:10").fields[.cacheStatus] != "webimage; hit; detail=memory" { await Task.yield() }
        #expect(server.origin.hits("/a.png") == 2)
        #expect(server.endpoint.service.renewingCount == 0)
    }

    /// Another `ETag` means another picture. The same `Last-Modified` may belong to another picture, and is taken to if
    /// the origin sends a body instead of a 304.
    @Test(
        arguments: [
            [("ETag", "\"1\""), ("ETag", "\"2\"")],
            [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")],
        ] as [[(name: String, value: String)]])
    func aSourceThatHasChangedIsMadeAnew(validators: [(name: String, value: String)]) async throws {
        let server = try TestServer()
        func response(_ size: PixelSize, _ validator: (name: String, value: String)) throws -> OriginResponse {
            var response = OriginResponse(
                headers: [("Cache-Control", "max-age=10"), validator], body: try TestServer.bytes(size, as: .png))
            // Without a `Date`, because the test's clock runs ahead of the origin's.
            response.sendsDate = false
            return response
        }
        server.origin.serve(
            "/a.png", try response(PixelSize(width: 64, height: 48), validators[0]),
            try response(PixelSize(width: 48, height: 64), validators[1]))
        _ = await server.picture("w:12")
        server.advance(20)
        var answer = await server.picture("w:12")
        while answer.fields[.cacheStatus] == "webimage; hit; detail=stale" {
            await Task.yield()
            answer = await server.picture("w:12")
        }
        #expect(try await answer.image().size == PixelSize(width: 12, height: 16))
    }

    /// A source that has become `no-store` is loaded once for its renewal, and the old result is no longer served.
    @Test func aSourceThatMayNoLongerBeStoredIsLoadedOnceForItsRenewal() async throws {
        let server = try TestServer()
        func response(_ size: PixelSize, _ control: String) throws -> OriginResponse {
            var response = OriginResponse(
                headers: [("Cache-Control", control)], body: try TestServer.bytes(size, as: .png))
            // Without a `Date`, because the test's clock runs ahead of the origin's.
            response.sendsDate = false
            return response
        }
        server.origin.serve(
            "/a.png", try response(PixelSize(width: 64, height: 48), "max-age=10"),
            try response(PixelSize(width: 48, height: 64), "no-store"))
        _ = await server.picture("w:12")
        server.advance(20)
        #expect(await server.picture("w:12").fields[.cacheStatus] == "webimage; hit; detail=stale")
        while server.endpoint.service.renewingCount > 0 || server.origin.hits("/a.png") < 2 { await Task.yield() }
        #expect(server.origin.hits("/a.png") == 2)
        let answer = await server.picture("w:12")
        #expect(answer.fields[.cacheStatus] == "webimage; fwd=miss")
        #expect(try await answer.image().size == PixelSize(width: 12, height: 16))
        #expect(server.origin.hits("/a.png") == 3)
    }

    /// A redirect is not reused for longer than its own lifetime, however long that of its target is.
    @Test(arguments: [("no-store", 0), ("max-age=50", 50), (nil, 300)] as [(String?, Int)])
    func aRedirectIsFollowedAgain(control: String?, seconds: Int) async throws {
        let server = try TestServer(["WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        try server.serve(headers: [("Cache-Control", "max-age=10000"), ("ETag", "\"1\"")])
        var redirect = OriginResponse(
            status: 302, headers: [("Location", "/a.png")] + (control.map { [("Cache-Control", $0)] } ?? []))
        redirect.sendsDate = false
        server.origin.serve("/r.png", redirect)
        _ = await server.picture("w:10", "/r.png")
        if seconds > 0 {
            server.advance(seconds - 5)
            _ = await server.picture("w:10", "/r.png")
            #expect(server.origin.hits("/r.png") == 1)
        }
        server.advance(10)
        _ = await server.picture("w:10", "/r.png")
        #expect(server.origin.hits("/r.png") == 2)
    }

    @Test func anOriginThatIsDownLeavesTheOldResult() async throws {
        let server = try TestServer(["WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        let bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        server.origin.serve(
            "/a.png", OriginResponse(headers: [("Cache-Control", "max-age=10")], body: bytes),
            OriginResponse(status: 503))
        _ = await server.picture("w:10")
        server.advance(20)
        let stale = await server.picture("w:10")
        #expect(stale.status == 200)
        #expect(stale.fields[.cacheStatus] == "webimage; hit; detail=stale")
        server.advance(700_000)
        #expect(await server.picture("w:10").status == 502)
    }

    @Test func aSourceThatIsGoneIsNotServedStale() async throws {
        let server = try TestServer(["WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        let bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        server.origin.serve(
            "/a.png", OriginResponse(headers: [("Cache-Control", "max-age=10")], body: bytes),
            OriginResponse(status: 410))
        _ = await server.picture("w:10")
        server.advance(20)
        #expect(await server.picture("w:10").status == 410)
    }

    @Test func aResultWithNoStoreIsNotCached() async throws {
        let server = try TestServer()
        try server.serve(headers: [("Cache-Control", "no-store")])
        _ = await server.picture("w:10")
        #expect(await server.picture("w:10").fields[.cacheStatus] == "webimage; fwd=miss")
        #expect(server.origin.hits("/a.png") == 2)
    }

    /// Results are not served after a change of settings that affect them; other changes do not matter.
    @Test(arguments: [
        (["IMGPROXY_QUALITY": "50"], false), (["IMGPROXY_FORMAT_QUALITY": "jpeg=30"], false),
        (["IMGPROXY_STRIP_METADATA": "0"], false), (["IMGPROXY_MAX_RESULT_DIMENSION": "5"], false),
        (["IMGPROXY_TTL": "77"], true), (["IMGPROXY_AUTO_WEBP": "1"], true),
        (["IMGPROXY_FORMAT_QUALITY": "webp=79,jxl=77,avif=63"], true),
    ])
    func aRestartWithOtherSettingsMakesOtherResults(_ variables: [String: String], _ isFound: Bool) async throws {
        let folder = try ScratchDirectory()
        let first = try TestServer(["WEBIMAGE_CACHE_DIR": folder.path])
        try first.serve(headers: [("Cache-Control", "max-age=1000")])
        let path = "/_/w:10/f:jpg/plain/\(first.origin.url("/a.png"))"
        _ = await first.get(path)
        await first.endpoint.service.cache.flush()
        let second = try TestServer(variables.merging(["WEBIMAGE_CACHE_DIR": folder.path]) { $1 })
        let status = await second.get(path).fields[.cacheStatus]
        #expect((status == "webimage; hit; detail=disk") == isFound, "\(status ?? "")")
    }

    @Test func anotherWatermarkMakesOtherResults() async throws {
        let folder = try ScratchDirectory()
        func server(_ byte: UInt8) throws -> TestServer {
            let mark = try Image(size: PixelSize(width: 4, height: 4)) { bytes in
                for index in bytes.indices { bytes[index] = index % 4 == 3 ? 255 : byte }
            }
            return try TestServer(["WEBIMAGE_CACHE_DIR": folder.path], watermark: mark)
        }
        let first = try server(0)
        try first.serve(headers: [("Cache-Control", "max-age=1000")])
        func path(_ options: String) -> String { "/_/\(options)/plain/\(first.origin.url("/a.png"))" }
        for options in ["w:10/wm:1", "w:10"] { _ = await first.get(path(options)) }
        await first.endpoint.service.cache.flush()
        let (same, other) = (try server(0), try server(1))
        #expect(await same.get(path("w:10/wm:1")).fields[.cacheStatus] == "webimage; hit; detail=disk")
        #expect(await other.get(path("w:10/wm:1")).fields[.cacheStatus] != "webimage; hit; detail=disk")
        #expect(await other.get(path("w:10")).fields[.cacheStatus] == "webimage; hit; detail=disk")
    }

    @Test func aFullQueueRefusesAtOnce() async throws {
        let server = try TestServer(["IMGPROXY_REQUESTS_QUEUE_SIZE": "1"])
        let gate = Gate()
        for number in 0..<4 {
            server.origin.serve(
                "/\(number)",
                OriginResponse(
                    body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png),
                    behaviours: [.hold(gate, at: .beforeHead)]))
        }
        // Two pictures are made and one waits, which fills the queue.
        let running = (0..<3).map { number in Task { await server.picture("w:10", "/\(number)") } }
        while server.endpoint.service.gate.count < 3 { await Task.yield() }
        let refused = await server.picture("w:10", "/3")
        #expect(refused.status == 429)
        #expect(refused.text == "Too many requests")
        #expect(refused.fields[.retryAfter] == "1")
        #expect(server.origin.hits("/3") == 0)
        // A request for info takes a place, too.
        #expect(await server.get("/info/_/avg:1/plain/\(server.origin.url("/3"))").status == 429)
        #expect(server.origin.hits("/3") == 0)
        gate.open()
        for task in running { #expect(await task.value.status == 200) }
        #expect(await server.picture("w:10", "/3").status == 200)
    }

    @Test func aCancelledRequestEndsItsWork() async throws {
        let server = try TestServer()
        server.origin.serve("/a.png", OriginResponse(body: [1], behaviours: [.stall(at: .beforeHead)]))
        let task = Task { await server.picture("w:10") }
        while server.endpoint.service.gate.count < 1 { await Task.yield() }
        task.cancel()
        #expect(await task.value.status == 499)
        while server.endpoint.service.gate.count > 0 { await Task.yield() }
    }
}
