import FleetTesting
import NIOCore
import NIOPosix
import S3Client
import S3Signing
import Testing

let tests = S3Credentials(accessKey: S3Server.accessKey, secretKey: S3Server.secretKey)

/// A client of the S3 server at this endpoint, on two event loops of its own.
func client(
    of endpoint: String, prefix: String = "", credentials: S3Credentials? = tests,
    onNotice: @escaping @Sendable (S3Client.Notice) -> Void = { _ in },
    change: (inout S3Configuration) -> Void = { _ in }
) throws -> S3Client {
    var configuration = try S3Configuration(
        bucket: S3Server.bucket, prefix: prefix, endpoint: endpoint, credentials: credentials)
    // Test machines are busy. Tests that are not about the deadline get a long one.
    configuration.readDeadline = .seconds(30)
    configuration.connectTimeout = .seconds(10)
    change(&configuration)
    return try S3Client(
        configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: 2), onNotice: onNotice)
}

/// A text that test logs show by its name.
struct Named: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String

    init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    var testDescription: String { name }
}

extension ByteBuffer {
    /// Pseudorandom bytes that are the same in each run.
    static func numbers(_ count: Int) -> ByteBuffer {
        var numbers = SeededNumbers(seed: UInt64(count))
        var bytes = ByteBuffer()
        while bytes.readableBytes < count { bytes.writeInteger(numbers.next()) }
        return bytes.getSlice(at: 0, length: count) ?? bytes
    }

    var text: String { String(buffer: self) }
}
