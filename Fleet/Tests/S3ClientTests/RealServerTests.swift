import FleetTesting
import NIOCore
import NIOPosix
import S3Client
import S3Signing
import Testing

@Suite(.enabled(if: S3Server.isInstalled, "\(S3Server.reason)")) struct S3RealServerTests {
    private static var server: S3Server { get async throws { try await S3Server.shared() } }

    @Test func anObjectIsPutAndRead() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "basic")
        let body = ByteBuffer(bytes: [0, 13, 10, 255])
        try await client.put(
            "a", body, metadata: [("Width", "640"), ("note", "two  blanks; x=1")], contentType: "image/png")
        let object = try #require(try await client.get("a"))
        #expect(object.body == body)
        #expect(object.metadata == ["width": "640", "note": "two  blanks; x=1"])
        #expect(object.contentType == "image/png")
        #expect(object.length == 4)
        #expect(object.etag?.hasPrefix("\"") == true)
        #expect(object.lastModified?.hasSuffix("GMT") == true)
        #expect(client.statistics.requests == 2 && client.statistics.failures == 0)
        #expect(client.statistics.bytesRead == 4 && client.statistics.bytesWritten == 4)
        await client.close()
        await #expect(throws: S3Error.closed) { try await client.get("a") }
    }

    @Test func theBeginningOfAnObjectIsEnough() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "beginning")
        try await client.put("a", ByteBuffer(string: "0123456789"), metadata: [("note", "1")])
        for (most, text) in [(1, "0"), (4, "0123"), (10, "0123456789"), (1000, "0123456789")] {
            let object = try #require(try await client.get("a", upTo: most))
            #expect(object.body.text == text && object.length == 10 && object.metadata == ["note": "1"])
        }
        #expect(try await client.get("no", upTo: 4) == nil)
        #expect(client.statistics.failures == 0)
        await client.close()
    }

    @Test func aMissingObjectIsNil() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "absent")
        #expect(try await client.get("no") == nil)
        try await client.remove("no")
        await client.close()
    }

    @Test func aRemovedObjectIsGone() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "remove")
        try await client.put("a", ByteBuffer(string: "one"))
        try await client.remove("a")
        #expect(try await client.get("a") == nil)
        await client.close()
    }

    @Test func aSecondPutReplacesTheFirst() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "replace")
        try await client.put("a", ByteBuffer(string: "a long first body"), metadata: [("first", "1")])
        try await client.put("a", ByteBuffer(string: "second"), metadata: [("second", "2")])
        let object = try #require(try await client.get("a"))
        #expect(object.body.text == "second" && object.metadata == ["second": "2"])
        await client.close()
    }

    @Test func onlyTheObjectThatWasReadIsReplaced() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "condition")
        try await client.put("a", ByteBuffer(string: "one"))
        let tag = try #require(try await client.get("a")?.etag)
        #expect(try await client.put("a", ByteBuffer(string: "two"), replacing: tag))
        #expect(try await !client.put("a", ByteBuffer(string: "three"), replacing: tag))
        #expect(try await client.get("a")?.body.text == "two")
        try await client.remove("a")
        #expect(try await !client.put("a", ByteBuffer(string: "four"), replacing: tag))
        #expect(try await client.get("a") == nil && client.statistics.failures == 0)
        await client.close()
    }

    @Test(arguments: [0, 1, 65_536, 8 << 20]) func bodiesOfAllLengthsComeBack(_ length: Int) async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "length")
        let body = ByteBuffer.numbers(length)
        try await client.put("\(length)", body)
        let object = try #require(try await client.get("\(length)"))
        #expect(object.body == body)
        #expect(object.length == length)
        await client.close()
    }

    @Test func bodiesOverTheLimitAreNeitherSentNorRead() async throws {
        let server = try await Self.server
        let writer = try client(of: server.endpoint, prefix: "long")
        let reader = try client(of: server.endpoint, prefix: "long", change: { $0.longestBody = 1000 })
        try await writer.put("a", .numbers(1001))
        await #expect(throws: S3Error.tooLarge(limit: 1000)) { try await reader.get("a") }
        await #expect(throws: S3Error.self) { try await reader.put("a", .numbers(1001)) }
        #expect(try await reader.get("a", upTo: 1)?.length == 1001)
        await writer.close()
        await reader.close()
    }

    /// Each odd key is an object of its own. The body of each object is its key.
    @Test func oddKeysAreKept() async throws {
        let client = try client(of: try await Self.server.endpoint, prefix: "odd keys+ü")
        let keys = [
            "a b", "a+b", "a%20b", "a%2Fb", "a/b", "%", "münchen/日本/🙂", "x=1&y=2", "a?b", "a#b", "!*'();:@$,[]",
            "~-_.", "^`{|}\"<>", "...", ".hidden", "a/.../b", "e\u{301}", "é",
        ]
        for key in keys { try await client.put(key, ByteBuffer(string: key)) }
        for key in keys {
            let body = try await client.get(key)?.body
            #expect(body?.readableBytesView.elementsEqual(key.utf8) == true, "\(key)")
        }
        for key in keys { try await client.remove(key) }
        for key in keys { #expect(try await client.get(key) == nil, "\(key)") }
        await client.close()
    }

    @Test func prefixesKeepObjectsApart() async throws {
        let server = try await Self.server
        let (one, two) = (
            try client(of: server.endpoint, prefix: "p/1/"), try client(of: server.endpoint, prefix: "p/2")
        )
        let all = try client(of: server.endpoint)
        try await one.put("a", ByteBuffer(string: "one"))
        #expect(try await two.get("a") == nil)
        #expect(try await all.get("p/1/a")?.body.text == "one")
        for client in [one, two, all] { await client.close() }
    }

    @Test func aWrongSecretIsRefusedInClearWords() async throws {
        var wrong = tests
        wrong.secretKey = "hunter3"
        let client = try client(of: try await Self.server.endpoint, credentials: wrong)
        do throws(S3Error) {
            _ = try await client.get("a")
            Issue.record("the secret was wrong")
        } catch {
            guard case .refused(status: 403, code: "SignatureDoesNotMatch", let message) = error else { throw error }
            #expect(!message.isEmpty)
            #expect("\(error)".hasPrefix("S3 refused the request: 403 SignatureDoesNotMatch: "))
            #expect(!"\(error)".contains("hunter"))
        }
        // A single refusal leaves the server available.
        #expect(client.isAvailable && client.statistics.failures == 1)
        await client.close()
    }

    /// The server refuses the request while the client is still sending the body.
    @Test func aLongBodyIsRefusedToo() async throws {
        var wrong = tests
        wrong.secretKey = "hunter3"
        let client = try client(of: try await Self.server.endpoint, credentials: wrong)
        let body = ByteBuffer(repeating: 1, count: 8 << 20)
        for _ in 0..<3 {
            do throws(S3Error) {
                try await client.put("refused", body)
                Issue.record("the secret was wrong")
            } catch {
                guard case .refused(status: 403, code: "SignatureDoesNotMatch", _) = error else { throw error }
            }
        }
        await client.close()
    }

    @Test func unknownAndAnonymousUsersAreRefused() async throws {
        let server = try await Self.server
        let stranger = try client(
            of: server.endpoint, credentials: S3Credentials(accessKey: "nobody", secretKey: "hunter3"))
        do throws(S3Error) {
            try await stranger.put("a", ByteBuffer(string: "a"))
            Issue.record("nobody knows them")
        } catch {
            guard case .refused(status: 403, code: "InvalidAccessKeyId", _) = error else { throw error }
        }
        let anonymous = try client(of: server.endpoint, credentials: nil)
        do throws(S3Error) {
            _ = try await anonymous.get("a")
            Issue.record("the bucket is not public")
        } catch {
            guard case .refused(status: 403, code: "AccessDenied", _) = error else { throw error }
        }
        await stranger.close()
        await anonymous.close()
    }

    @Test func aBucketThatIsNotThereIsAnError() async throws {
        let endpoint = try await Self.server.endpoint
        let configuration = try S3Configuration(bucket: "elsewhere", endpoint: endpoint, credentials: tests)
        let client = try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton)
        do throws(S3Error) {
            _ = try await client.get("a")
            Issue.record("there is no such bucket")
        } catch {
            guard case .refused(status: 404, code: "NoSuchBucket", _) = error else { throw error }
        }
        await client.close()
    }

    @Test func aHundredAtOnceShareFewConnections() async throws {
        let client = try client(
            of: try await Self.server.endpoint, prefix: "many",
            change: { ($0.maxConnections, $0.readDeadline, $0.writeDeadline) = (4, .minutes(2), .minutes(2)) })
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let body = ByteBuffer(string: String(repeating: "\(number),", count: 1 + number * 7))
                    do {
                        try await client.put("\(number)", body, metadata: [("number", "\(number)")])
                        let object = try await client.get("\(number)")
                        return object?.body != body || object?.metadata["number"] != "\(number)"
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
        #expect(client.statistics.requests == 200 && client.statistics.failures == 0)
        await client.close()
    }
}
