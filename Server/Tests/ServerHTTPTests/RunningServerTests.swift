import Foundation
import Logging
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct RunningServerTests {
    /// A server at a port of its own while `body` runs.
    private func withServer(
        _ variables: [String: String],
        _ body: (_ base: String, _ settings: ServerSettings, _ client: ImageManager) async throws -> Void
    ) async throws {
        var all = [
            "IMGPROXY_BIND": "127.0.0.1:0", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "1",
            "WEBIMAGE_DRAIN_DELAY": "0",
        ]
        all.merge(variables) { $1 }
        let now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
        let settings = try ServerSettings(environment: all, readFile: { _ in nil }, now: now)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await ImageServer(settings: settings, now: now, logger: logger)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run { listening.yield($0) } }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.download.retry = .never
        let client = ImageManager(configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body("http://127.0.0.1:\(port)", settings, client))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        _ = await running.result
        client.shutDown()
        try result.get()
    }

    @Test func picturesAreServedOverASocket() async throws {
        let origin = try OriginServer()
        origin.serve("/a.png", OriginResponse(body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        try await withServer(["IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b"]) { base, settings, client in
            #expect(
                String(decoding: try await client.data(for: ImageRequest(base + "/ready")), as: UTF8.self) == "ready")
            // An empty part of the path, as some clients sign it, comes through.
            let source = Base64URL.encode(Array(origin.url("/a.png").utf8))
            let path = settings.grammar.signed("/resize:fill:20:10//" + source)
            let image = try await client.image(for: ImageRequest(base + path)).image
            #expect(image.size == PixelSize(width: 20, height: 10))
            let error = await #expect(throws: WebImageError.self) {
                _ = try await client.data(for: ImageRequest(base + "/_/w:1/plain/x"))
            }
            #expect(error?.status == 403)
        }
    }

    @Test func rawComesWholeOverASocket() async throws {
        let origin = try OriginServer()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        origin.serve("/a.bin", OriginResponse(body: bytes))
        try await withServer([:]) { base, _, client in
            let answer = try await client.data(for: ImageRequest("\(base)/_/raw:1/plain/\(origin.url("/a.bin"))"))
            #expect(answer == bytes)
        }
    }
}
