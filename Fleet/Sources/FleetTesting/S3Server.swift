import Foundation

/// A SeaweedFS of a test's own, which speaks S3 and checks signatures. It ends with the test, and with the process that runs the
/// test, however that ends.
///
/// It takes a second or two to start: tests of one suite share it.
public final class S3Server: Sendable {
    public static let accessKey = "tests"
    /// Made by nobody else, so that a text that shows it is recognised.
    public static let secretKey = "hunter2hunter2hunter2"
    /// There from the start.
    public static let bucket = "webimage-tests"

    /// As in "http://127.0.0.1:12345".
    public let endpoint: String
    private let program: ChildProgram

    /// Whether there is a SeaweedFS to run: `weed` in the folder that WEBIMAGE_SEAWEEDFS names, or in PATH.
    public static let isInstalled = path != nil

    /// Why tests that need it are skipped.
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

    /// One that all tests of a process share, each in a part of its own.
    public static func shared() async throws -> S3Server { try await starting.value }

    /// Returns once the bucket is there.
    public init() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/seaweedfs-\(UInt32.random(in: 0 ... .max))"
        var output = ""
        // Another program may take one of the ports before it does.
        for _ in 0..<3 {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Self.identities.write(toFile: folder + "/s3.json", atomically: true, encoding: .utf8)
            let ports = Self.freePorts(9)
            let program = try ChildProgram(
                Self.path ?? "weed", Self.arguments(folder, ports),
                // Where it writes its logs.
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
        // The smallest, as the port beside it is greater by 10,000.
        options["admin.port"] = "\(ports[0])"
        for (index, name) in ["s3", "master", "volume", "filer"].enumerated() {
            options["\(name).port"] = "\(ports[1 + index])"
            options["\(name).port.grpc"] = "\(ports[5 + index])"
        }
        return ["mini"] + options.map { "-\($0)=\($1)" }.sorted()
    }

    /// It makes these where nobody asked it to, named after its ports.
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
