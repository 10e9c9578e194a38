import FleetTesting
import NIOCore
import RESP
import RedisClient
import Testing

@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct RealServerTests {
    @Test func commandsAreAnswered() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url)
        #expect(
            try await client.send(["SET", "a", RESPArgument(ByteBuffer(bytes: [0, 13, 10, 255]))])
                == .simpleString("OK"))
        #expect(try await client.send(["GET", "a"]) == .bulkString(ByteBuffer(bytes: [0, 13, 10, 255])))
        #expect(try await client.send(["GET", "b"]) == .null)
        #expect(try await client.send(["INCR", "n"]) == .number(1))
        #expect(try await client.send(["HSET", "h", "k", "1"]) == .number(1))
        // The answer is a map, so the connection speaks RESP3. In RESP2 it would be an array.
        #expect(try await client.send(["HGETALL", "h"]) == .map([RESPPair(RESPValue.bulk("k"), RESPValue.bulk("1"))]))
        await #expect(throws: RedisError.refused("ERR unknown command 'NO', with args beginning with: ")) {
            try await client.send(["NO"])
        }
        await client.close()
        await #expect(throws: RedisError.closed) { try await client.send(["PING"]) }
    }

    /// The server answers only after the usual deadline.
    @Test func aCommandMayHaveADeadlineOfItsOwn() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url, loops: 1, change: { $0.deadline = .milliseconds(50) })
        // There may be no connection yet when the first commands end.
        while (try? await client.send(["PING"])) == nil {}
        #expect(try await client.send(["BLPOP", "list", "0.2"], deadline: .seconds(30)) == .null)
        await #expect(throws: RedisError.timedOut) {
            try await client.send(["BLPOP", "list", "0.2"], deadline: .milliseconds(20))
        }
        await client.close()
    }

    /// Thousands of concurrent commands share a few connections.
    @Test func everyCommandGetsItsOwnAnswer() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url, change: { $0.maxInFlight = 5000 })
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<4000 {
                group.addTask {
                    let text = String(repeating: "\(number),", count: 1 + number % 50)
                    return (try? await client.send(["ECHO", RESPArgument(text)])) != RESPValue.bulk(text)
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
        let clients = try await client.send(["CLIENT", "LIST"]).text ?? ""
        #expect(clients.split(separator: "\n").count == 2)
        #expect(clients.contains("name=webimage"))
        await client.close()
    }

    @Test func aPasswordIsGivenAndADatabaseChosen() async throws {
        let port = RedisServer.freePort()
        let server = try await RedisServer(["--port", "\(port)", "--requirepass", "se cret"])
        let right = try client(of: "redis://:se%20cret@127.0.0.1:\(port)/3")
        _ = try await right.send(["SET", "a", "1"])
        #expect(try await right.send(["CLIENT", "INFO"]).text?.contains(" db=3 ") == true)
        let wrong = try client(of: "redis://:no@127.0.0.1:\(port)")
        do throws(RedisError) {
            _ = try await wrong.send(["GET", "a"])
            Issue.record("the password was wrong")
        } catch {
            guard case .refused(let text) = error else { throw error }
            #expect(text.hasPrefix("WRONGPASS"))
        }
        await right.close()
        await wrong.close()
        await server.kill()
    }

    /// While the server is paused, commands end at their deadline. Their answers, which arrive later, are dropped.
    @Test func aLateAnswerIsNotGivenToAnotherCommand() async throws {
        let server = try await RedisServer()
        let hasty = try self.hasty(of: server.url)
        while (try? await hasty.send(["PING"])) == nil {}
        server.pause()
        for number in 0..<3 {
            await #expect(throws: RedisError.timedOut) { try await hasty.send(["ECHO", "late \(number)"]) }
        }
        server.resume()
        // The server may be busy for a while with the commands that arrived during the pause.
        var answers: [RESPValue] = []
        while answers.count < 20 {
            if let answer = try? await hasty.send(["ECHO", "new"]) { answers.append(answer) }
        }
        #expect(answers.allSatisfy { $0 == RESPValue.bulk("new") })
        await hasty.close()
    }

    private func hasty(
        of url: String, onNotice: @escaping @Sendable (RedisClient.Notice) -> Void = { _ in }
    ) throws -> RedisClient {
        try client(
            of: url, loops: 1, onNotice: onNotice,
            change: {
                $0.deadline = .milliseconds(50)
                $0.stallLimit = .hours(1)
            })
    }

    @Test func aServerThatFailsIsLeftAloneAndAskedAgain() async throws {
        let server = try await RedisServer()
        let notices = EventLog<RedisClient.Notice>()
        let client = try hasty(of: server.url, onNotice: { notices.append($0) })
        while (try? await client.send(["PING"])) == nil {}
        server.pause()
        var failures = 0
        while client.isAvailable, failures < 100 {
            failures += (try? await client.send(["PING"])) == nil ? 1 : 0
        }
        #expect(failures == 5)
        let begin = ContinuousClock.now
        for _ in 0..<1000 { await #expect(throws: RedisError.circuitOpen) { try await client.send(["PING"]) } }
        // If each of the thousand commands waited for its deadline, they would take 50 s.
        #expect(ContinuousClock.now - begin < .seconds(25))
        #expect(client.statistics.spared == 1000)
        server.resume()
        // Once a probe is answered, commands are sent again.
        while notices.events.count < 2 { _ = try? await client.send(["PING"]) }
        #expect(notices.events == [.failing(.timedOut), .recovered])
        await client.close()
    }

    @Test func noMoreCommandsWaitThanMay() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url, loops: 1, change: { $0.maxInFlight = 10 })
        _ = try await client.send(["PING"])
        server.pause()
        let outcomes = EventLog<RedisError?>()
        let tasks = (0..<30).map { _ in
            Task {
                do throws(RedisError) {
                    _ = try await client.send(["PING"])
                    outcomes.append(nil)
                } catch {
                    outcomes.append(error)
                }
            }
        }
        await outcomes.wait { $0.count == 20 }
        #expect(outcomes.events.allSatisfy { $0 == .overloaded })
        server.resume()
        for task in tasks { await task.value }
        #expect(outcomes.events.filter { $0 == nil }.count == 10)
        await client.close()
    }

    @Test func aLostConnectionIsMadeAgain() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url)
        _ = try await client.send(["SET", "a", "1"])
        await server.kill()
        await #expect(throws: RedisError.self) { try await client.send(["GET", "a"]) }
        try await server.start()
        var answer: RESPValue?
        while answer == nil { answer = try? await client.send(["GET", "a"]) }
        #expect(answer == .null)
        await client.close()
    }

    @Test func messagesComeAlsoAfterTheConnectionWasLost() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url)
        let events = EventLog<SubscriptionEvent>()
        let subscription = client.subscribe(to: "c") { events.append($0) }
        await events.wait { $0 == [.active] }
        #expect(try await client.send(["PUBLISH", "c", "one"]) == .number(1))
        await events.wait { $0.last == .message(ByteBuffer(string: "one")) }
        await server.kill()
        await events.wait { $0.last == .lost }
        try await server.start()
        await events.wait { $0.last == .active }
        var receivers: RESPValue?
        while receivers == nil { receivers = try? await client.send(["PUBLISH", "c", "two"]) }
        await events.wait { $0.last == .message(ByteBuffer(string: "two")) }
        subscription.end()
        while try await client.send(["PUBLISH", "c", "three"]) != .number(0) {}
        #expect(events.events.count(where: { $0 == .active }) == 2)
        await client.close()
    }

    @Test func manyListenToOneChannelOverOneSubscription() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url)
        let events = EventLog<SubscriptionEvent>()
        let subscriptions = (0..<50).map { _ in client.subscribe(to: "c") { events.append($0) } }
        await events.wait { $0.count == 50 }
        #expect(try await client.send(["PUBLISH", "c", "one"]) == .number(1))
        await events.wait { $0.count == 100 }
        for subscription in subscriptions.dropLast() { subscription.end() }
        #expect(try await client.send(["PUBLISH", "c", "two"]) == .number(1))
        await events.wait { $0.last == .message(ByteBuffer(string: "two")) }
        subscriptions.last?.end()
        while try await client.send(["PUBLISH", "c", "three"]) != .number(0) {}
        await client.close()
    }
}

extension RESPValue {
    static func bulk(_ text: String) -> RESPValue { .bulkString(ByteBuffer(string: text)) }
}
