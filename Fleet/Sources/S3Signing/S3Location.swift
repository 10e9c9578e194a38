/// A server that speaks S3.
public struct S3Endpoint: Hashable, Sendable {
    public enum Scheme: String, Hashable, Sendable {
        case http, https

        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    public var scheme: Scheme
    /// A name or an address, without brackets.
    public var host: String
    /// Nil: that of the scheme, 80 or 443.
    public var port: Int?

    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// AWS' own server of a region.
    public static func aws(region: String) -> S3Endpoint {
        S3Endpoint(scheme: .https, host: "s3.\(region).amazonaws.com")
    }
}

/// Where an object is, or where a bucket is: then its key is empty.
public struct S3Location: Hashable, Sendable {
    public var endpoint: S3Endpoint
    public var region: String
    public var bucket: String
    /// As it is, not encoded.
    public var key: String
    /// Whether the bucket stands in the path, rather than in the name of the host.
    public var usesPathStyle: Bool

    public init(endpoint: S3Endpoint, region: String, bucket: String, key: String = "", usesPathStyle: Bool) {
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.key = key
        self.usesPathStyle = usesPathStyle
    }

    /// The name of the host to connect to.
    public var hostName: String { usesPathStyle ? endpoint.host : "\(bucket).\(endpoint.host)" }

    /// What the header `Host` says: without the port where that is the scheme's.
    public var host: String {
        let name = hostName.contains(":") ? "[\(hostName)]" : hostName
        guard let port = endpoint.port, port != endpoint.scheme.defaultPort else { return name }
        return "\(name):\(port)"
    }

    /// The path of the URL. It is encoded once, and its segments stay as they are, also `..` and empty ones.
    public var path: String {
        let key = PercentEncoding.text(key, keepsSlashes: true)
        guard usesPathStyle else { return "/" + key }
        let bucket = "/" + PercentEncoding.text(bucket)
        return key.isEmpty ? bucket : "\(bucket)/\(key)"
    }
}
