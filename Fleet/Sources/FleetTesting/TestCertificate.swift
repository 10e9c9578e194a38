import Foundation

/// A self-signed certificate and its key, in files that are removed when this object is released.
public final class TestCertificate: Sendable {
    /// The path of the certificate, as PEM.
    public let certificate: String
    public let key: String
    private let folder: String

    /// Whether `openssl`, which makes the certificate, is installed.
    public static let canBeMade = RedisServer.find("openssl") != nil

    /// - Parameter name: the subject alternative name of the certificate, such as `IP:127.0.0.1` or `DNS:localhost`.
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
