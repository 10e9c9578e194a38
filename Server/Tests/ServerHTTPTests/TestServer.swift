import FleetCoordination
import Foundation
import HTTPTypes
import Logging
import ServerConfiguration
import ServerGrammar
import ServerImages
import Synchronization
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// The server's endpoint without a socket, with an origin of its own. Its clock is the system's, which a test can
/// advance or stop.
final class TestServer: Sendable {
    let origin: OriginServer
    let endpoint: ImageEndpoint
    let manager: ImageManager
    let purging: Purging
    let storage: SharedResults?
    let cache: ResultCache

    /// Makes a server with these settings, by their environment variables. Sources on loopback are allowed.
    init(
        _ variables: [String: String] = [:], coders: CoderRegistry = .standard, watermark: Image? = nil,
        fallback: [UInt8]? = nil, fallbackCacheControl: String? = nil, origin: OriginServer? = nil, fleet: Fleet? = nil,
        sent: SentResults = SentResults()
    ) throws {
        let time = Clock()
        var all = ["IMGPROXY_BIND": "127.0.0.1:0", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "true"]
        all.merge(variables) { $1 }
        let settings = try ServerSettings(environment: all, readFile: { _ in nil }, now: { time.now })
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.origin = try origin ?? OriginServer()
        let making = FleetMaking(settings: settings, logger: logger)
        manager = ManagerMaking(settings, threads: 2, logger: logger)
            .manager(coders, tiers: try making.originals().map { [$0] } ?? [])
        storage = try making.storage()
        purging = Purging(
            fleet: fleet, file: ManagerMaking.purgeFile(settings, logger),
            sharesOriginals: settings.s3.originals != nil, now: { time.now },
            onPurge: { [failedURLs = manager.failedURLs] in failedURLs.removeAll() }, logger: logger)
        let maker = PictureMaker(
            manager: manager, purging: purging, settings: settings, watermark: watermark,
            fallback: fallback.map { .init(bytes: $0, cacheControl: fallbackCacheControl) }, now: { time.now })
        cache = ResultCache(
            memoryLimit: settings.memoryCacheBytes, disk: ManagerMaking.resultDisk(settings, logger), sent: sent,
            logger: logger)
        let service = ImageService(
            settings: settings, maker: maker, cache: cache, storage: storage, threads: 2, now: { time.now },
            logger: logger)
        let state = ServerState()
        state.become(.ready)
        endpoint = ImageEndpoint(
            settings: settings, service: service, state: state, now: { time.now }, logger: logger)
        clock = time
    }

    private let clock: Clock

    private final class Clock: Sendable {
        private let state = Mutex<(offset: Int, stoppedAt: Int?)>((0, nil))
        private static var time: Int { Int(Date().timeIntervalSince1970) }

        var now: Int { state.withLock { ($0.stoppedAt ?? Self.time) + $0.offset } }

        func advance(_ seconds: Int) { state.withLock { $0.offset += seconds } }

        func stop() { state.withLock { $0.stoppedAt = Self.time } }
    }

    func advance(_ seconds: Int) { clock.advance(seconds) }

    /// Stops the clock. From now on only ``advance(_:)`` moves it.
    func stopClock() { clock.stop() }

    var now: Int { clock.now }

    /// The answer to a request for this path, which comes from the address `client`.
    func get(
        _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, from client: String? = nil
    ) async -> Answer {
        await endpoint.answer(
            HTTPRequest(method: method, scheme: "http", authority: "test", path: path, headerFields: fields),
            from: client.flatMap { ClientAddress($0) })
    }

    /// The answer to a request with these options for a picture of the origin.
    func picture(_ options: String, _ name: String = "/a.png", _ fields: HTTPFields = [:]) async -> Answer {
        let path = options.isEmpty ? "" : options + "/"
        return await get("/_/\(path)plain/\(origin.url(name))", fields)
    }

    /// The answer of the admin address.
    func admin(
        _ path: String, _ body: String = "", method: HTTPRequest.Method = .post, _ fields: HTTPFields = [:]
    ) async -> Answer {
        await AdminEndpoint(endpoint: endpoint).answer(
            HTTPRequest(method: method, scheme: "http", authority: "test", path: path, headerFields: fields),
            body: { .bytes(Array(body.utf8)) })
    }

    /// Lets the origin serve a sample picture at this path.
    func serve(
        _ name: String = "/a.png", _ size: PixelSize = PixelSize(width: 64, height: 48), as format: ImageFormat = .png,
        headers: [(name: String, value: String)] = []
    ) throws {
        origin.serve(name, OriginResponse(headers: headers, body: try Self.bytes(size, as: format)))
    }

    static func bytes(_ size: PixelSize, as format: ImageFormat) throws -> [UInt8] {
        try SamplePictures.sunset(size).encoded(as: format, EncodeOptions())
    }
}

extension Answer {
    var bytes: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func image() async throws -> Image { try await Image(data: bytes) }
}

extension Image {
    /// The four bytes of the pixel at this place.
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        withPixels { bytes in
            let start = pixels.bytesPerRow * y + x * 4
            return Array(bytes[start..<start + 4])
        }
    }
}
