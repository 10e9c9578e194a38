import Foundation

/// A certificate that signs itself, and its key, in files that go with it.
public final class TestCertificate: Sendable {
    /// PEM.
    public let certificate: String
    public let key: String
    private let folder: String

    /// Whether there is a program that makes one.
    public static let canBeMade = RedisServer.find("openssl") != nil

    /// - Parameter name: whose it is, as in `IP:127.0.0.1` and `DNS:localhost`.
    public init(of name: String = "IP:127.0.0.1") async throws {
        folder = FileManager.default.temporaryDirectory.path + "/certificate-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let openssl = try ChildProgram(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                "-out", certificate, "-days", "2", "-subj", "/CN=tests", "-addext", "subjectAltName=\(name)",
            ])
        await openssl.ended()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
