import FleetCoordination
import FleetTesting
import Foundation
import NIOCore
import NIOPosix
import RedisClient
import S3Client
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP
@testable import ServerImages

/// Trouble that each request would report is logged only a few times, with its cause.
@Suite struct RepeatedLogTests {
    private let origin: OriginServer
    private let log = LogLines()

    init() throws { origin = try OriginServer() }

    private func result() -> StoredResult {
        let size = PixelSize(width: 1, height: 1)
        return StoredResult(
            bytes: [1, 2, 3], mediaType: "image/png", fileExtension: "png", storedAt: 0,
            freshness: SourceFreshness(freshUntil: .max), sourceSize: size, resultSize: size, sourceBytes: 1)
    }

    /// An S3 storage whose server is the test's origin.
    private func storage(change: (inout S3Configuration) -> Void = { _ in }) throws -> SharedResults {
        var configuration = try S3Configuration(bucket: "bucket", endpoint: origin.url(""))
        configuration.readDeadline = .seconds(30)
        change(&configuration)
        return SharedResults(
            try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton), logger: log.logger)
    }

    @Test func refusalsOfS3AreNotLoggedForEachPicture() async throws {
        let refusal = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"
        origin.serve(under: "/") { _ in OriginResponse(status: 403, body: Array(refusal.utf8)) }
        let storage = try storage()
        for number in 0..<40 { #expect(await storage.result("\(number)") == nil) }
        #expect(!storage.client.isAvailable && storage.client.statistics.failures == 5)
        #expect(
            log.lines.events == [
                "warning a result cannot be read from S3: S3 refused the request: 403 AccessDenied: No. times=1"
            ])
    }

    /// More pictures are missing at a time than requests may wait for the storage.
    @Test func aStorageThatHangsIsNotLoggedForEachPicture() async throws {
        origin.serve(under: "/") { _ in OriginResponse(behaviours: [.stall(at: .beforeHead)]) }
        let storage = try storage { ($0.maxConnections, $0.maxWaiting) = (1, 1) }
        await withTaskGroup { group in
            for number in 0..<120 { group.addTask { _ = await storage.result("\(number)") } }
            // The other two requests wait for answers that do not come.
            for _ in 0..<118 { await group.next() }
            await storage.client.close()
        }
        let lines = log.lines.events
        #expect(lines.count == 3)
        // Several tasks write the lines, in any order.
        #expect(
            lines.map { String($0.suffix(9).drop { $0 != "t" }) }.sorted() == ["times=1", "times=10", "times=100"])
    }

    @Test func aDiskThatCannotBeWrittenIsNotLoggedForEachPicture() async throws {
        let folder = try ScratchDirectory()
        let settings = try ServerSettings(
            environment: ["IMGPROXY_BIND": "127.0.0.1:0", "WEBIMAGE_CACHE_DIR": folder.path + "/file/below"],
            readFile: { _ in nil }, now: { 0 })
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: nil))
        let cache = ResultCache(
            memoryLimit: 0, disk: ManagerMaking.resultDisk(settings, LogLines().logger), logger: log.logger)
        for number in 0..<120 { cache.keep(result(), "\(number)") }
        await cache.flush()
        let lines = log.lines.events
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix("warning a result cannot be kept on disk: ") })
    }

    // MARK: - Stopping

    @Test func uploadsThatHangAreGivenUpWhenTheServerStops() async throws {
        origin.serve(under: "/") { _ in OriginResponse(behaviours: [.stall(at: .beforeHead)]) }
        let storage = try storage { $0.writeDeadline = .seconds(20) }
        for number in 0..<3 { storage.keep(result(), "\(number)") }
        await storage.flush(within: .milliseconds(20))
        #expect(
            log.lines.events == ["warning results were not written to S3, because the server stops count=3"])
        #expect(storage.statistics.writes == 0)
    }

    /// The storage for results and originals never answers. This does not delay the server's stop.
    @Test func aServerStopsInTimeAlsoWhileS3Hangs() async throws {
        let storage = try OriginServer()
        storage.serve(under: "/") { _ in OriginResponse(behaviours: [.stall(at: .beforeHead)]) }
        origin.serve(
            "/a.png",
            OriginResponse(
                headers: [("Cache-Control", "max-age=1000")],
                body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
        let variables = [
            "WEBIMAGE_S3_RESULTS": "bucket/results", "WEBIMAGE_S3_ORIGINALS": "bucket/originals",
            "IMGPROXY_S3_ENDPOINT": storage.url(""), "IMGPROXY_GRACEFUL_STOP_TIMEOUT": "1",
        ]
        var begin = ContinuousClock.now
        try await RunningServer.run(variables) { server in
            let client = ImageManager(configuration: ImageManager.Configuration())
            _ = try await client.data(for: ImageRequest(server.base + RunningServer.path("w:20", origin)))
            client.shutDown()
            begin = .now
        }
        // An upload may take 30 s.
        #expect(ContinuousClock.now - begin < .seconds(15))
    }

    @Test func theTimeLeftIsCountedFromTheStartOfDraining() {
        let state = ServerState()
        #expect(state.timeLeft(of: .seconds(20)) == .seconds(20))
        state.become(.draining)
        let left = state.timeLeft(of: .seconds(20))
        #expect(left < .seconds(20) && left > .zero)
        #expect(state.timeLeft(of: .zero) == .zero)
    }

    // MARK: - Redis

    /// The Redis user has no permissions. The server works for itself and logs the reason once.
    @Test(.enabled(if: RedisServer.isInstalled, "there is no redis-server"))
    func aRedisThatRefusesEverythingIsReportedOnce() async throws {
        let port = RedisServer.freePort()
        let redis = try await RedisServer([
            "--port", "\(port)", "--user", "limited", "on", ">secret", "~*", "-@all", "+hello",
        ])
        let settings = try ServerSettings(
            environment: [
                "IMGPROXY_BIND": "127.0.0.1:0", "WEBIMAGE_REDIS_URL": "redis://limited:secret@127.0.0.1:\(port)",
            ], readFile: { _ in nil },
            now: { 0 })
        let fleet = try #require(try FleetMaking(settings: settings, logger: log.logger).fleet())
        for _ in 0..<50 where fleet.isAvailable { _ = try? await fleet.count("client", interval: 1, tolerance: 1) }
        #expect(fleet.redis.failures == 5)
        let lines = log.lines.events
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix(
                "warning Redis cannot be used: every server works for itself error=the server refused a command: NOPERM"
            )
                == true)
        await fleet.leave()
        withExtendedLifetime(redis) {}
    }
}
