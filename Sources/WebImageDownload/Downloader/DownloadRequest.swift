public import HTTPTypes
public import WebImageCore

/// What to download: an `http`, `https`, `file` or `data` URL or a plain path, and how.
public struct DownloadRequest: Sendable {
    public var url: String
    /// Default `GET`.
    public var method = HTTPRequest.Method.get
    /// Sent beside the configuration's, which they replace name by name.
    public var fields: HTTPFields = [:]
    /// For Basic authentication; nil takes the URL's own user and password. Sent to this origin only.
    public var credentials: BasicCredentials?
    /// Who asks, when the answer depends on it; nil takes the user of the credentials. Two requests of different scope
    /// never share an answer.
    public var credentialScope: String?
    public var trust = TLSTrust.system
    public var addressPolicy: AddressPolicy?
    /// Nil takes the configuration's.
    public var deadlines: DownloadDeadlines?
    /// Nil takes the configuration's.
    public var bodyLimit: ByteCount?
    /// Nil takes the configuration's.
    public var redirectLimit: Int?

    public init(url: String) { self.url = url }
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
    /// What must agree for two requests to share one transfer: the fingerprint, and the limits that one of them may
    /// not lift for the other.
    struct Key: Hashable, Sendable {
        let fingerprint: RequestFingerprint
        /// The secret too: one who does not know it must not share the answer to one who does.
        let credentials: BasicCredentials?
        let trust: TLSTrust
        let addressPolicy: String?
        let bodyLimit: Int?
        let redirectLimit: Int?
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
            fingerprint: RequestFingerprint(request, source: source), credentials: credentials, trust: request.trust,
            addressPolicy: request.addressPolicy?.name, bodyLimit: request.bodyLimit?.bytes,
            redirectLimit: request.redirectLimit)
    }
}

extension RequestFingerprint {
    init(_ request: DownloadRequest, source: DownloadSource) {
        method = request.method.rawValue
        url = source.text
        var user = request.credentials?.user
        if user == nil, case .web(let url) = source { user = url.credentials?.user }
        credentialScope = request.credentialScope ?? user
        fields = request.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }
}

extension ResolvedRequest {
    /// The URL in normal form without fragment, user and password, which the key of the original is made of.
    package var originalURL: String { key.fingerprint.url }
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
