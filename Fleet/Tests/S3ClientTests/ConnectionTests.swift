import FleetTesting
import NIOCore
import S3Client
import Testing

/// How connections are reused, and how requests end whose answers do not come.
@Suite struct S3ConnectionTests {
    private func outcome(_ body: () async throws(S3Error) -> S3Object?) async -> Result<S3Object?, S3Error> {
        await Result.of(body)
    }

    @Test func oneConnectionCarriesManyRequests() async throws {
        let server = try await ScriptedServer { answerNumber($0) }
        let client = try client(of: server.endpoint)
        for number in 0..<10 { #expect(try await client.get("a")?.body.text == "0/\(number)") }
        #expect(server.events.events.count { if case .connected = $0 { true } else { false } } == 1)
        await client.close()
        await server.events.wait { $0.last == .closed(0) }
    }

    /// Bytes after an answer could be mistaken for the next answer.
    @Test(arguments: ["x", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"])
    func aConnectionWithMoreThanItsAnswerIsNotUsedAgain(_ more: String) async throws {
        let server = try await ScriptedServer { request in
            request.connection == 0
                ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst" + more)] : [answer(200, "second")]
        }
        let client = try client(of: server.endpoint)
        #expect(try await client.get("a")?.body.text == "first")
        #expect(try await client.get("a")?.body.text == "second")
        await server.events.wait { $0.contains(.closed(0)) }
        await client.close()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\n0/0",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n0/0",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n0/0",
    ])
    func aConnectionThatShouldNotBeUsedAgainIsClosed(_ first: String) async throws {
        let server = try await ScriptedServer { $0.connection == 0 ? [.send(first)] : answerNumber($0) }
        let client = try client(of: server.endpoint)
        _ = await outcome { () throws(S3Error) in try await client.get("a") }
        await server.events.wait { $0.contains(.closed(0)) }
        #expect(try await client.get("a")?.body.text == "1/0")
        await client.close()
    }

    @Test func anUnusedConnectionIsClosed() async throws {
        let server = try await ScriptedServer { answerNumber($0) }
        let client = try client(of: server.endpoint, change: { $0.idleLimit = .milliseconds(20) })
        #expect(try await client.get("a")?.body.text == "0/0")
        await server.events.wait { $0.last == .closed(0) }
        #expect(try await client.get("a")?.body.text == "1/0")
        await client.close()
    }

    // MARK: - Retries

    /// A server may close an unused connection at any time, also while a request is on its way.
    @Test(arguments: ["GET", "PUT", "DELETE"])
    func aRequestThatAUsedConnectionLostIsSentOnceMore(_ method: String) async throws {
        let server = try await ScriptedServer { request in
            request.connection == 0 && request.number == 1 ? [.close] : answerNumber(request)
        }
        let client = try client(of: server.endpoint)
        #expect(try await client.get("a")?.body.text == "0/0")
        switch method {
        case "GET": #expect(try await client.get("b")?.body.text == "1/0")
        case "PUT": try await client.put("b", ByteBuffer(string: "body"))
        default: try await client.remove("b")
        }
        let lines = server.requests.events.map(\.line)
        #expect(lines.dropFirst() == ["\(method) /webimage-tests/b HTTP/1.1", "\(method) /webimage-tests/b HTTP/1.1"])
        #expect(server.requests.events[1].body == server.requests.events[2].body)
        #expect(client.statistics.failures == 0)
        await client.close()
    }

    @Test func aRequestIsNotSentAThirdTime() async throws {
        let server = try await ScriptedServer { request in
            request.connection == 0 && request.number == 0 ? answerNumber(request) : [.close]
        }
        let client = try client(of: server.endpoint)
        _ = try await client.get("a")
        #expect(await outcome { () throws(S3Error) in try await client.get("b") } == .failure(.connectionLost))
        #expect(server.requests.events.count == 3)
        await client.close()
    }

    @Test func aRequestWhoseAnswerHasBegunIsNotSentAgain() async throws {
        let server = try await ScriptedServer { request in
            request.number == 0 ? answerNumber(request) : [.send("HTTP/1.1 2"), .close]
        }
        let client = try client(of: server.endpoint)
        _ = try await client.get("a")
        #expect(await outcome { () throws(S3Error) in try await client.get("b") } == .failure(.connectionLost))
        #expect(server.requests.events.count == 2)
        await client.close()
    }

    /// All connections are lost while many requests are on their way.
    @Test func manyConnectionsMayBeLostAtOnce() async throws {
        let server = try await ScriptedServer { $0.number == 3 ? [.close] : answerNumber($0) }
        let client = try client(of: server.endpoint, change: { $0.maxConnections = 4 })
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 { group.addTask { (try? await client.get("\(number)")) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
        var (open, most) = (0, 0)
        for event in server.events.events {
            switch event {
            case .connected: open += 1
            case .closed: open -= 1
            case .asked: break
            }
            most = max(most, open)
        }
        #expect(most <= 4)
        await client.close()
    }

    // MARK: - Answers that do not come

    @Test(arguments: [
        "", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello", "HTTP/1.1 200 OK\r\n\r\nHello",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func aSlowAnswerIsGivenUpInTime(_ beginning: String) async throws {
        let server = try await ScriptedServer { _ in [.send(beginning)] }
        let client = try client(of: server.endpoint, change: { $0.readDeadline = .milliseconds(50) })
        #expect(await outcome { () throws(S3Error) in try await client.get("a") } == .failure(.timedOut))
        // On a busy machine the deadline may pass before the request is sent.
        if server.requests.events.count > 0 { await server.events.wait { $0.last == .closed(0) } }
        #expect(client.statistics.failures == 1)
        await client.close()
    }

    @Test func requestsThatWaitForAConnectionTimeOut() async throws {
        let server = try await ScriptedServer { _ in [] }
        let client = try client(
            of: server.endpoint, change: { ($0.readDeadline, $0.maxConnections) = (.milliseconds(100), 1) })
        await withTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    #expect(await Result.of { () throws(S3Error) in try await client.get("\(number)") }.isFailure)
                }
            }
        }
        await client.close()
    }

    /// Reads that could not be sent once counted as failures of the server, which then was not asked for a while.
    @Test func aRequestThatOthersHeldUpIsNoFailureOfTheServer() async throws {
        let server = try await ScriptedServer { _ in [] }
        let client = try client(
            of: server.endpoint, change: { ($0.readDeadline, $0.maxConnections) = (.milliseconds(50), 1) })
        let upload = Task {
            await Result.of { () throws(S3Error) in try await client.put("a", ByteBuffer(string: "a")) }
        }
        await server.events.wait { $0.last == .asked(0) }
        for _ in 0..<6 {
            #expect(await outcome { () throws(S3Error) in try await client.get("b") } == .failure(.overloaded))
        }
        #expect(client.isAvailable && client.statistics.failures == 0)
        upload.cancel()
        _ = await upload.value
        await client.close()
    }

    @Test func aCancelledTaskStopsWaitingAtOnce() async throws {
        let server = try await ScriptedServer { _ in [] }
        let client = try client(
            of: server.endpoint, change: { ($0.readDeadline, $0.maxConnections) = (.hours(1), 1) })
        let first = Task { await Result.of { () throws(S3Error) in try await client.get("a") } }
        await server.events.wait { $0.last == .asked(0) }
        // The second request waits for the only connection.
        let second = Task { await Result.of { () throws(S3Error) in try await client.get("b") } }
        while client.statistics.requests < 2 { await Task.yield() }
        second.cancel()
        #expect(await second.value == .failure(.cancelled))
        first.cancel()
        #expect(await first.value == .failure(.cancelled))
        // The answer to the cancelled request could still arrive, so the connection is closed.
        await server.events.wait { $0.last == .closed(0) }
        #expect(client.statistics.failures == 0)
        await client.close()
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        let server = try await ScriptedServer { answerNumber($0) }
        let client = try client(of: server.endpoint)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await Result.of { () throws(S3Error) in try await client.get("a") }
        }
        task.cancel()
        #expect(await task.value == .failure(.cancelled))
        #expect(try await client.get("b")?.body.text == "0/0")
        #expect(server.requests.events.count == 1)
        await client.close()
    }

    @Test func closingEndsAllThatWait() async throws {
        let server = try await ScriptedServer { _ in [] }
        let client = try client(
            of: server.endpoint, change: { ($0.readDeadline, $0.maxConnections) = (.hours(1), 2) })
        let tasks = (0..<6).map { number in
            Task { await Result.of { () throws(S3Error) in try await client.get("\(number)") } }
        }
        await server.events.wait { $0.contains(.asked(0)) && $0.contains(.asked(1)) }
        while client.statistics.requests < 6 { await Task.yield() }
        await client.close()
        for task in tasks { #expect(await task.value == .failure(.closed)) }
        #expect(!client.isAvailable)
        await server.events.wait { $0.contains(.closed(0)) && $0.contains(.closed(1)) }
    }

    @Test func aClientThatIsReleasedClosesItsConnections() async throws {
        let server = try await ScriptedServer { answerNumber($0) }
        do {
            let client = try client(of: server.endpoint)
            #expect(try await client.get("a") != nil)
        }
        await server.events.wait { $0.last == .closed(0) }
    }

    @Test func noMoreRequestsWaitThanMay() async throws {
        let server = try await ScriptedServer { _ in [] }
        let client = try client(
            of: server.endpoint,
            change: { ($0.readDeadline, $0.maxConnections, $0.maxWaiting) = (.hours(1), 2, 3) })
        let outcomes = EventLog<Result<S3Object?, S3Error>>()
        let tasks = (0..<20).map { number in
            Task { outcomes.append(await Result.of { () throws(S3Error) in try await client.get("\(number)") }) }
        }
        await outcomes.wait { $0.count == 15 }
        #expect(outcomes.events.allSatisfy { $0 == .failure(.overloaded) })
        await client.close()
        for task in tasks { await task.value }
        #expect(outcomes.events.count { $0 == .failure(.closed) } == 5)
        #expect(client.statistics.failures == 0)
    }

    // MARK: - The circuit

    @Test func aServerThatFailsIsLeftAloneAndAskedAgain() async throws {
        let server = try await ScriptedServer { request in
            switch request.line.prefix(4) {
            // Answers to HEAD have a length and no body.
            case "HEAD": [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\n")]
            default: request.head.contains("/bad ") ? [refusal(503, "SlowDown")] : [answer(200, "good")]
            }
        }
        let notices = EventLog<S3Client.Notice>()
        let client = try client(of: server.endpoint, prefix: "p", onNotice: { notices.append($0) })
        for _ in 0..<5 {
            #expect(client.isAvailable)
            let result = await outcome { () throws(S3Error) in try await client.get("bad") }
            #expect(result == .failure(.unavailable(status: 503, code: "SlowDown")))
        }
        let failing = S3Client.Notice.failing(.unavailable(status: 503, code: "SlowDown"))
        #expect(!client.isAvailable && notices.events == [failing])
        for _ in 0..<100 {
            #expect(await outcome { () throws(S3Error) in try await client.get("good") } == .failure(.circuitOpen))
        }
        #expect(server.requests.events.count == 5)
        await server.requests.wait { $0.count == 6 }
        #expect(server.requests.events.last?.line == "HEAD /webimage-tests/p/ HTTP/1.1")
        while !client.isAvailable { await Task.yield() }
        for _ in 0..<5 {
            #expect(notices.events == [failing])
            #expect(try await client.get("good")?.body.text == "good")
        }
        #expect(notices.events == [failing, .recovered])
        let statistics = client.statistics
        #expect(statistics.failures == 5 && statistics.openings == 1 && statistics.spared == 100)
        #expect(statistics.requests == 10 && statistics.bytesRead == 20)
        await client.close()
    }

    @Test func aServerThatIsNotThereIsLeftAlone() async throws {
        let server = try await ScriptedServer { _ in [] }
        await server.stop()
        let client = try client(of: server.endpoint)
        for _ in 0..<5 {
            #expect(await outcome { () throws(S3Error) in try await client.get("a") } == .failure(.connectionLost))
        }
        #expect(await outcome { () throws(S3Error) in try await client.get("a") } == .failure(.circuitOpen))
        await client.close()
    }

    /// Wrong credentials, a wrong bucket, a wrong region, and a server that is not S3.
    @Test(arguments: [
        (403, "AccessDenied"), (403, "SignatureDoesNotMatch"), (400, "AuthorizationHeaderMalformed"),
        (404, "NoSuchBucket"), (404, ""), (301, "PermanentRedirect"), (307, "TemporaryRedirect"),
    ])
    func refusalsInARowCountAsFailures(_ status: Int, _ code: String) async throws {
        let server = try await ScriptedServer { _ in [refusal(status, code)] }
        let notices = EventLog<S3Client.Notice>()
        let client = try client(of: server.endpoint, onNotice: { notices.append($0) })
        for _ in 0..<10 { _ = await outcome { () throws(S3Error) in try await client.get("a") } }
        #expect(!client.isAvailable && client.statistics.failures == 5 && client.statistics.spared == 5)
        #expect(server.requests.events.count == 5 && notices.events.count == 1)
        #expect(notices.events.first.map { "\($0)".contains("\(status)") } == true)
        await client.close()
    }

    /// A policy forbids one key only, and other keys do not exist.
    @Test func aRefusedKeyAndMissingKeysDoNotCountAsFailuresOfOthers() async throws {
        let server = try await ScriptedServer { request in
            request.head.contains("/bad ") ? [refusal(403, "AccessDenied")] : [refusal(404, "NoSuchKey")]
        }
        let client = try client(of: server.endpoint)
        for _ in 0..<10 {
            for _ in 0..<4 { _ = await outcome { () throws(S3Error) in try await client.get("bad") } }
            #expect(await outcome { () throws(S3Error) in try await client.get("missing") } == .success(nil))
        }
        #expect(client.isAvailable && client.statistics.failures == 40)
        await client.close()
    }
}

/// Answers with the number of the connection and the number of the request on it.
private func answerNumber(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
    request.line.hasPrefix("HEAD")
        ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")]
        : [answer(200, "\(request.connection)/\(request.number)")]
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
