/// A server that speaks S3.
public struct S3Endpoint: Hashable, Sendable {
    public enum Scheme: String, Hashable, Sendable {
        case http, https

        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    public var scheme: Scheme
    /// A host name, or an IP address without brackets.
    public var host: String
    /// Nil: the default port of the scheme, 80 or 443.
    public var port: Int?

    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The endpoint of AWS in a region.
    public static func aws(region: String) -> S3Endpoint {
        S3Endpoint(scheme: .https, host: "s3.\(region).amazonaws.com")
    }
}

/// The location of an object, or of a bucket if the key is empty.
public struct S3Location: Hashable, Sendable {
    public var endpoint: S3Endpoint
    public var region: String
    public var bucket: String
    /// The key, not percent-encoded.
    public var key: String
    /// Whether the bucket is named in the path, rather than in the host name.
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

    /// The value of the header `Host`: without the port if that is the scheme's default.
    public var host: String {
        let name = hostName.contains(":") ? "[\(hostName)]" : hostName
        guard let port = endpoint.port, port != endpoint.scheme.defaultPort else { return name }
        return "\(name):\(port)"
    }

    /// The path of the URL. It is encoded once, and its segments are not normalized, not even `..` and empty ones.
    public var path: String {
        let key = PercentEncoding.text(key, keepsSlashes: true)
        guard usesPathStyle else { return "/" + key }
        let bucket = "/" + PercentEncoding.text(bucket)
        return key.isEmpty ? bucket : "\(bucket)/\(key)"
    }
}
