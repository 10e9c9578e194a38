public import HTTPTypes
public import WebImageCore

/// One HTTP request as a transport sends it: nothing is added but what HTTP itself needs (`Host`).
public struct TransportRequest: Sendable {
    /// An absolute `http` or `https` URL, without user, password and fragment.
    public var url: String
    public var method: HTTPRequest.Method
    public var fields: HTTPFields
    /// For Basic authentication, sent with the first request. Never logged.
    public var credentials: BasicCredentials?
    public var trust: TLSTrust
    /// True (the default) offers HTTP/2 to `https` hosts and prefers one shared connection to several.
    public var allowsHTTP2: Bool
    /// Asked before each connection, and again before a re-used one is used, with the remote address. With a policy no
    /// proxy is used: it would hide the address. Nil (the default) allows every address.
    public var addressPolicy: AddressPolicy?
    /// Bytes of an answer's head, all lines together; more is a `protocolError`. Default 256 KiB.
    public var headLimit: ByteCount

    public init(
        url: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        credentials: BasicCredentials? = nil, trust: TLSTrust = .system, allowsHTTP2: Bool = true,
        addressPolicy: AddressPolicy? = nil, headLimit: ByteCount = .kibibytes(256)
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.credentials = credentials
        self.trust = trust
        self.allowsHTTP2 = allowsHTTP2
        self.addressPolicy = addressPolicy
        self.headLimit = headLimit
    }
}

/// Whom a TLS connection trusts.
public enum TLSTrust: Hashable, Sendable {
    /// The system's certificate authorities.
    case system
    /// The system's, and the certificates in this PEM text.
    case systemAnd(pem: [UInt8])
    /// Anyone: no check of certificate or host name. For tests only.
    case anyone
}

/// A user's name and password.
public struct BasicCredentials: Hashable, Sendable, CustomStringConvertible {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Tells neither.
    public var description: String { "(credentials)" }
}

/// Which remote addresses may be talked to.
public struct AddressPolicy: Sendable {
    /// Stands for the policy in comparisons: two policies of one name are taken to be the same.
    public var name: String
    /// Called on a thread of the transport with a numeric IPv4 or IPv6 address; must not block.
    public var allows: @Sendable (String) -> Bool

    public init(name: String, allows: @escaping @Sendable (String) -> Bool) {
        self.name = name
        self.allows = allows
    }
}
