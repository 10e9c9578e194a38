public import HTTPTypes
public import WebImageCore
public import WebImageDownload

/// How the bytes are got. What is nil is as the downloader's ``/WebImageDownload/DownloadConfiguration`` says.
extension ImageRequest {
    private subscript<Value>(download field: WritableKeyPath<DownloadRequest, Value>) -> Value {
        get { self[\.download][keyPath: field] }
        set { self[\.download][keyPath: field] = newValue }
    }

    /// Headers to send besides the downloader's own. They are part of the request's identity, but for what only tells caches
    /// what to do: `Cache-Control` and `Pragma`, which count with ``CachePolicy/protocol``.
    public var headers: HTTPFields {
        get { self[download: \.fields] }
        set { self[download: \.fields] = newValue }
    }

    /// The most that may be downloaded. Default nil: the downloader's limit (64 MiB).
    public var bodyLimit: ByteCount? {
        get { self[download: \.bodyLimit] }
        set { self[download: \.bodyLimit] = newValue }
    }

    /// How long each phase of a transfer may take. Default nil: as the downloader says. For the whole load there is
    /// ``timeout``.
    public var deadlines: DownloadDeadlines? {
        get { self[download: \.deadlines] }
        set { self[download: \.deadlines] = newValue }
    }

    /// Which failures are tried again, how often and when. Default nil: as the downloader says (2 retries).
    public var retry: RetryPolicy? {
        get { self[download: \.retry] }
        set { self[download: \.retry] = newValue }
    }

    /// How many redirects are followed. Default nil: as the downloader says (10).
    public var redirectLimit: Int? {
        get { self[download: \.redirectLimit] }
        set { self[download: \.redirectLimit] = newValue }
    }

    /// The statuses whose bodies are taken. Default nil: as the downloader says (200 to 299).
    public var acceptableStatuses: StatusSet? {
        get { self[download: \.acceptableStatuses] }
        set { self[download: \.acceptableStatuses] = newValue }
    }

    /// The content types that are taken, with wildcards. Default nil: as the downloader says (all).
    public var acceptableContentTypes: ContentTypes? {
        get { self[download: \.acceptableContentTypes] }
        set { self[download: \.acceptableContentTypes] = newValue }
    }

    // MARK: Who asks

    /// Sent to this origin only; part of the request's identity by the user's name. Default nil: the URL's own user and
    /// password, if it has them.
    public var credentials: BasicCredentials? {
        get { self[download: \.credentials] }
        set { self[download: \.credentials] = newValue }
    }

    /// How ``credentials`` are told. Default Basic, with the first request.
    public var authentication: AuthenticationScheme {
        get { self[download: \.authentication] }
        set { self[download: \.authentication] = newValue }
    }

    /// Asked for credentials when there are no ``credentials``; part of the request's identity by its name. Default nil.
    public var credentialProvider: CredentialProvider? {
        get { self[download: \.credentialProvider] }
        set { self[download: \.credentialProvider] = newValue }
    }

    /// Takes credentials for the host from this file, in the form of `.netrc`. Default nil.
    ///
    /// It is read when the request is sent, and only for the origin that was asked for, not for those that redirects lead to.
    /// Whoever it speaks for counts by the file: its path, and what is in it.
    public var netrcFile: String? {
        get { self[download: \.netrcFile] }
        set { self[download: \.netrcFile] = newValue }
    }

    /// Who asks, where the answer depends on it and nothing else says so; two scopes never share an answer, nor an entry of
    /// a cache. Default nil: a digest of user or provider, `.netrc` file, cookies and client certificate.
    public var credentialScope: String? {
        get { self[download: \.credentialScope] }
        set { self[download: \.credentialScope] = newValue }
    }

    /// Sends and takes cookies, kept in ``/WebImageDownload/DownloadConfiguration/cookieJar``. Default false. An answer is for those cookies
    /// that were sent for it, unless it is `public`.
    public var handlesCookies: Bool {
        get { self[download: \.handlesCookies] }
        set { self[download: \.handlesCookies] = newValue }
    }

    // MARK: Whom to trust

    /// Whom TLS connections trust. Default: the system's certificate authorities. Setting it leaves the rest of ``tls``.
    public var trust: TLSTrust {
        get { self[download: \.trust] }
        set { self[download: \.trust] = newValue }
    }

    /// Trust, pinned keys and client certificate of TLS connections. Default nil: as the downloader says.
    public var tls: TLSPolicy? {
        get { self[download: \.tls] }
        set { self[download: \.tls] = newValue }
    }

    /// Which schemes, hosts, ports and resolved addresses may be talked to. Default nil: as the downloader says (all).
    public var addressPolicy: AddressPolicy? {
        get { self[download: \.addressPolicy] }
        set { self[download: \.addressPolicy] = newValue }
    }

    // MARK: Hooks

    /// Changes each request before it is sent, or refuses it. Its name is part of the request's identity, and what it sets
    /// decides who may have the answer. Default nil.
    public var requestModifier: RequestModifier? {
        get { self[download: \.requestModifier] }
        set { self[download: \.requestModifier] = newValue }
    }

    /// Changes each answer's head, or refuses it. Its name is part of the request's identity. Default nil.
    public var responseModifier: ResponseModifier? {
        get { self[download: \.responseModifier] }
        set { self[download: \.responseModifier] = newValue }
    }

    /// Makes the picture's bytes of those that come. Its name is part of the request's identity. What is cached is what it
    /// made. Default nil.
    public var decryptor: BodyDecryptor? {
        get { self[download: \.decryptor] }
        set { self[download: \.decryptor] = newValue }
    }

    /// Whether the download may go on to its end when the manager is drained. Default false.
    public var finishesWhenDrained: Bool {
        get { self[download: \.finishesWhenDrained] }
        set { self[download: \.finishesWhenDrained] = newValue }
    }

    /// Gets the bytes in place of the downloader, whatever the URL is. Default nil: the downloader for the schemes that it
    /// knows, and ``/WebImageDownload/DownloadConfiguration/loaders`` for others.
    public var loader: (any ImageLoader)? {
        get { self[download: \.loader] }
        set { self[download: \.loader] = newValue }
    }
}
