public import HTTPTypes
public import WebImageCore

/// How something is downloaded. What is nil is as the downloader's ``DownloadConfiguration`` says.
///
/// Hooks are the same for `==` when they have the same name.
public struct DownloadOptions: Hashable, Sendable {
    /// Sent beside the configuration's headers, which they replace name by name. Default none.
    ///
    /// They are part of the request's identity: a picture that was got with other headers is another picture. The exceptions
    /// are headers that only tell caches what to do, `Cache-Control` and `Pragma`. With `If-None-Match` or
    /// `If-Modified-Since` a 304 is an answer like others; with `Range` a 206 and a 416 are.
    public var headers: HTTPFields = [:]
    /// The most that may be downloaded. Default nil: the downloader's limit (64 MiB).
    public var bodyLimit: ByteCount?
    /// How long each phase of a transfer may take. Default nil: as the downloader says.
    public var deadlines: DownloadDeadlines?
    /// Which failures are tried again, how often and when. Default nil: as the downloader says (2 retries).
    public var retry: RetryPolicy?
    /// How many redirects are followed. Default nil: as the downloader says (10).
    public var redirectLimit: Int?
    /// The statuses whose bodies are taken. Default nil: as the downloader says (200 to 299).
    public var acceptableStatuses: StatusSet?
    /// The content types that are taken, with wildcards. Default nil: as the downloader says (all).
    public var acceptableContentTypes: ContentTypes?
    /// Whether the download may go on to its end when the downloader is drained, within the drain's time. Default false: it
    /// ends with `shutDown`.
    public var finishesWhenDrained = false

    // MARK: Who asks

    /// Sent to this origin only; part of the request's identity by the user's name. Default nil: the URL's own user and
    /// password, if it has them.
    public var credentials: BasicCredentials?
    /// How ``credentials`` are told. Default Basic, with the first request.
    public var authentication = AuthenticationScheme.basic
    /// Asked for credentials when there are no ``credentials``; part of the request's identity by its name. Default nil.
    public var credentialProvider: CredentialProvider?
    /// A file in the form of `.netrc` that has the credentials for the host. Default nil.
    ///
    /// It is read when the request is sent, and only for the origin that was asked for, not for those that redirects lead
    /// to. Two requests share answers only where they name the same file and its content has not changed.
    public var netrcFile: String?
    /// Names who asks, where the answer depends on it and nothing else says so: two scopes never share an answer, nor an
    /// entry of a cache. Default nil: a digest of user or provider, `.netrc` file, cookies and client certificate.
    public var credentialScope: String?
    /// Whether cookies are sent and taken, from and to ``DownloadConfiguration/cookieJar``. Default false. An answer is kept
    /// for those cookies that were sent for it, unless it is `public`.
    public var handlesCookies = false

    // MARK: Whom to trust

    /// Trust, pinned keys and client certificate of TLS connections. Default nil: as the downloader says.
    public var tls: TLSPolicy?
    /// Which schemes, hosts, ports and resolved addresses may be talked to. Default nil: as the downloader says (all).
    public var addressPolicy: AddressPolicy?

    // MARK: Hooks

    /// Changes each request before it is sent, or refuses it. Its name is part of the request's identity, and what it sets
    /// decides who may have the answer. Default nil.
    public var requestModifier: RequestModifier?
    /// Changes each answer's head, or refuses it. Its name is part of the request's identity. Default nil.
    public var responseModifier: ResponseModifier?
    /// Makes the picture's bytes of those that come; what is cached is what it made. Its name is part of the request's
    /// identity. Default nil.
    public var decryptor: BodyDecryptor?
    private var ownLoader: NamedLoader?

    public init() {}

    /// Gets the bytes in place of the downloader, whatever the URL is; the options that concern HTTP then have no effect.
    /// Default nil: the downloader for the schemes that it knows, and ``DownloadConfiguration/loaders`` for others.
    public var loader: (any ImageLoader)? {
        get { ownLoader?.loader }
        set { ownLoader = newValue.map(NamedLoader.init) }
    }

    /// Whether it holds a closure or an object, which cannot be compared: two that are equal may do different things.
    package var hasHooks: Bool {
        requestModifier != nil || responseModifier != nil || decryptor != nil || credentialProvider != nil
            || loader != nil || addressPolicy?.hasOwnRule == true
    }

    /// Whom TLS connections trust. Default: the system's certificate authorities. Setting it leaves the rest of ``tls`` as
    /// it is.
    public var trust: TLSTrust {
        get { tls?.trust ?? .system }
        set {
            var policy = tls ?? TLSPolicy()
            policy.trust = newValue
            tls = policy
        }
    }
}

extension DownloadOptions: HasDefault {
    @usableFromInline package static let standard = MostlyDefaultBox(DownloadOptions())
}

/// Two loaders of one name are taken to do the same.
private struct NamedLoader: Hashable, Sendable {
    let loader: any ImageLoader

    static func == (one: Self, other: Self) -> Bool { one.loader.name == other.loader.name }

    func hash(into hasher: inout Hasher) { hasher.combine(loader.name) }
}

// MARK: - Hooks are what their names say

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
    /// The same name, the same password where there is one, and asked at the same time.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.secret == other.secret && one.asksAhead == other.asksAhead
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
