public import HTTPTypes
public import WebImageCore

/// One HTTP request as a transport sends it: nothing is added but what HTTP itself needs (`Host`).
public struct TransportRequest: Sendable {
    /// An absolute `http` or `https` URL, without user, password and fragment.
    public var url: String
    public var method: HTTPRequest.Method
    public var fields: HTTPFields
    public var body: [UInt8]?
    /// Never logged.
    public var credentials: BasicCredentials?
    /// How the credentials are told. Default Basic, with the first request.
    public var authentication: AuthenticationScheme
    /// A file in the form of `.netrc` to take credentials for the host from, when there are no others.
    public var netrcFile: String?
    public var tls: TLSPolicy
    public var proxy: ProxySettings
    /// True (the default) offers HTTP/2 to `https` hosts and prefers one shared connection to several.
    public var allowsHTTP2: Bool
    /// Asked before each connection, and again before a re-used one is used, with the remote address. With a policy no
    /// proxy is used: it would hide the address. Nil (the default) allows every address.
    public var addressPolicy: AddressPolicy?
    /// Bytes of an answer's head, all lines together; more is a `protocolError`. Default 256 KiB.
    public var headLimit: ByteCount

    public init(
        url: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: [UInt8]? = nil,
        credentials: BasicCredentials? = nil, authentication: AuthenticationScheme = .basic, netrcFile: String? = nil,
        tls: TLSPolicy = TLSPolicy(), proxy: ProxySettings = .environment, allowsHTTP2: Bool = true,
        addressPolicy: AddressPolicy? = nil, headLimit: ByteCount = .kibibytes(256)
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.credentials = credentials
        self.authentication = authentication
        self.netrcFile = netrcFile
        self.tls = tls
        self.proxy = proxy
        self.allowsHTTP2 = allowsHTTP2
        self.addressPolicy = addressPolicy
        self.headLimit = headLimit
    }

    var isSecure: Bool { url.hasPrefix("https:") }
}
