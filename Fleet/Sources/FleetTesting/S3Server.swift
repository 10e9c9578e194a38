import Foundation

/// A SeaweedFS server for tests, which speaks S3 and checks signatures. It is ended when it is released, and with the
/// process that runs the tests, however that ends.
///
/// Starting takes a second or two, so that tests share a server.
public final class S3Server: Sendable {
    public static let accessKey = "tests"
    /// A distinctive text, so that tests can check that no message contains it.
    public static let secretKey = "hunter2hunter2hunter2"
    /// The name of a bucket that exists from the start.
    public static let bucket = "webimage-tests"

    /// The URL of the server, such as `http://127.0.0.1:12345`.
    public let endpoint: String
    private let program: ChildProgram

    /// Whether SeaweedFS is installed: `weed` in the folder that `WEBIMAGE_SEAWEEDFS` names, or in `PATH`.
    public static let isInstalled = path != nil

    /// The reason why tests that need the server are skipped.
    public static let reason: String = "there is no SeaweedFS: scripts/install-libraries --tests"

    private static var path: String? {
        if let folder = ProcessInfo.processInfo.environment["WEBIMAGE_SEAWEEDFS"] {
            return RedisServer.find("\(folder)/weed").flatMap {
                FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
            }
        }
        return RedisServer.find("weed")
    }

    private static let starting = Task { try await S3Server() }

    /// Returns a server that all tests of a process share. Each test must use its own prefix.
    public static func shared() async throws -> S3Server { try await starting.value }

    /// Starts a server, and returns when its bucket exists.
    public init() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/seaweedfs-\(UInt32.random(in: 0 ... .max))"
        var output = ""
        // Retries, because another program may take one of the ports first.
        for _ in 0..<3 {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Self.identities.write(toFile: folder + "/s3.json", atomically: true, encoding: .utf8)
            let ports = Self.freePorts(9)
            let program = try ChildProgram(
                Self.path ?? "weed", Self.arguments(folder, ports),
                // SeaweedFS writes its logs there.
                environment: ["TMPDIR": folder], leftovers: [folder] + Self.sockets(ports))
            if await program.writes("All enabled components are running and ready to use") {
                self.program = program
                endpoint = "http://127.0.0.1:\(ports[1])"
                return
            }
            output = program.output
        }
        throw ChildProgram.CannotStart(description: output)
    }

    private static let identities = """
        {"identities": [{
            "name": "tests",
            "credentials": [{"accessKey": "\(accessKey)", "secretKey": "\(secretKey)"}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"]
        }]}
        """

    private static func arguments(_ folder: String, _ ports: [Int]) -> [String] {
        var options = [
            "dir": folder, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "bucket": bucket,
            "s3.config": folder + "/s3.json",
            "s3.port.iceberg": "0", "s3.port.lance": "0", "webdav": "false", "admin.ui": "false",
            "master.telemetry": "false",
        ]
        // The lowest port, because the server also uses the port that is greater by 10,000.
        options["admin.port"] = "\(ports[0])"
        for (index, name) in ["s3", "master", "volume", "filer"].enumerated() {
            options["\(name).port"] = "\(ports[1 + index])"
            options["\(name).port.grpc"] = "\(ports[5 + index])"
        }
        return ["mini"] + options.map { "-\($0)=\($1)" }.sorted()
    }

    /// The sockets that the server creates without being asked, named after its ports.
    private static func sockets(_ ports: [Int]) -> [String] {
        ["s3", "master", "volume", "filer", "admin"].flatMap { name in
            ports.flatMap {
                [
                    "/tmp/seaweedfs-\(name)-\($0).sock", "/tmp/seaweedfs-\(name)-grpc-\($0).sock",
                    "/tmp/seaweedfs-\(name)-grpc-\($0 + 10_000).sock",
                ]
            }
        }
    }

    private static func freePorts(_ count: Int) -> [Int] {
        var ports: Set<Int> = []
        while ports.count < count { ports.insert(RedisServer.freePort()) }
        return ports.sorted()
    }
}
