import FleetCrypto

/// A name and a value of a query or of a header.
public struct S3Field: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The body's hash in a signature.
public enum S3PayloadHash: Hashable, Sendable {
    /// 64 hexadecimal digits, in lower case.
    case sha256(String)
    /// The signature does not cover the body.
    case unsigned

    /// The hash of an empty body.
    public static let empty = of([])

    public static func of(_ bytes: [UInt8]) -> S3PayloadHash { .sha256(Hexadecimal.text(SecureHash.sha256(bytes))) }

    public static func of(_ bytes: UnsafeRawBufferPointer) -> S3PayloadHash {
        .sha256(Hexadecimal.text(SecureHash.sha256(bytes)))
    }

    public var text: String {
        switch self {
        case .sha256(let digits): digits
        case .unsigned: "UNSIGNED-PAYLOAD"
        }
    }
}

/// A request to be signed.
public struct S3Request: Hashable, Sendable {
    public var method: String
    public var location: S3Location
    /// The fields of the query, not percent-encoded.
    public var query: [S3Field]
    /// The headers other than `Host` and those that a signature adds. All are signed.
    public var headers: [S3Field]
    public var payload: S3PayloadHash

    public init(
        _ method: String, _ location: S3Location, query: [S3Field] = [], headers: [S3Field] = [],
        payload: S3PayloadHash = .empty
    ) {
        self.method = method
        self.location = location
        self.query = query
        self.headers = headers
        self.payload = payload
    }

    /// The path and the query of the URL.
    public var target: String {
        let query = CanonicalRequest.query(query)
        return query.isEmpty ? location.path : "\(location.path)?\(query)"
    }
}
