import FleetTesting
import NIOCore
import NIOPosix
import S3Signing
import Synchronization
import Testing

@testable import S3Client

/// Servers with several addresses, and connections that are ready before a request needs them.
@Suite struct S3AddressTests {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private func client(
        _ resolver: HeldResolver, port: Int, change: (inout S3Configuration) -> Void = { _ in }
    ) throws -> S3Client {
        var configuration = try S3Configuration(
            bucket: S3Server.bucket, endpoint: "http://s3.example:\(port)", credentials: tests)
        configuration.readDeadline = .seconds(30)
        configuration.connectTimeout = .seconds(10)
        change(&configuration)
        return try S3Client(configuration, group: group, resolver: resolver)
    }

    private func echo(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
        [answer(200, "\(request.connection)/\(request.number)")]
    }

    /// At one of the addresses no server listens: it refuses the connection.
    @Test(arguments: [["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "127.0.0.1"]])
    func anAddressThatRefusesIsPassedOver(_ addresses: [String]) async throws {
        try await getTwice(from: try await ScriptedServer { self.echo($0) }, addresses)
    }

    /// One of the addresses never answers an attempt to connect.
    @Test(arguments: [true, false]) func anAddressThatIsSilentIsPassedOver(isFirst: Bool) async throws {
        let server = try await ScriptedServer { self.echo($0) }
        let silent = try await SilentAddress("127.0.0.2", port: server.port)
        try await getTwice(from: server, isFirst ? ["127.0.0.2", "127.0.0.1"] : ["127.0.0.1", "127.0.0.2"])
        await silent.close()
    }

    /// Sends two requests, and expects both over one connection.
    private func getTwice(from server: ScriptedServer, _ addresses: [String]) async throws {
        let resolver = HeldResolver(addresses)
        let client = try client(resolver, port: server.port)
        resolver.answer()
        #expect(try await client.get("a")?.body.text == "0/0")
        #expect(try await client.get("a")?.body.text == "0/1")
        #expect(client.statistics.failures == 0)
        await client.close()
    }

    @Test func whereNoAddressAnswersTheRequestFails() async throws {
        let resolver = HeldResolver(["127.0.0.2", "127.0.0.3"])
        let client = try client(resolver, port: RedisServer.freePort())
        resolver.answer()
        await #expect(throws: S3Error.connectionLost) { try await client.get("a") }
        await client.close()
    }

    // MARK: - Connections without requests

    /// Makes a connection for a request that ends before the connection stands.
    private func makeUnused(_ client: S3Client, _ resolver: HeldResolver, _ server: ScriptedServer) async throws {
        let task = Task { await Result.of { () throws(S3Error) in try await client.get("a") } }
        await resolver.asked.wait { !$0.isEmpty }
        task.cancel()
        #expect(await task.value == .failure(.cancelled))
        resolver.answer()
        await server.events.wait { $0.first == .connected(0) }
        // The client learns later than the server that the connection stands, in one of the next turns of its loop.
        while client.unusedConnections == 0, server.events.events == [.connected(0)] {
            try await group.next().submit {}.get()
        }
    }

    @Test func aConnectionThatNobodyNeededIsClosedInTime() async throws {
        let server = try await ScriptedServer { self.echo($0) }
        let resolver = HeldResolver(["127.0.0.1"])
        let client = try client(resolver, port: server.port, change: { $0.idleLimit = .milliseconds(20) })
        try await makeUnused(client, resolver, server)
        await server.events.wait { $0.last == .closed(0) }
        await client.close()
    }

    @Test func aRequestThatAnUnusedConnectionLostIsSentOnceMore() async throws {
        let server = try await ScriptedServer { $0.connection == 0 ? [.close] : self.echo($0) }
        let resolver = HeldResolver(["127.0.0.1"])
        let client = try client(resolver, port: server.port)
        try await makeUnused(client, resolver, server)
        #expect(try await client.get("a")?.body.text == "1/0")
        #expect(server.requests.events.map(\.connection) == [0, 1])
        await client.close()
    }
}

/// A resolver that holds back its addresses until `answer()` is called.
private final class HeldResolver: Resolver, Sendable {
    private struct State {
        var mayAnswer = false
        var waiting: [EventLoopPromise<Void>] = []
    }

    let asked = EventLog<Int>()
    private let addresses: [String]
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let state = Mutex(State())

    init(_ addresses: [String]) { self.addresses = addresses }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        find(port) { !$0.contains(":") }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        find(port) { $0.contains(":") }
    }

    func cancelQueries() {}

    func answer() {
        let waiting = state.withLock { state in
            defer { state = State(mayAnswer: true) }
            return state.waiting
        }
        for promise in waiting { promise.succeed() }
    }

    private func find(_ port: Int, _ isWanted: (String) -> Bool) -> EventLoopFuture<[SocketAddress]> {
        let found = addresses.filter(isWanted)
        let promise = loop.makePromise(of: Void.self)
        let mayAnswer = state.withLock { state in
            if !state.mayAnswer { state.waiting.append(promise) }
            return state.mayAnswer
        }
        if mayAnswer { promise.succeed() }
        asked.append(port)
        return promise.futureResult.flatMapThrowing { try found.map { try SocketAddress(ipAddress: $0, port: port) } }
    }
}

/// An address whose backlog of connections is full, so that further attempts to connect get no answer.
private final class SilentAddress: Sendable {
    private let channels: [any Channel]

    init(_ address: String, port: Int) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).serverChannelOption(.backlog, value: 0)
            .serverChannelOption(.autoRead, value: false).bind(host: address, port: port).get()
        let first = try await ClientBootstrap(group: group).connect(host: address, port: port).get()
        channels = [server, first]
    }

    func close() async {
        // Closing the first channel may have ended the second.
        for channel in channels { try? await channel.close() }
    }
}
