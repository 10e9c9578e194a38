public import HTTPTypes
public import Logging
public import WebImageCore

/// How an ``ImageDownloader`` works.
public struct DownloadConfiguration: Sendable {
    /// Who goes first among equally urgent downloads.
    public enum Order: Hashable, Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// Transfers at a time. Default 64. Those of ``/WebImageCore/LoadPriority/veryLow`` begin within this limit, too, but do not
    /// count for others: while others begin, there may be up to as many more.
    public var maxConcurrent = 64
    /// Transfers at a time to one host and port, counted in the same way. Default 6.
    public var maxConcurrentPerHost = 6
    /// How many transfers may run beyond these two limits, so that slow origins hold up nobody else. Default nil: three
    /// times ``maxConcurrent``.
    ///
    /// A transfer that brings less than 1 KiB a second is slow, and does not count against the limits. One host may
    /// have as many slow transfers as this says and twice ``maxConcurrentPerHost`` more. A host without a running
    /// transfer may always begin one. With 0 slow transfers count like others.
    public var spareForSlowOrigins: Int?
    /// How many transfers may wait for a slot. One more fails with `queueFull`. The last tenth is kept free of
    /// low-priority transfers. Default 10 000.
    public var maxWaiting = 10_000
    /// How many slots of both limits are kept free of low-priority downloads, so that what is looked at never waits for
    /// what can wait. One slot is left to low priority in any case. Default 1.
    public var reservedForUrgent = 1
    /// Default first in, first out.
    public var order = Order.firstInFirstOut
    public var deadlines = DownloadDeadlines()
    /// The longest body that is taken. Default 64 MiB.
    public var bodyLimit = ByteCount.mebibytes(64)
    /// Redirects that are followed; one more fails with `tooManyRedirects`. Default 10.
    public var redirectLimit = 10
    /// Whether a redirect may lead from `https` to `http`. Default false: `redirectRefused`.
    public var allowsRedirectsToHTTP = false
    /// The headers whose values say who asks. An answer is served only to those who sent the same values, unless the
    /// answer is `public`; and these headers do not follow a redirect to another origin. Default `Authorization`,
    /// `Cookie` and `Proxy-Authorization`; the last one counts for redirects only.
    public var secretHeaders: Set<HTTPField.Name> = [.authorization, .cookie, .proxyAuthorization]
    /// The statuses whose bodies are taken; all others fail with `badStatus`. Default 200 to 299.
    public var acceptableStatuses = StatusSet.successful
    /// The media types whose bodies are taken; all others fail with `badContentType`. Default nil: any.
    public var acceptableContentTypes: ContentTypes?
    /// When a failed download is tried again. Default: twice, what is likely to heal.
    public var retry = RetryPolicy()
    /// When a host that keeps failing is left alone. Default: after 10 failures in a row; nil never does.
    public var circuit: CircuitPolicy? = CircuitPolicy()
    /// Sent with each request that does not say otherwise. Default `User-Agent` and `Accept`.
    public var headers: HTTPFields
    /// Offers HTTP/2 to `https` hosts. Default true.
    public var allowsHTTP2 = true
    /// By which proxy. Default as the environment says.
    public var proxy = ProxySettings.environment
    /// How TLS is spoken for requests that do not say it themselves. Default: the system's trust, no pins, no client
    /// certificate.
    ///
    /// A client certificate here is not part of a picture's cache key, and neither is a ``credentialProvider``. An
    /// entry that was stored under another certificate is not served, unless it is `public`: it is replaced. Requests
    /// that set their own certificate have entries of their own.
    public var tls = TLSPolicy()
    /// Which servers may be talked to, for requests that do not say it themselves. Default nil: every server.
    public var addressPolicy: AddressPolicy?
    /// Finds credentials for requests that have neither credentials nor a provider. Default nil.
    public var credentialProvider: CredentialProvider?
    /// How long a provider's answer is kept. Default for the session.
    public var credentialPersistence = CredentialPersistence.session
    /// Where the cookies of requests that handle them are kept. Default: in memory, this downloader's own.
    public var cookieJar: any CookieJar = MemoryCookieJar()
    /// For requests that have none of their own. Default nil.
    public var requestModifier: RequestModifier?
    /// For requests that have none of their own. Default nil.
    public var responseModifier: ResponseModifier?
    /// For requests that have none of their own. Default nil.
    public var decryptor: BodyDecryptor?
    /// Asked for URLs of schemes that the downloader does not know, the last one first. What none
    /// of them takes is `unsupportedScheme`. Default none.
    public var loaders: [any ImageLoader] = []
    /// How far the received part of a body must grow between two ``DownloadEvent/Kind/bytes(received:expected:)`` events,
    /// 0 to 1, where the length is known. The last is always told. Default 0: each growth.
    public var minimumProgressInterval = 0.0
    /// Warns of what is unsafe and of hosts that are left alone. Never holds credentials.
    public var logger = Logger(label: "webimage.download")
    /// Bytes of a body kept in memory; more goes to a temporary file while it is read, but for local files. Default 4 MiB.
    public var memoryPerTransfer = ByteCount.mebibytes(4)
    /// The same for all bodies together. Default 64 MiB.
    public var memoryForAll = ByteCount.mebibytes(64)
    /// Where temporary files without a name are made. Default `$TMPDIR`, else `/tmp`.
    public var temporaryDirectory = defaultTemporaryDirectory()

    /// - Parameter formats: the picture formats to ask for, the most wanted first.
    public init(formats: [ImageFormat] = []) {
        headers = [.userAgent: Self.userAgent, .accept: Self.accept(formats)]
    }

    /// `webimage/<version> (<system>)`.
    public static var userAgent: String { "webimage/\(version) (Linux)" }

    static let version = "0.1"

    /// An `Accept` value: the formats by name, then any picture, then anything.
    public static func accept(_ formats: [ImageFormat]) -> String {
        var types: [String] = []
        for type in formats.compactMap(\.mimeType) where !types.contains(type) { types.append(type) }
        return (types + [types.isEmpty ? "image/*" : "image/*;q=0.9", "*/*;q=0.8"]).joined(separator: ",")
    }
}
