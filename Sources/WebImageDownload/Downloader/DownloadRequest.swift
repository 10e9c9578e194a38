public import HTTPTypes
public import WebImageCore

/// What to download: an `http`, `https`, `file` or `data` URL or a plain path, and how. What is nil is as the
/// downloader's ``DownloadConfiguration`` says.
public struct DownloadRequest: Sendable {
    public var url: String
    /// Default `GET`.
    public var method = HTTPRequest.Method.get
    /// Sent with the request and with redirects that keep its method. Default nil.
    public var body: [UInt8]?
    /// Sent beside the configuration's, which they replace name by name. With `If-None-Match` or `If-Modified-Since` a
    /// 304 is an answer like others, with `Range` a 206 and a 416 are.
    public var fields: HTTPFields = [:]
    /// Nil takes the URL's own user and password. Sent to this origin only.
    public var credentials: BasicCredentials?
    /// How ``credentials`` are told. Default Basic, with the first request.
    public var authentication = AuthenticationScheme.basic
    /// Asked when there are no ``credentials``.
    public var credentialProvider: CredentialProvider?
    /// Takes credentials for the host from this file, in the form of `.netrc`. Default nil.
    public var netrcFile: String?
    /// Who asks, when the answer depends on it; nil takes the user of the credentials. Two requests of different scope
    /// never share an answer.
    public var credentialScope: String?
    /// Sends and takes cookies, kept in the downloader's ``DownloadConfiguration/cookieJar``. Default false.
    public var handlesCookies = false
    public var tls: TLSPolicy?
    public var addressPolicy: AddressPolicy?
    public var deadlines: DownloadDeadlines?
    public var bodyLimit: ByteCount?
    public var redirectLimit: Int?
    public var retry: RetryPolicy?
    public var acceptableStatuses: StatusSet?
    public var acceptableContentTypes: ContentTypes?
    public var requestModifier: RequestModifier?
    public var responseModifier: ResponseModifier?
    public var decryptor: BodyDecryptor?
    /// Whether a download that somebody waits for when the downloader is drained may go on to its end, within the
    /// drain's time. Default false: it ends with `shutDown`. (SDWebImage rows O-04, DO-06.)
    public var finishesWhenDrained = false

    public init(url: String) { self.url = url }

    /// Whom TLS connections trust. Setting it leaves pins and client certificate as they are.
    public var trust: TLSTrust {
        get { tls?.trust ?? .system }
        set {
            var policy = tls ?? TLSPolicy()
            policy.trust = newValue
            tls = policy
        }
    }
}

/// What makes two requests the same: method, URL without fragment, the header fields given, and who asks.
package struct RequestFingerprint: Hashable, Sendable {
    let method: String
    let url: String
    /// Names in lower case, in the order of the names.
    let fields: [String]
    package let credentialScope: String?
}

/// A request whose source is known, ready to be joined or started. Made once and kept with what asks, since parsing a
/// URL costs more than joining a transfer.
package struct ResolvedRequest: Sendable {
    /// What must agree for two requests to share one transfer: the fingerprint, and whatever one of them may not lift or
    /// change for the other. Deadlines and retries are the first one's.
    struct Key: Sendable {
        let fingerprint: RequestFingerprint
        /// The secret too: one who does not know it must not share the answer to one who does.
        let credentials: BasicCredentials?
        /// Of everything but URL, fields and credentials; nil when it is as a new request has it.
        let rest: Rest?
    }

    struct Rest: Hashable, Sendable {
        let body: [UInt8]?
        let authentication: AuthenticationScheme
        let netrcFile: String?
        let handlesCookies: Bool
        let tls: TLSPolicy?
        let addressPolicy: AddressPolicy?
        let bodyLimit: Int?
        let redirectLimit: Int?
        let statuses: StatusSet?
        let contentTypes: ContentTypes?
        /// Names of provider, modifiers and decryptor.
        let hooks: [String?]
    }

    package let request: DownloadRequest
    let source: DownloadSource
    let key: Key

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    package init(_ request: DownloadRequest) throws(WebImageError) {
        self.request = request
        source = try DownloadSource(request.url)
        var credentials = request.credentials
        if credentials == nil, case .web(let url) = source { credentials = url.credentials }
        key = Key(
            fingerprint: RequestFingerprint(request, source: source), credentials: credentials, rest: Rest(request))
    }
}

extension ResolvedRequest.Key: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint.url)
        hasher.combine(fingerprint.credentialScope)
    }
}

extension ResolvedRequest.Rest {
    init?(_ request: DownloadRequest) {
        let hooks = [
            request.credentialProvider?.name, request.requestModifier?.name, request.responseModifier?.name,
            request.decryptor?.name,
        ]
        let isPlain =
            request.body == nil && request.authentication == .basic && request.netrcFile == nil
            && !request.handlesCookies && request.tls == nil && request.addressPolicy == nil
            && request.bodyLimit == nil && request.redirectLimit == nil && request.acceptableStatuses == nil
            && request.acceptableContentTypes == nil && hooks.allSatisfy { $0 == nil }
        if isPlain { return nil }
        self.init(
            body: request.body, authentication: request.authentication, netrcFile: request.netrcFile,
            handlesCookies: request.handlesCookies, tls: request.tls, addressPolicy: request.addressPolicy,
            bodyLimit: request.bodyLimit?.bytes, redirectLimit: request.redirectLimit,
            statuses: request.acceptableStatuses, contentTypes: request.acceptableContentTypes, hooks: hooks)
    }
}

extension DownloadRequest {
    /// Who asks, where that is not said in so many words: what is got by cookies or a certificate is not for everybody.
    fileprivate var quietScope: String? {
        if let credentialProvider { return credentialProvider.name }
        if netrcFile != nil { return "netrc" }
        if handlesCookies { return "cookies" }
        return tls?.clientCertificate == nil ? nil : "certificate"
    }
}

extension RequestFingerprint {
    init(_ request: DownloadRequest, source: DownloadSource) {
        method = request.method.rawValue
        url = source.text
        var user = request.credentials?.user
        if user == nil, case .web(let url) = source { user = url.credentials?.user }
        credentialScope = request.credentialScope ?? user ?? request.quietScope
        fields = request.fields.isEmpty ? [] : request.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }
}

extension ResolvedRequest {
    /// The URL in normal form without fragment, user and password, which the key of the original is made of.
    package var originalURL: String { key.fingerprint.url }
    /// The same with more fields, which are added to what the caller says there.
    package func adding(_ fields: HTTPFields) -> ResolvedRequest {
        if fields.isEmpty { return self }
        var request = request
        request.fields.append(contentsOf: fields)
        // What could be resolved once can be again.
        return (try? ResolvedRequest(request)) ?? self
    }

    /// Who asks, when the answer depends on it.
    package var credentialScope: String? { key.fingerprint.credentialScope }
    /// True for files, paths and `data:` URLs.
    package var isLocal: Bool {
        if case .web = source { false } else { true }
    }
    /// The URL as messages may show it.
    package var shown: String { source.shown }
}

extension ResolvedRequest: Hashable {
    package static func == (left: ResolvedRequest, right: ResolvedRequest) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key.fingerprint.url) }
}
