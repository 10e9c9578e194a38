import Foundation
import Logging
import NIOCore
import NIOPosix
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct RunningServerTests {
    private func withClient(
        _ variables: [String: String], _ body: (RunningServer, _ client: ImageManager) async throws -> Void
    ) async throws {
        try await RunningServer.run(variables) { server in
            var configuration = ImageManager.Configuration()
            configuration.disk = nil
            configuration.download.retry = .never
            let client = ImageManager(configuration: configuration)
            defer { client.shutDown() }
            try await body(server, client)
        }
    }

    @Test func picturesAreServedOverASocket() async throws {
        let origin = try OriginServer()
        origin.serve("/a.png", OriginResponse(body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        try await withClient(["IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b"]) { server, client in
            let base = server.base
            #expect(
                String(decoding: try await client.data(for: ImageRequest(base + "/ready")), as: UTF8.self) == "ready")
            // An empty segment of the path, which some clients sign, is preserved.
            let source = Base64URL.encode(Array(origin.url("/a.png").utf8))
            let path = server.settings.grammar.signed("/resize:fill:20:10//" + source)
            let image = try await client.image(for: ImageRequest(base + path)).image
            #expect(image.size == PixelSize(width: 20, height: 10))
            let error = await #expect(throws: WebImageError.self) {
                _ = try await client.data(for: ImageRequest(base + "/_/w:1/plain/x"))
            }
            #expect(error?.status == 403)
        }
    }

    /// A Unix domain socket without a listener is replaced; the socket of a running server is not.
    @Test func aSocketIsTakenFromNoRunningServer() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/webimage-\(UInt32.random(in: 0 ... .max)).sock"
        let variables = ["IMGPROXY_NETWORK": "unix", "IMGPROXY_BIND": path]
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await RunningServer.run(variables) { running in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let second = try await ImageServer(settings: running.settings, now: { 0 }, logger: logger)
            let error = await #expect(throws: ListenError.self) { try await second.run() }
            #expect(error?.description.contains(path) == true)
        }
        try await RunningServer.run(variables) { _ in }
    }

    @Test func aPortThatIsTakenIsNamed() async throws {
        try await RunningServer.run { running in
            var settings = running.settings
            settings.address = .tcp(host: "127.0.0.1", port: running.port)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let second = try await ImageServer(settings: settings, now: { 0 }, logger: logger)
            let error = await #expect(throws: ListenError.self) { try await second.run() }
            let reason = "IMGPROXY_BIND (127.0.0.1:\(running.port)): Address already in use"
            #expect(error?.description == "the server cannot listen at one of \(reason)")
        }
    }

    /// An address without a host means all addresses, as in servers written in Go.
    @Test func anAddressWithoutAHostIsAllAddresses() async throws {
        try await withClient(["IMGPROXY_BIND": ":0", "WEBIMAGE_ALLOW_UNSIGNED": "true"]) { server, client in
            #expect(server.settings.address == .tcp(host: "", port: 0))
            let loop = MultiThreadedEventLoopGroup.singleton
            let hasIPv6 =
                (try? await ServerBootstrap(group: loop).bind(host: "::1", port: 0).get().close().get()) != nil
            for host in ["127.0.0.1"] + (hasIPv6 ? ["[::1]"] : []) {
                let answer = try await client.data(for: ImageRequest("http://\(host):\(server.port)/health"))
                #expect(String(decoding: answer, as: UTF8.self) == "webimage is running")
            }
        }
    }

    @Test func configuredPicturesThatCannotBeReadAreNamed() throws {
        var settings = ServerSettings()
        (settings.watermark, settings.fallback) = (.path("/nowhere/mark.png"), .data("~"))
        let error = #expect(throws: SettingsError.self) { try ImageServer.warnings(of: settings) }
        #expect(error?.problems.count == 2)
        let first = "IMGPROXY_WATERMARK_PATH cannot be read (/nowhere/mark.png: No such file or directory)"
        #expect(error?.problems.first == first)
        (settings.watermark, settings.fallback) = (.path("/dev/null"), .data("AAAA"))
        #expect(try ImageServer.warnings(of: settings) == [])
    }

    @Test func directoriesThatCannotBeUsedAreNamed() throws {
        var settings = ServerSettings()
        #expect(ManagerMaking.directoryProblems(settings) == [])
        let parent = FileManager.default.temporaryDirectory.path
        // A directory that does not exist yet can be created.
        settings.cacheDirectory = parent + "/webimage-not-yet/cache"
        #expect(ManagerMaking.directoryProblems(settings) == [])
        (settings.cacheDirectory, settings.localRoot) = ("/dev/null/cache", parent + "/webimage-nowhere")
        let problems = ManagerMaking.directoryProblems(settings)
        #expect(problems.count == 2 && problems[0].contains("WEBIMAGE_CACHE_DIR"), "\(problems)")
        #expect(problems.last?.contains("webimage-nowhere: No such file") == true)
        // Volumes of Kubernetes are like this: any process of their group may write.
        let shared = parent + "/webimage-shared-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: shared) }
        (settings.cacheDirectory, settings.localRoot) = (shared, nil)
        #expect(ManagerMaking.directoryProblems(settings) == [])
        try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: shared)
        #expect(ManagerMaking.directoryProblems(settings).first?.contains("other users can change") == true)
        settings.cacheDirectory = shared + "/webimage"
        #expect(ManagerMaking.directoryProblems(settings) == [])
        // Others may make files in it, but may not remove ours.
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: shared)
        settings.cacheDirectory = shared
        #expect(ManagerMaking.directoryProblems(settings) == [])
        (settings.cacheDirectory, settings.localRoot) = (nil, "/bin/sh")
        #expect(ManagerMaking.directoryProblems(settings).last?.hasSuffix("(/bin/sh is not a folder)") == true)
    }

    @Test func metricsTellOfWorkersFormatsAndConnections() async throws {
        let origin = try OriginServer()
        origin.serve("/a.png", OriginResponse(body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        try await withClient(["IMGPROXY_PROMETHEUS_NAMESPACE": "pictures", "IMGPROXY_WORKERS": "3"]) { server, client in
            _ = try await client.data(for: ImageRequest(server.base + RunningServer.path("w:20/f:jpeg", origin)))
            #expect(
                (try? await client.data(for: ImageRequest(server.base + RunningServer.path("w:20", origin, "/no"))))
                    == nil)
            #expect(server.metric("pictures_workers") == 3 && server.metric("pictures_workers_utilization") == 0)
            #expect(server.metric("pictures_images_in_progress") == 0)
            #expect(server.metric(#"webimage_encode_seconds_count{format="jpg"}"#) == 1)
            #expect(server.metric("webimage_decode_seconds_count") == 1)
            #expect((server.metric(#"webimage_result_bytes_total{format="jpg"}"#) ?? 0) > 100)
            // Transfers are counted a moment later.
            try await server.wait { $0.metric(#"webimage_source_requests_total{outcome="failed"}"#) == 1 }
            #expect(server.metric(#"webimage_source_requests_total{outcome="fetched"}"#) == 1)
            #expect((server.metric("webimage_connections") ?? 0) > 0)
            #if os(Linux)
                #expect((server.metric("webimage_resident_bytes") ?? 0) > 1 << 20)
            #endif
        }
    }

    /// The sources of info and of raw answers were once not counted, and a cached source was counted again.
    @Test func metricsTellOfTheSourcesOfAllAnswers() async throws {
        let origin = try OriginServer()
        let bytes = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
        for name in ["/a.png", "/b.png"] { origin.serve(name, OriginResponse(body: bytes)) }
        try await withClient([:]) { server, client in
            @Sendable func count() -> Int? { server.metric(#"webimage_source_requests_total{outcome="fetched"}"#) }
            func sum() -> Int? { server.metric("webimage_source_bytes_total") }
            for _ in 0..<2 {
                _ = try await client.data(for: ImageRequest("\(server.base)/info/_/plain/\(origin.url("/a.png"))"))
            }
            try await server.wait { _ in count() == 1 }
            #expect(sum() == bytes.count, "\(sum() ?? 0) of \(bytes.count)")
            _ = try await client.data(for: ImageRequest("\(server.base)/_/raw:1/plain/\(origin.url("/b.png"))"))
            try await server.wait { $0.metric("requests_in_progress") == 0 }
            try await server.wait { _ in count() == 2 }
            #expect(sum() == 2 * bytes.count, "\(sum() ?? 0) of 2 * \(bytes.count)")
        }
    }

    /// Results that were renewed in the background once counted as neither transfers nor work.
    @Test func metricsTellOfRenewals() async throws {
        let origin = try OriginServer()
        func serve(_ width: Int) throws {
            origin.serve(
                "/a.png",
                OriginResponse(
                    headers: [("Cache-Control", "max-age=0, stale-while-revalidate=1000")],
                    body: try TestServer.bytes(PixelSize(width: width, height: 48), as: .png)))
        }
        try await withClient([:]) { server, client in
            for number in 0..<2 {
                try serve(64 + number)
                var request = ImageRequest(server.base + RunningServer.path("w:20/f:jpeg", origin))
                request.caching.policy = .noStore
                _ = try await client.data(for: request)
            }
            try await server.wait { $0.metric("webimage_decode_seconds_count") == 2 }
            #expect(server.metric(#"webimage_encode_seconds_count{format="jpg"}"#) == 2)
            try await server.wait { $0.metric(#"webimage_source_requests_total{outcome="fetched"}"#) == 2 }
        }
    }

    @Test func rawComesWholeOverASocket() async throws {
        let origin = try OriginServer()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        origin.serve("/a.bin", OriginResponse(body: bytes))
        try await withClient([:]) { server, client in
            let answer = try await client.data(
                for: ImageRequest("\(server.base)/_/raw:1/plain/\(origin.url("/a.bin"))"))
            #expect(answer == bytes)
        }
    }
}
