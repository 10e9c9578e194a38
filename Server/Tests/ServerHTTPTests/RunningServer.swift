import Foundation
import Logging
import NIOCore
import NIOPosix
import ServerConfiguration
import ServerGrammar
import ServiceLifecycleTestKit
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// A complete server that listens on a port of its own on loopback.
struct RunningServer: Sendable {
    let port: Int
    let settings: ServerSettings
    let endpoint: ImageEndpoint

    var base: String { "http://127.0.0.1:\(port)" }

    /// Runs a server while `body` runs, and then stops it gracefully, as SIGTERM does.
    static func run(
        _ variables: [String: String] = [:], _ change: (inout ServerSettings) -> Void = { _ in },
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        var all = [
            "IMGPROXY_BIND": "127.0.0.1:0", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "1",
            "WEBIMAGE_DRAIN_DELAY": "0",
        ]
        all.merge(variables) { $1 }
        let now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
        var settings = try ServerSettings(
            environment: all, readFile: { try? String(contentsOfFile: $0, encoding: .utf8) }, now: now)
        change(&settings)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await ImageServer(settings: settings, now: now, logger: logger)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let (trigger, running) = await testGracefulShutdown { trigger in
            (trigger, Task { try await server.run { listening.yield($0) } })
        }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(RunningServer(port: port, settings: settings, endpoint: server.endpoint)))
        } catch {
            result = .failure(error)
        }
        trigger.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    /// The value of the metric with this name and these labels, or nil if there is none.
    func metric(_ name: String) -> Int? {
        let line = endpoint.metricsText.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    /// Returns when `isSo` is true of the server. Checks each millisecond on an event loop, which leaves the other
    /// threads to the server.
    func wait(until isSo: @Sendable (RunningServer) -> Bool) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        while !isSo(self) { try await loop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get() }
    }

    /// The path of a request with these options for a picture of an origin.
    static func path(_ options: String, _ origin: OriginServer, _ name: String = "/a.png") -> String {
        "/_/\(options)/plain/\(origin.url(name))"
    }
}
