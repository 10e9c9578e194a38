import ArgumentParser
import FleetTesting
import Foundation
import ServerConfiguration
import ServerGrammar
import Synchronization
import WebImage
import WebImageTesting

/// Runs three servers, Redis, HAProxy and an origin on this machine, with a page that shows which server did what.
struct FleetDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-demo",
        abstract:
            "Starts three servers, Redis, HAProxy and an origin on this machine, and a page that shows their work.")

    @Option(help: "The port of HAProxy.")
    var port = 8000
    @Option(help: "The configuration of HAProxy to start from, such as Server/Packaging/Fleet/haproxy.cfg.")
    var haproxyConfig: String

    func run() async throws {
        for program in ["redis-server", "haproxy"] where RedisServer.find(program) == nil {
            throw ValidationError("\(program) is not installed (apt-get install redis-server haproxy)")
        }
        let redis = try await RedisServer()
        let origin = try OriginServer()
        let pictures = SamplePictures.demo
        for picture in pictures {
            let body = try picture.encoded()
            origin.serve(
                "/" + picture.fileName, OriginResponse(headers: [("Cache-Control", "max-age=600")], body: body))
        }
        let folder = FileManager.default.temporaryDirectory.path + "/webimage-fleet-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let servers = try (1...3).map { try FleetDemoServer($0, redis: redis.url, folder: folder) }
        try configuration(servers, origin).write(toFile: folder + "/haproxy.cfg", atomically: true, encoding: .utf8)
        let settings = try FleetDemoServer.settings()
        let paths = pictures.flatMap { picture in
            [100, 160, 240, 320, 480].map { width in
                settings.grammar.signed("/w:\(width)/plain/\(origin.url("/" + picture.fileName))")
            }
        }
        let sources = pictures.map { "/" + $0.fileName }
        origin.serve("/fleet") { _ in
            OriginResponse(
                headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(FleetPage.html(paths).utf8))
        }
        origin.serve("/fleet/origin") { _ in
            OriginResponse(body: Array("\(sources.reduce(0) { $0 + origin.hits($1) })".utf8))
        }
        for server in servers {
            origin.serve("/fleet/\(server.number)/stop") { _ in
                server.stop()
                return OriginResponse(body: [])
            }
            origin.serve("/fleet/\(server.number)/start") { _ in
                try? server.start()
                return OriginResponse(body: [])
            }
        }
        // Waits for the servers, because HAProxy treats a server that it does not reach at its start as down for some
        // seconds.
        for server in servers { await server.listens() }
        let haproxy = try ChildProgram(
            "haproxy", ["-f", folder + "/haproxy.cfg", "-db"], leftovers: [folder])
        print("the page:  http://127.0.0.1:\(port)/fleet")
        print("a picture: http://127.0.0.1:\(port)\(paths[0])")
        print("Press Ctrl-C to stop.")
        fflush(nil)
        await haproxy.ended()
        // HAProxy runs until it is terminated. Output before that explains why it did not start.
        throw ValidationError("HAProxy has ended: \(haproxy.output)")
    }

    private func configuration(_ servers: [FleetDemoServer], _ origin: OriginServer) throws -> String {
        guard var text = try? String(contentsOfFile: haproxyConfig, encoding: .utf8) else {
            throw ValidationError("\(haproxyConfig) cannot be read")
        }
        text = text.replacingOccurrences(of: "bind :8000", with: "bind 127.0.0.1:\(port)")
        var rules = "    use_backend page if { path_end /stop /start /origin } or { path /fleet }\n"
        var backends = "\nbackend page\n    server page 127.0.0.1:\(origin.port)\n"
        for server in servers {
            text = text.replacingOccurrences(of: "127.0.0.1:808\(server.number)", with: "127.0.0.1:\(server.port)")
            rules += "    use_backend admin\(server.number) if { path_beg /fleet/\(server.number)/ }\n"
            backends +=
                "\nbackend admin\(server.number)\n    http-request replace-path /fleet/./(.*) /\\1\n"
                + "    server admin 127.0.0.1:\(server.adminPort)\n"
        }
        let anchor = "    default_backend webimage\n"
        return text.replacingOccurrences(of: anchor, with: rules + anchor) + backends
    }
}

/// A server of the demo, in a process of its own that can be stopped and started.
final class FleetDemoServer: Sendable {
    let number: Int
    let port = RedisServer.freePort()
    let adminPort = RedisServer.freePort()
    private let redis: String
    /// The directory for originals and results, which the server keeps when it is stopped and started again.
    private let cache: String
    private let program = Mutex<ChildProgram?>(nil)

    private static let variables = [
        "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "true", "WEBIMAGE_DRAIN_DELAY": "0", "IMGPROXY_LOG_LEVEL": "error",
        "IMGPROXY_TTL": "1", "WEBIMAGE_WITHOUT_SANDBOX": "decode",
        "IMGPROXY_KEY": "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
        "IMGPROXY_SALT": "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5",
    ]

    static func settings() throws -> ServerSettings {
        try ServerSettings(environment: variables, readFile: { _ in nil }, now: { 0 })
    }

    init(_ number: Int, redis: String, folder: String) throws {
        self.number = number
        self.redis = redis
        cache = "\(folder)/cache-\(number)"
        try start()
    }

    func start() throws {
        var variables = Self.variables
        variables["IMGPROXY_BIND"] = "127.0.0.1:\(port)"
        variables["WEBIMAGE_ADMIN_BIND"] = "127.0.0.1:\(adminPort)"
        variables["WEBIMAGE_REDIS_URL"] = redis
        variables["WEBIMAGE_CACHE_DIR"] = cache
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let new = try ChildProgram(path, ["serve"], environment: variables)
        let old = program.withLock { program in
            defer { program = new }
            return program
        }
        old?.stop()
    }

    /// Returns when the server is ready, or after about ten seconds.
    func listens() async {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        defer { manager.shutDown() }
        for attempt in 0..<200 {
            // Each attempt has its own URL, because the manager does not retry a failed URL for a while.
            let request = ImageRequest("http://127.0.0.1:\(port)/ready?\(attempt)")
            if (try? await manager.data(for: request)) != nil { return }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    func stop() {
        let old = program.withLock { program in
            defer { program = nil }
            return program
        }
        old?.stop()
    }
}
