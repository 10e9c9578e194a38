import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

/// The notices of a client whose Redis refuses commands or cannot be reached.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct RedisNoticesTests {
    /// Sends commands until the client gives a notice, for ten seconds at most.
    private func notice(
        of url: String, _ command: [RESPArgument] = ["GET", "a"], change: (inout RedisConfiguration) -> Void = { _ in }
    ) async throws -> String {
        let notices = EventLog<RedisClient.Notice>()
        let client = try client(of: url, loops: 1, onNotice: { notices.append($0) }, change: change)
        let end = ContinuousClock.now + .seconds(10)
        while notices.events.isEmpty, ContinuousClock.now < end { _ = try? await client.send(command) }
        await client.close()
        guard case .failing(let error)? = notices.events.first else { return "\(notices.events)" }
        return "\(error)"
    }

    @Test func theNoticeStatesTheReason() async throws {
        let port = RedisServer.freePort()
        let server = try await RedisServer(["--port", "\(port)", "--requirepass", "se cret"])
        let table: [(url: String, reason: String)] = [
            ("redis://127.0.0.1:\(port)", "NOAUTH"),
            ("redis://:wrong%20word@127.0.0.1:\(port)", "WRONGPASS"),
            ("redis://:se%20cret@127.0.0.1:\(port)/99", "DB index is out of range"),
            ("redis://127.0.0.1:\(RedisServer.freePort())", "Connection refused"),
            ("unix:///tmp/none-\(port)", "No such file or directory"),
            ("redis://none.invalid:\(port)", "the name none.invalid has no address"),
        ]
        for (url, reason) in table {
            let text = try await notice(of: url)
            #expect(text.contains(reason))
            #expect(!text.contains("se cret") && !text.contains("wrong word"))
        }
        withExtendedLifetime(server) {}
    }

    #if TLS
        @Test(.enabled(if: TestCertificate.canBeMade, "there is no openssl"))
        func theNoticeStatesTheReasonOfTLSFailures() async throws {
            let (files, port, plain) = (try await TestCertificate(), RedisServer.freePort(), RedisServer.freePort())
            let server = try await RedisServer([
                "--port", "\(plain)", "--tls-port", "\(port)", "--tls-cert-file", files.certificate, "--tls-key-file",
                files.key, "--tls-ca-cert-file", files.certificate, "--tls-auth-clients", "no",
            ])
            #expect(try await notice(of: "rediss://127.0.0.1:\(port)").contains("the certificate of the server"))
            #expect(try await notice(of: "redis://127.0.0.1:\(port)").contains("expects TLS"))
            let text = try await notice(of: "rediss://127.0.0.1:\(plain)")
            #expect(text.contains("TLS"))
            withExtendedLifetime(server) {}
        }
    #endif

    /// The name of the server may lead to the new primary by now, but the connection stays with the old one.
    @Test func aConnectionToAPrimaryThatBecameAReplicaIsGivenUp() async throws {
        let server = try await RedisServer()
        let (client, control) = (try client(of: server.url, loops: 1), try client(of: server.url, loops: 1))
        _ = try await client.send(["SET", "a", "1"])
        let first = try await client.send(["CLIENT", "ID"]).integer
        _ = try await control.send(["REPLICAOF", "127.0.0.1", "1"])
        await #expect(throws: RedisError.self) { try await client.send(["SET", "a", "2"]) }
        var second: Int?
        while second == nil { second = try? await client.send(["CLIENT", "ID"]).integer }
        #expect(second != first)
        await client.close()
        await control.close()
        withExtendedLifetime(server) {}
    }

    /// A server that does not know HELLO repeats its arguments in the error. The password is one of them.
    @Test func noPasswordIsRepeated() async throws {
        let port = RedisServer.freePort()
        let server = try await RedisServer([
            "--port", "\(port)", "--requirepass", "se cret", "--rename-command", "HELLO", "",
        ])
        let text = try await notice(of: "redis://:se%20cret@127.0.0.1:\(port)")
        #expect(text.contains("HELLO") || text.contains("NOAUTH"))
        #expect(!text.contains("se cret"))
        withExtendedLifetime(server) {}
    }

    @Test func aReplicaTellsThatItMayOnlyBeRead() async throws {
        let port = RedisServer.freePort()
        let server = try await RedisServer(["--replicaof", "127.0.0.1", "\(port)"])
        #expect(try await notice(of: server.url, ["SET", "a", "1"]).contains("READONLY"))
    }

    /// A server that answers every command with OK is not accepted as a Redis.
    @Test func aServerThatIsNotRedisIsNotUsed() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Agreeable()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let text = try await notice(of: "redis://127.0.0.1:\(server.localAddress?.port ?? 0)")
        #expect(text.contains("HELLO"))
        try await server.close()
    }

    /// A Redis whose memory is full answers PING and refuses to write.
    @Test func aFullRedisIsAskedLessAndLessAndReportedOnce() async throws {
        let server = try await RedisServer()
        let notices = EventLog<RedisClient.Notice>()
        let client = try client(of: server.url, onNotice: { notices.append($0) })
        let control = try RedisNoticesTests.control(server)
        _ = try await control.send(["CONFIG", "SET", "maxmemory", "1"])
        var sent: [Int] = []
        for _ in 0..<2 {
            while client.isAvailable { _ = try? await client.send(["SET", "a", "1"]) }
            sent.append(client.statistics.commands)
            while !client.isAvailable { await Task.yield() }
        }
        #expect(sent == [5, 10])
        #expect(client.statistics.failures == 10 && client.statistics.openings == 1)
        #expect(notices.events.count == 1 && "\(notices.events)".contains("OOM"))
        _ = try await control.send(["CONFIG", "SET", "maxmemory", "0"])
        while notices.events.count == 1 { _ = try? await client.send(["SET", "a", "1"]) }
        #expect(notices.events.last == .recovered)
        await client.close()
        await control.close()
    }

    /// The user may run some commands and not others. The client reports a refusal once another command succeeds.
    @Test func refusalsBetweenSuccessesAreReported() async throws {
        let server = try await RedisServer()
        let control = try Self.control(server)
        _ = try await control.send(["ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "-set"])
        let notices = EventLog<RedisClient.Notice>()
        let client = try client(
            of: server.url, onNotice: { notices.append($0) },
            change: { ($0.user, $0.password) = ("limited", "secret") })
        _ = try? await client.send(["SET", "a", "1"])
        #expect(notices.events.isEmpty)
        _ = try await client.send(["GET", "a"])
        #expect(notices.events.count == 1 && "\(notices.events)".contains("NOPERM"))
        _ = try await client.send(["GET", "a"])
        #expect(notices.events.count == 1 && client.statistics.failures == 1)
        await client.close()
        await control.close()
    }

    /// The user may not listen to a channel. Each connection is established first, and its SUBSCRIBE is refused only
    /// then.
    @Test func aRefusedSubscriptionIsToldOnceAndTriedLessAndLess() async throws {
        let server = try await RedisServer()
        let control = try Self.control(server)
        _ = try await control.send(["ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "resetchannels"])
        let notices = EventLog<RedisClient.Notice>()
        let client = try client(
            of: server.url, loops: 1, onNotice: { notices.append($0) },
            change: {
                ($0.user, $0.password) = ("limited", "secret")
                $0.backoff = (.milliseconds(1), .hours(1))
            })
        let events = EventLog<SubscriptionEvent>()
        let begin = ContinuousClock.now
        let before = try await Self.connectionCount(control)
        let subscription = client.subscribe(to: "channel") { events.append($0) }
        await notices.wait { !$0.isEmpty }
        #expect("\(notices.events)".contains("NOPERM"))
        // The pauses before ten connections are 1, 2, 4 ... 256 ms, each shortened by up to a half.
        while try await Self.connectionCount(control) < before + 10 {}
        #expect(ContinuousClock.now - begin > .milliseconds(250))
        #expect(notices.events.count == 1 && events.events.isEmpty)
        subscription.end()
        await client.close()
        await control.close()
    }

    /// The user's permissions are withdrawn, granted and withdrawn again. The second time was once not told.
    @Test func aSubscriptionThatIsRefusedAgainIsToldAgain() async throws {
        let server = try await RedisServer()
        let control = try Self.control(server)
        func permit(_ channels: String) async throws {
            _ = try await control.send([
                "ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "resetchannels", RESPArgument(channels),
            ])
        }
        try await permit("&other")
        let (notices, events) = (EventLog<RedisClient.Notice>(), EventLog<SubscriptionEvent>())
        let client = try client(
            of: server.url, loops: 1, onNotice: { notices.append($0) },
            change: {
                ($0.user, $0.password) = ("limited", "secret")
                $0.backoff = (.milliseconds(1), .milliseconds(10))
            })
        let subscription = client.subscribe(to: "channel") { events.append($0) }
        await notices.wait { $0.count == 1 }
        try await permit("&channel")
        await events.wait { $0.last == .active }
        // Redis ends the connections of users who lose a channel.
        try await permit("&other")
        await notices.wait { $0.count == 2 }
        subscription.end()
        await client.close()
        await control.close()
    }

    /// The number of connections that the server has accepted so far.
    private static func connectionCount(_ control: RedisClient) async throws -> Int {
        let text = try await control.send(["INFO", "stats"]).text ?? ""
        let line = text.split(separator: "\r\n").first { $0.hasPrefix("total_connections_received:") }
        return line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) } ?? 0
    }

    private static func control(_ server: RedisServer) throws -> RedisClient { try client(of: server.url) }
}

/// A server that answers everything with OK.
private final class Agreeable: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "+OK\r\n")), promise: nil)
    }
}
