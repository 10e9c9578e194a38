public import HTTPTypes
public import WebImageCore

/// The options of a download. For options that are nil, the downloader's ``DownloadConfiguration`` applies.
///
/// Hooks with the same name are considered equal.
public struct DownloadOptions: Hashable, Sendable {
    /// Headers that are sent in addition to those of the configuration, and replace those with the same name. Default
    /// none.
    ///
    /// They are part of the request's identity: a picture that was loaded with other headers is another picture. The
    /// exceptions are headers that only control caches, `Cache-Control` and `Pragma`. With `If-None-Match` or
    /// `If-Modified-Since`, a 304 is accepted as an answer; with `Range`, a 206 and a 416 are.
    public var headers: HTTPFields = [:]
    /// The longest body that is accepted. Default nil: the downloader's limit (64 MiB).
    public var bodyLimit: ByteCount?
    /// How long each phase of a transfer may take. Default nil: the downloader's deadlines.
    public var deadlines: DownloadDeadlines?
    /// Which failures are retried, how often and when. Default nil: the downloader's policy (2 retries). For no
    /// retries, write ``RetryPolicy/never``: `.none` means nil here.
    public var retry: RetryPolicy?
    /// How many redirects are followed. Default nil: the downloader's limit (10).
    public var redirectLimit: Int?
    /// The statuses whose bodies are accepted. Default nil: the downloader's (200 to 299).
    public var acceptableStatuses: StatusSet?
    /// The content types that are accepted, with wildcards. Default nil: the downloader's (all).
    public var acceptableContentTypes: ContentTypes?
    /// Whether the download may finish when the downloader is drained, within the drain's time. Default false: it ends
    /// with `shutDown`.
    public var finishesWhenDrained = false

    // MARK: The user

    /// The credentials, which are sent to the requested origin only. The user's name is part of the request's identity.
    /// Default nil: the user and password in the URL, if it has them.
    public var credentials: BasicCredentials?
    /// How ``credentials`` are sent. Default Basic, with the first request.
    public var authentication = AuthenticationScheme.basic
    /// Provides credentials if there are no ``credentials``. Its name is part of the request's identity. Default nil.
    public var credentialProvider: CredentialProvider?
    /// A file in the format of `.netrc` with the credentials for the host. Default nil.
    ///
    /// It is read when the request is sent, and only for the requested origin, not for origins that redirects lead to.
    /// Two requests share answers only if they name the same file and its content has not changed.
    public var netrcFile: String?
    /// Names the user, if the answer depends on the user and nothing else in the request identifies them. Two scopes
    /// never share an answer, nor a cache entry. Default nil: a digest of user or provider, `.netrc` file, cookies and
    /// client certificate.
    public var credentialScope: String?
    /// Whether cookies are sent from and stored in ``DownloadConfiguration/cookieJar``. Default false. An answer is
    /// served only to requests with the same cookies, unless it is `public`.
    public var handlesCookies = false

    // MARK: Trust

    /// Trust, pinned keys and client certificate of TLS connections. Default nil: the downloader's settings.
    public var tls: TLSPolicy?
    /// Which certificates TLS connections trust. It replaces only the trust of ``tls`` or, if that is nil, of the downloader's
    /// settings; pinned keys and client certificate stay. Default nil: no change.
    public var trust: TLSTrust?
    /// The schemes, hosts, ports and resolved addresses to which the request may go. Default nil: the downloader's
    /// policy (all).
    public var addressPolicy: AddressPolicy?

    // MARK: Hooks

    /// Changes each request before it is sent, or refuses it. Its name is part of the request's identity, and the
    /// headers that it sets decide who may have the answer. Default nil.
    public var requestModifier: RequestModifier?
    /// Changes each answer's head, or refuses it. Its name is part of the request's identity. Default nil.
    public var responseModifier: ResponseModifier?
    /// Turns the received bytes into the picture's; the caches store the result. Its name is part of the request's
    /// identity. Default nil.
    public var decryptor: BodyDecryptor?
    private var ownLoader: NamedLoader?

    public init() {}

    /// Loads the bytes in place of the downloader, whatever the URL is; options for HTTP then have no effect. Default
    /// nil: the downloader loads the schemes that it knows, and ``DownloadConfiguration/loaders`` the others.
    public var loader: (any ImageLoader)? {
        get { ownLoader?.loader }
        set { ownLoader = newValue.map(NamedLoader.init) }
    }

    /// Whether the options hold a closure or an object. These cannot be compared, so two equal values may behave
    /// differently.
    package var hasHooks: Bool {
        requestModifier != nil || responseModifier != nil || decryptor != nil || credentialProvider != nil
            || loader != nil || addressPolicy?.hasOwnRule == true
    }

    /// The trust that these options state; nil: they state none.
    var statedTrust: TLSTrust? { trust ?? tls?.trust }

    /// The TLS settings of a request with these options, where the downloader has the given ones.
    func tls(over configured: TLSPolicy) -> TLSPolicy {
        var policy = tls ?? configured
        if let trust { policy.trust = trust }
        return policy
    }
}

extension DownloadOptions: HasDefault {
    @usableFromInline package static let standard = MostlyDefaultBox(DownloadOptions())
}

/// Two loaders with the same name are expected to do the same.
private struct NamedLoader: Hashable, Sendable {
    let loader: any ImageLoader

    static func == (one: Self, other: Self) -> Bool { one.loader.name == other.loader.name }

    func hash(into hasher: inout Hasher) { hasher.combine(loader.name) }
}

// MARK: - Hooks are compared by name

extension RequestModifier: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.credentialScope == other.credentialScope
            && one.neutralHeaders == other.neutralHeaders
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension ResponseModifier: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension BodyDecryptor: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension CredentialProvider: Hashable {
    /// True if the providers have the same name, the same fixed password if they have one, and the same `asksAhead`.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.secret == other.secret && one.asksAhead == other.asksAhead
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
