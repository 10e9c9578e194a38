import FleetTesting
import NIOCore
import S3Client
import S3Signing
import Synchronization
import Testing

/// How the client handles answers, valid and invalid.
@Suite struct S3AnswerTests {
    private func outcome(
        _ steps: ScriptedServer.Step..., change: (inout S3Configuration) -> Void = { _ in }
    ) async throws -> (Result<S3Object?, S3Error>, ScriptedServer) {
        let server = try await ScriptedServer { _ in steps }
        let client = try client(of: server.endpoint, change: change)
        let result = await Result<S3Object?, S3Error>.of { () throws(S3Error) in try await client.get("a") }
        return (result, server)
    }

    @Test func anAnswerInChunksIsPutTogether() async throws {
        let (result, server) = try await outcome(
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Amz-Meta-One: 1\r\n\r\n5\r\nHello\r\n"),
            .send("7;x=y\r\n, world\r\n0\r\nTrailer: 1\r\n\r\n"))
        let object = try #require(try result.get())
        #expect(object.body.text == "Hello, world" && object.length == 12)
        #expect(object.metadata == ["one": "1"])
        _ = server
    }

    @Test func anAnswerMayEndWithItsConnection() async throws {
        let (result, server) = try await outcome(.send("HTTP/1.1 200 OK\r\n\r\nHello"), .close)
        #expect(try result.get()?.body.text == "Hello")
        _ = server
    }

    @Test func anInterimAnswerIsPassedOver() async throws {
        let (result, server) = try await outcome(.send("HTTP/1.1 100 Continue\r\n\r\n"), answer(200, "Hello"))
        #expect(try result.get()?.body.text == "Hello")
        _ = server
    }

    @Test(arguments: [
        "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
    ])
    func anAnswerThatIsCutIsNoAnswer(_ text: String) async throws {
        let (result, server) = try await outcome(.send(text), .close)
        #expect(result == .failure(.connectionLost))
        _ = server
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.6\r\n", "\u{0}\u{1}\u{2}\u{3}garbage", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZ\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ])
    func answersThatAreNotHTTPAreRefused(_ text: String) async throws {
        let (result, server) = try await outcome(.send(text), .close)
        guard case .failure(.malformed) = result else {
            Issue.record("\(result)")
            return
        }
        await server.events.wait { $0.last == .closed(0) }
    }

    @Test(arguments: [
        Named("a long header", "X-Long: " + String(repeating: "a", count: 70_000) + "\r\n"),
        Named("many headers", String(repeating: "X-Many: " + String(repeating: "b", count: 500) + "\r\n", count: 200)),
        Named("very many headers", String(repeating: "X-Short: 1\r\n", count: 1000)),
    ])
    func aHeadThatIsTooLongIsNotRead(_ headers: Named) async throws {
        let (result, server) = try await outcome(
            .send("HTTP/1.1 200 OK\r\n\(headers.text)Content-Length: 0\r\n\r\n"))
        #expect(result == .failure(.tooLarge(limit: 64 << 10)))
        await server.events.wait { $0.last == .closed(0) }
    }

    @Test(arguments: [
        Named("a byte too long", "Content-Length: 1001\r\n\r\n"),
        Named("much too long", "Content-Length: 99999999999999\r\n\r\n"),
        Named(
            "in chunks", "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + String(repeating: "a", count: 1001) + "\r\n"),
        Named("without a length", "\r\n" + String(repeating: "a", count: 1001)),
    ])
    func aBodyThatIsTooLongIsNotRead(_ rest: Named) async throws {
        let (result, server) = try await outcome(
            .send("HTTP/1.1 200 OK\r\n" + rest.text), change: { $0.longestBody = 1000 })
        #expect(result == .failure(.tooLarge(limit: 1000)))
        await server.events.wait { $0.last == .closed(0) }
    }

    @Test func aBodyMayBeAsLongAsAllowed() async throws {
        let (result, server) = try await outcome(
            answer(200, String(repeating: "a", count: 1000)), change: { $0.longestBody = 1000 })
        #expect(try result.get()?.length == 1000)
        _ = server
    }

    /// The client reads only the beginning of a long error document and does not wait for the rest.
    @Test func aLongErrorIsToldByItsBeginning() async throws {
        let text =
            "<Error><Code>Odd</Code><Message>a &lt;b&gt;\u{7}\n</Message>" + String(repeating: " ", count: 70_000)
        let (result, server) = try await outcome(.send("HTTP/1.1 400 Bad\r\nContent-Length: 9999999\r\n\r\n" + text))
        #expect(result == .failure(.refused(status: 400, code: "Odd", message: "a <b>??")))
        await server.events.wait { $0.last == .closed(0) }
    }

    /// Answers are cut off anywhere or have flipped bits. Each request ends within its deadline, and the next request
    /// is not affected.
    @Test func damagedAnswersDoNotAffectOtherRequests() async throws {
        let whole = [
            "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX-Amz-Meta-One: 1\r\nETag: \"1\"\r\n\r\nHello, world",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n7;x=y\r\n, world\r\n0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 24\r\n\r\n<Code>NoSuchKey</Code>\r\n",
        ]
        let server = try await ScriptedServer { request in
            // Requests for the key "good" get a valid answer.
            if request.line.contains("/good ") { return [answer(200, "good")] }
            var numbers = SeededNumbers(seed: UInt64(request.connection * 1000 + request.number))
            var bytes = Array((whole.randomElement(using: &numbers) ?? "").utf8)
            if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &numbers)) }
            for _ in 0..<Int.random(in: 0..<4, using: &numbers) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &numbers)] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            }
            return [.sendBytes(ByteBuffer(bytes: bytes)), .close]
        }
        let client = try client(of: server.endpoint, change: { $0.longestBody = 1000 })
        for _ in 0..<500 {
            let damaged = await Result<S3Object?, S3Error>.of { () throws(S3Error) in try await client.get("damaged") }
            switch damaged {
            case .success(let object): #expect((object?.body.readableBytes ?? 0) <= 200)
            case .failure(.timedOut), .failure(.circuitOpen): Issue.record("\(damaged)")
            case .failure: break
            }
            #expect(try await client.get("good")?.body.text == "good")
        }
        await client.close()
    }

    @Test func statusesAndCodesGiveTheirErrors() async throws {
        let table: [(ScriptedServer.Step, S3Error)] = [
            (refusal(403, "AccessDenied"), .refused(status: 403, code: "AccessDenied", message: "Because.")),
            (refusal(404, "NoSuchBucket"), .refused(status: 404, code: "NoSuchBucket", message: "Because.")),
            (answer(404, "<html>nginx</html>"), .refused(status: 404, code: "", message: "")),
            (answer(400), .refused(status: 400, code: "", message: "")),
            (refusal(500, "InternalError"), .unavailable(status: 500, code: "InternalError")),
            (refusal(503, "SlowDown"), .unavailable(status: 503, code: "SlowDown")),
            (answer(429), .unavailable(status: 429, code: "")),
            (
                refusal(301, "PermanentRedirect", "Use the endpoint."),
                .redirected(status: 301, code: "PermanentRedirect", message: "Use the endpoint.", region: "")
            ),
            (
                answer(307, "<Error><Code>TemporaryRedirect</Code></Error>", "x-amz-bucket-region: eu-west-1"),
                .redirected(status: 307, code: "TemporaryRedirect", message: "", region: "eu-west-1")
            ),
            (
                answer(301, "", "Location: http://elsewhere.example/"),
                .redirected(status: 301, code: "", message: "", region: "")
            ),
        ]
        for (step, error) in table {
            let (result, server) = try await outcome(step)
            #expect(result == .failure(error))
            #expect(!"\(error)".isEmpty)
            _ = server
        }
        let (result, server) = try await outcome(refusal(404, "NoSuchKey"))
        #expect(try result.get() == nil)
        _ = server
    }

    @Test func removalsReadStatuses() async throws {
        let server = try await ScriptedServer { request in
            switch request.number {
            case 0: [.send("HTTP/1.1 204 No Content\r\n\r\n")]
            case 1: [answer(404)]
            default: [refusal(404, "NoSuchBucket")]
            }
        }
        let client = try client(of: server.endpoint)
        try await client.remove("a")
        try await client.remove("a")
        await #expect(throws: S3Error.refused(status: 404, code: "NoSuchBucket", message: "Because.")) {
            try await client.remove("a")
        }
        #expect(server.events.events.count { $0 == .asked(0) } == 3)
        await client.close()
    }

    @Test func requestsAreSignedOrNot() async throws {
        let server = try await ScriptedServer { _ in [answer(200)] }
        let (signed, unsigned) = (
            try client(of: server.endpoint, prefix: "p"), try client(of: server.endpoint, credentials: nil)
        )
        try await signed.put(
            "a b", ByteBuffer(string: "Hello"), metadata: [("Name", "value")], contentType: "text/plain")
        try await unsigned.put("a", ByteBuffer(string: "Hello"))
        let requests = server.requests.events
        #expect(requests[0].line == "PUT /webimage-tests/p/a%20b HTTP/1.1")
        #expect(requests[0].head.contains("\r\nhost: 127.0.0.1:\(server.port)\r\n"))
        #expect(requests[0].head.contains("\r\nx-amz-meta-name: value\r\n"))
        #expect(requests[0].head.contains("\r\ncontent-type: text/plain\r\n"))
        #expect(
            requests[0].head.contains(
                "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-name,"))
        // SHA-256 of "Hello".
        #expect(
            requests[0].head.contains(
                "x-amz-content-sha256: 185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"))
        #expect(!requests[0].head.contains(tests.secretKey))
        #expect(requests[0].body.text == "Hello")
        #expect(!requests[1].head.contains("authorization") && !requests[1].head.contains("x-amz"))
        await signed.close()
        await unsigned.close()
    }

    /// The credentials of a role expire after some hours. A client once kept the credentials with which it was made.
    @Test func credentialsMayBeRenewedBetweenRequests() async throws {
        let server = try await ScriptedServer { _ in [answer(200)] }
        let number = Mutex(0)
        let client = try client(
            of: server.endpoint, credentials: nil,
            change: { configuration in
                configuration.currentCredentials = {
                    let now = number.withLock { $0 }
                    let token = now == 2 ? "a\nb" : "token\(now)"
                    return S3Credentials(accessKey: "key\(now)", secretKey: "secret", sessionToken: token)
                }
            })
        try await client.put("a", ByteBuffer(string: "Hello"))
        number.withLock { $0 = 1 }
        try await client.remove("a")
        number.withLock { $0 = 2 }
        await #expect(throws: S3Error.self) { try await client.remove("a") }
        let heads = server.requests.events.map(\.head)
        #expect(heads.count == 2, "what has a line end is not sent")
        for (number, head) in heads.enumerated() {
            #expect(head.contains("Credential=key\(number)/") && head.contains("x-amz-security-token: token\(number)"))
        }
        #expect(heads[0].contains("185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"))
        await client.close()
    }

    @Test(arguments: [
        Named("empty", ""), Named("dots", ".."), Named("dots inside", "a/../b"),
        Named("a mark behind", "a/../\u{301}b"), Named("a dot", "./a"),
        Named("two slashes", "a//b"), Named("a slash first", "/a"), Named("a line end", "a\n"),
        Named("too long", String(repeating: "a", count: 1025)),
    ])
    func keysThatServersTakeDifferentlyAreRefused(_ key: Named) async throws {
        for prefix in ["", "p"] {
            let client = try client(of: "http://127.0.0.1:9", prefix: prefix)
            await #expect(throws: S3Error.self) { try await client.get(key.text) }
            await #expect(throws: S3Error.self) { try await client.put(key.text, ByteBuffer()) }
            #expect(client.statistics.requests == 0)
            await client.close()
        }
    }

    @Test(arguments: [
        [("a", "line\r\nX-Other: 1")], [("a", "ü")], [("a", " b")], [("a", "b ")], [("a b", "c")], [("", "c")],
        [("a", "1"), ("A", "2")], [("a:", "1")], (0..<2).map { ("\($0)", String(repeating: "b", count: 1024)) },
    ])
    func metadataThatHeadersCannotHoldIsRefused(_ metadata: [(String, String)]) async throws {
        let client = try client(of: "http://127.0.0.1:9")
        do throws(S3Error) {
            try await client.put("a", ByteBuffer(), metadata: metadata)
            Issue.record("\(metadata)")
        } catch {
            guard case .invalid = error else { throw error }
        }
        #expect(client.statistics.requests == 0)
        await client.close()
    }
}

extension Result where Failure == S3Error {
    static func of(_ body: () async throws(S3Error) -> Success) async -> Self {
        do throws(S3Error) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
