import FleetTesting
import NIOCore
import NIOPosix
import Testing

@testable import RedisClient

/// Late events from channels that a connection has abandoned.
@Suite(.enabled(if: RedisServer.isInstalled, "there is no redis-server")) struct RedisLinkTests {
    private enum Event: Hashable, Sendable {
        case ready
        case lost(RedisError)
    }

    /// With TLS, an abandoned channel ends only when the server answers its close notification. This may be after the
    /// next attempt to connect has begun.
    @Test func theLateEndOfAnEarlierChannelDoesNotFailTheNextAttempt() async throws {
        // The link connects by TCP. By a Unix domain socket it would be connected before the earlier channel fails.
        let port = RedisServer.freePort()
        let server = try await RedisServer(["--port", "\(port)"])
        let group = MultiThreadedEventLoopGroup.singleton
        let earlier = try await DatagramBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let link = RedisLink(try RedisConfiguration(url: "redis://127.0.0.1:\(port)"), nil, on: group.next())
        let events = EventLog<Event>()
        try await link.loop.submit {
            link.observe(
                RedisLink.Observer(
                    ready: { events.append(.ready) }, received: { _ in }, lost: { events.append(.lost($0)) }))
            link.connect()
            link.failed(.connectionLost, on: earlier)
        }.get()
        await events.wait { !$0.isEmpty }
        #expect(events.events == [.ready])
        try await link.loop.submit { link.close() }.get()
        try await earlier.close()
        withExtendedLifetime(server) {}
    }
}
