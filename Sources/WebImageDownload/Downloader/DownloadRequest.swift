public import HTTPTypes
public import WebImageCore

/// What to download: an `http`, `https`, `file` or `data` URL, or a file by its path, and how. What is nil is as the
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
    ///
    /// It is read when the request is sent, and only for the origin that was asked for, not for those that redirects lead to.
    /// Whoever it speaks for counts by the file: its path, and what is in it.
    public var netrcFile: String?
    /// Who asks, when the answer depends on it; nil takes a digest of what the request says of it: user or provider,
    /// `.netrc` file, cookies, client certificate. Two requests of different scope never share an answer.
    public var credentialScope: String?
    /// Sends and takes cookies, kept in the downloader's ``DownloadConfiguration/cookieJar``. Default false. An answer is for
    /// those cookies that were sent for it, unless it is `public`.
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
    /// Gets the bytes in place of the downloader, whatever the URL is: what concerns HTTP is then not looked at. Default nil.
    public var loader: (any ImageLoader)?
    /// Whether a download that somebody waits for when the downloader is drained may go on to its end, within the
    /// drain's time. Default false: it ends with `shutDown`.
    public var finishesWhenDrained = false
    /// What was found out before the caches were asked; nil: nothing, or not yet.
    package var prepared: PreparedRequest?
    /// Whether the loader is the configuration's for such URLs, which is no part of the identity.
    package var hasUsualLoader = false

    /// Whether ``url`` is a path.
    package private(set) var isPath = false

    /// - Parameter url: with its scheme.
    public init(url: String) { self.url = url }

    /// A file by its path; one that is not absolute begins at the process's working directory.
    public init(path: String) {
        url = path
        isPath = true
    }

    /// Whether a text begins with a scheme, after blanks.
    package static func hasScheme(_ text: String) -> Bool {
        URLReference(text.drop(while: \.isWhitespace)).scheme != nil
    }

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
