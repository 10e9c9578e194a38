public import NIOCore
public import S3Signing

/// A bucket, the credentials for it, and the client's limits.
public struct S3Configuration: Sendable {
    public let endpoint: S3Endpoint
    public let region: String
    public let bucket: String
    /// The prefix of all keys. Empty, or ending with a slash.
    public let prefix: String
    /// Whether the bucket is named in the path of URLs, rather than in the host name.
    public let usesPathStyle: Bool
    /// The credentials that sign requests; nil: requests are not signed, unless there are ``currentCredentials``.
    public let credentials: S3Credentials?
    /// Returns the credentials for the next request, in place of ``credentials``. Use it for credentials that expire
    /// and are renewed, such as those of a role. Called before each request, on any thread; it must return at once.
    /// Default nil.
    public var currentCredentials: (@Sendable () -> S3Credentials)?
    /// The time for GET, HEAD and DELETE, from the call to the whole answer. Default 2 s.
    public var readDeadline = TimeAmount.seconds(2)
    /// The time for PUT, from the call to the whole answer. Default 30 s.
    public var writeDeadline = TimeAmount.seconds(30)
    /// The time until a connection is established. Default 1 s.
    public var connectTimeout = TimeAmount.seconds(1)
    /// The time after which an unused connection is closed. Default 30 s.
    public var idleLimit = TimeAmount.seconds(30)
    /// The maximum number of connections. PUT gets half of them at most, so that other requests do not wait for long
    /// bodies. Default 32.
    public var maxConnections = 32
    /// How many requests may wait for a free connection, half of them PUT at most. Default 256.
    public var maxWaiting = 256
    /// The maximum length of an object that is read or written, in bytes. Default 8 MiB.
    public var longestBody = 8 << 20
    /// The path of a PEM file with the certificates of the trusted authorities. Default: the system's authorities.
    public var certificateAuthorities: String?

    /// - Parameters:
    ///   - bucket: 3 to 63 lower-case letters, digits, hyphens and dots.
    ///   - prefix: put before each key, followed by a slash. 512 bytes at most.
    ///   - endpoint: `http://HOST[:PORT]` or `https://HOST[:PORT]`; nil: that of AWS,
    ///     `https://s3.REGION.amazonaws.com`.
    ///   - usesPathStyle: nil: true if an endpoint is given, or if the bucket's name has a dot, because wildcard
    ///     certificates do not cover such host names.
    /// - Throws: `configuration`. The error repeats neither the endpoint nor the credentials.
    public init(
        bucket: String, prefix: String = "", endpoint: String? = nil, region: String = "us-east-1",
        credentials: S3Credentials? = nil, usesPathStyle: Bool? = nil
    ) throws(S3Error) {
        guard Self.isRegion(region) else {
            throw .configuration("The region of S3 is not one: letters, digits and hyphens, as in us-east-1.")
        }
        guard Self.isBucket(bucket) else {
            throw .configuration(
                "The bucket of S3 has no valid name: 3 to 63 lower-case letters, digits, hyphens and dots, "
                    + "with a letter or a digit at both ends.")
        }
        if let credentials { try Self.check(credentials) }
        self.region = region
        self.bucket = bucket
        self.prefix = try Self.prefix(prefix)
        self.endpoint = if let endpoint { try Self.endpoint(endpoint) } else { .aws(region: region) }
        self.credentials = credentials
        self.usesPathStyle = usesPathStyle ?? (endpoint != nil || bucket.contains("."))
    }

    var signsRequests: Bool { credentials != nil || currentCredentials != nil }

    /// The credentials of the next request; nil if it is not signed.
    func credentialsForRequest() throws(S3Error) -> S3Credentials? {
        guard let current = currentCredentials?() else { return credentials }
        try Self.check(current)
        return current
    }

    private static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// Whether a text is a bucket's name by AWS' "General purpose bucket naming rules".
    private static func isBucket(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard (3...63).contains(bytes.count), !text.contains("..") else { return false }
        let inner = [UInt8(ascii: "-"), UInt8(ascii: ".")]
        guard bytes.allSatisfy({ isLowerOrDigit($0) || inner.contains($0) }) else { return false }
        guard !inner.contains(bytes[0]), !inner.contains(bytes[bytes.count - 1]) else { return false }
        // The name must not look like an IP address either.
        return (try? SocketAddress(ipAddress: text, port: 0)) == nil
    }

    private static func prefix(_ text: String) throws(S3Error) -> String {
        guard !text.isEmpty else { return "" }
        let whole = text.hasSuffix("/") ? text : text + "/"
        guard whole.utf8.count <= 512 else { throw .configuration("The prefix of S3 is longer than 512 bytes.") }
        do throws(S3Error) {
            try S3Key.check(whole)
        } catch {
            throw .configuration("The prefix of S3 is not valid. \(error)")
        }
        return whole
    }

    private static func check(_ credentials: S3Credentials) throws(S3Error) {
        guard !credentials.accessKey.isEmpty, !credentials.secretKey.isEmpty else {
            throw .configuration("The access key or the secret key of S3 is empty.")
        }
        for text in [credentials.accessKey, credentials.secretKey, credentials.sessionToken ?? ""] {
            // The usual mistake is a line end that was read from a file.
            guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .configuration(
                    "A key or the token of S3 contains a blank, a line end or another character that is not allowed.")
            }
        }
    }

    private static func endpoint(_ url: String) throws(S3Error) -> S3Endpoint {
        guard let end = url.firstRange(of: "://"),
            let scheme = S3Endpoint.Scheme(rawValue: url[..<end.lowerBound].lowercased())
        else { throw .configuration("The endpoint of S3 begins with neither http:// nor https://.") }
        var rest = url[end.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains(where: { "/?#@".contains($0) }) else {
            throw .configuration("The endpoint of S3 has more than a scheme, a host and a port.")
        }
        var port: Int?
        // The colons of an IPv6 address are in brackets.
        if let colon = rest.lastIndex(of: ":"), rest[colon...].firstIndex(of: "]") == nil {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65535).contains(number) else {
                throw .configuration("The endpoint of S3 has no port after its colon.")
            }
            (port, rest) = (number, rest[..<colon])
        }
        if rest.hasPrefix("["), rest.hasSuffix("]") {
            let address = String(rest.dropFirst().dropLast())
            guard (try? SocketAddress(ipAddress: address, port: 0)) != nil else {
                throw .configuration("The endpoint of S3 names no IPv6 address between its brackets.")
            }
            return S3Endpoint(scheme: scheme, host: address, port: port)
        }
        let others = [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")]
        guard (1...253).contains(rest.utf8.count),
            rest.utf8.allSatisfy({ isLetterOrDigit($0) || others.contains($0) })
        else { throw .configuration("The endpoint of S3 names no host.") }
        return S3Endpoint(scheme: scheme, host: rest.lowercased(), port: port)
    }

    private static func isLowerOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isLowerOrDigit(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
