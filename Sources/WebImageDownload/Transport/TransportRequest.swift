public import HTTPTypes
public import WebImageCore

/// An HTTP request as a transport sends it: only headers that HTTP itself needs are added (`Host`).
public struct TransportRequest: Sendable {
    /// An absolute `http` or `https` URL, without user, password and fragment.
    public var url: String
    public var method: HTTPRequest.Method
    public var headers: HTTPFields
    /// The part that most requests share, behind one reference, because a request is copied several times on its way.
    private var rest: Rest

    private final class Rest: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }

    private struct Values: Sendable {
        var body: [UInt8]?
        var credentials: BasicCredentials?
        var authentication = AuthenticationScheme.basic
        var netrcFile: String?
        var tls: TLSPolicy
        var proxy: ProxySettings
        var allowsHTTP2: Bool
        var addressPolicy: AddressPolicy?
        var headLimit: ByteCount
        var mayRepeat: Bool
        var connectTimeout: Duration?
    }

    public init(
        url: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: [UInt8]? = nil,
        credentials: BasicCredentials? = nil, authentication: AuthenticationScheme = .basic, netrcFile: String? = nil,
        tls: TLSPolicy = TLSPolicy(), proxy: ProxySettings = .environment, allowsHTTP2: Bool = true,
        addressPolicy: AddressPolicy? = nil, headLimit: ByteCount = .kibibytes(256), mayRepeat: Bool = true,
        connectTimeout: Duration? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        rest = Rest(
            Values(
                body: body, credentials: credentials, authentication: authentication, netrcFile: netrcFile, tls: tls,
                proxy: proxy, allowsHTTP2: allowsHTTP2, addressPolicy: addressPolicy, headLimit: headLimit,
                mayRepeat: mayRepeat, connectTimeout: connectTimeout))
    }

    /// The body of the request. Default nil.
    public var body: [UInt8]? {
        get { rest.values.body }
        set { change { $0.body = newValue } }
    }

    /// The credentials, which are never logged.
    public var credentials: BasicCredentials? {
        get { rest.values.credentials }
        set { change { $0.credentials = newValue } }
    }

    /// How the credentials are sent. Default Basic, with the first request.
    public var authentication: AuthenticationScheme {
        get { rest.values.authentication }
        set { change { $0.authentication = newValue } }
    }

    /// A file in the format of `.netrc` with credentials for the host, used if there are no others.
    public var netrcFile: String? {
        get { rest.values.netrcFile }
        set { change { $0.netrcFile = newValue } }
    }

    /// The TLS settings. Default: the system's trust, no pins, no client certificate.
    public var tls: TLSPolicy {
        get { rest.values.tls }
        set { change { $0.tls = newValue } }
    }

    /// The proxy. Default: the one that the environment variables name, if any.
    public var proxy: ProxySettings {
        get { rest.values.proxy }
        set { change { $0.proxy = newValue } }
    }

    /// Whether HTTP/2 is offered to `https` hosts, and one shared connection is preferred to several. Default true.
    public var allowsHTTP2: Bool {
        get { rest.values.allowsHTTP2 }
        set { change { $0.allowsHTTP2 = newValue } }
    }

    /// The address policy. It is checked with the remote address before each connection, and again before a kept
    /// connection is reused. With a policy no proxy is used, since a proxy would hide the address. Default nil: every
    /// address is allowed.
    public var addressPolicy: AddressPolicy? {
        get { rest.values.addressPolicy }
        set { change { $0.addressPolicy = newValue } }
    }

    /// The most bytes of an answer's head, all lines together; a longer head is a `protocolError`. Default 256 KiB.
    public var headLimit: ByteCount {
        get { rest.values.headLimit }
        set { change { $0.headLimit = newValue } }
    }

    /// Whether the transport may repeat the request by itself if a reused connection turns out to be dead before a byte
    /// of the answer has arrived. Default true; if false, the request fails with `connectionLost`.
    public var mayRepeat: Bool {
        get { rest.values.mayRepeat }
        set { change { $0.mayRepeat = newValue } }
    }

    /// How long a connection may take, all addresses of the host together: an address that does not answer gets a share of
    /// it, so that the next one is tried in time. Default nil: as long as the system tries an address.
    public var connectTimeout: Duration? {
        get { rest.values.connectTimeout }
        set { change { $0.connectTimeout = newValue } }
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = rest.values
        change(&values)
        rest = Rest(values)
    }

    /// Whether everything except URL, method and fields was copied from `other`.
    func hasSameRest(with other: borrowing TransportRequest) -> Bool { rest === other.rest }

    var isSecure: Bool { url.hasPrefix("https:") }
}
