public import HTTPTypes
public import Logging
public import WebImageCore

/// The settings of an ``ImageDownloader``.
public struct DownloadConfiguration: Sendable {
    /// The order of downloads with the same priority.
    public enum Order: Hashable, Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// The most transfers at a time. Default 64. Transfers of ``/WebImageCore/LoadPriority/veryLow`` also begin only
    /// within this limit, but do not count against other transfers: if others begin while they run, up to twice as many
    /// may run.
    public var maxConcurrent = 64
    /// The most transfers at a time to one host and port, counted in the same way. Default 6.
    public var maxConcurrentPerHost = 6
    /// How many slow transfers may run beyond these two limits, so that slow origins do not hold up the others. Default
    /// nil: three times ``maxConcurrent``.
    ///
    /// A transfer that receives less than 1 KiB a second is slow, and does not count against the limits. One host may
    /// have this number of slow transfers and twice ``maxConcurrentPerHost`` more. A host without a running transfer
    /// may always begin one. If 0, slow transfers count like others.
    public var spareForSlowOrigins: Int?
    /// How many transfers may wait for a slot. One more fails with `queueFull`. The last tenth of the queue is not open
    /// to low-priority transfers. Default 10 000.
    public var maxWaiting = 10_000
    /// How many slots of both limits are not given to low-priority downloads, so that more urgent downloads never wait
    /// for them. Low priority may use one slot in any case. Default 1.
    public var reservedForUrgent = 1
    /// The order of downloads with the same priority. Default first in, first out.
    public var order = Order.firstInFirstOut
    /// How long the phases of a download may take.
    public var deadlines = DownloadDeadlines()
    /// The longest body that is accepted. Default 64 MiB.
    public var bodyLimit = ByteCount.mebibytes(64)
    /// The most redirects that are followed; one more fails with `tooManyRedirects`. Default 10.
    public var redirectLimit = 10
    /// Whether a redirect may lead from `https` to `http`. Default false: such a redirect fails with `redirectRefused`.
    public var allowsRedirectsToHTTP = false
    /// The headers whose values identify the user. An answer is served only to requests with the same values, unless
    /// the answer is `public`; and these headers are not sent to another origin after a redirect. Default
    /// `Authorization`, `Cookie` and `Proxy-Authorization`; the last one matters for redirects only.
    public var secretHeaders: Set<HTTPField.Name> = [.authorization, .cookie, .proxyAuthorization]
    /// The statuses whose bodies are accepted; all others fail with `badStatus`. Default 200 to 299.
    public var acceptableStatuses = StatusSet.successful
    /// The media types whose bodies are accepted; all others fail with `badContentType`. Default nil: any.
    public var acceptableContentTypes: ContentTypes?
    /// Which failed downloads are tried again. Default: two retries after failures that are likely to pass.
    public var retry = RetryPolicy()
    /// When a host that keeps failing is blocked. Default: after 10 failures in a row; nil: never.
    public var circuit: CircuitPolicy? = CircuitPolicy()
    /// The headers that are sent with each request, unless the request replaces them. Default `User-Agent` and
    /// `Accept`.
    public var headers: HTTPFields
    /// Whether HTTP/2 is offered to `https` hosts. Default true.
    public var allowsHTTP2 = true
    /// The proxy. Default: the proxy that the environment variables name, if any.
    public var proxy = ProxySettings.environment
    /// The TLS settings for requests without their own. Default: the system's trust, no pins, no client certificate.
    ///
    /// A client certificate here is not part of a picture's cache key, and neither is a ``credentialProvider``. An
    /// entry that was stored under another certificate is not served, unless it is `public`, but replaced. Requests
    /// that set their own certificate have entries of their own.
    public var tls = TLSPolicy()
    /// The servers to which requests without their own policy may go. Default nil: every server.
    public var addressPolicy: AddressPolicy?
    /// Provides credentials for requests that have neither credentials nor a provider. Default nil.
    public var credentialProvider: CredentialProvider?
    /// How long a provider's answer is kept. Default: for the session.
    public var credentialPersistence = CredentialPersistence.session
    /// The store for the cookies of requests that handle cookies. Default: a store in memory, for this downloader.
    public var cookieJar: any CookieJar = MemoryCookieJar()
    /// Whether cookies that come with a redirect are sent to its target. They are forgotten at the end of the download.
    /// Some sites redirect to the same URL until a cookie comes back. Only for requests that do not handle cookies.
    /// Default false.
    public var keepsRedirectCookies = false
    /// The request modifier for requests without their own. Default nil.
    public var requestModifier: RequestModifier?
    /// The response modifier for requests without their own. Default nil.
    public var responseModifier: ResponseModifier?
    /// The decryptor for requests without their own. Default nil.
    public var decryptor: BodyDecryptor?
    /// The loaders for URLs with schemes that the downloader does not know; the last one is asked first. A URL that no
    /// loader accepts fails with `unsupportedScheme`. Default none.
    public var loaders: [any ImageLoader] = []
    /// The least progress between two ``DownloadEvent/Kind/bytes(received:expected:)`` events, as a fraction from 0 to
    /// 1 of the body, if its length is known. The first and the last event are always sent. Default 0: an event for each growth.
    public var minimumProgressInterval = 0.0
    /// The logger, which gets warnings about unsafe settings and about blocked hosts. Credentials are never logged.
    public var logger = Logger(label: "webimage.download")
    /// How many bytes of a body are kept in memory; the rest goes to a temporary file while it is read, except for
    /// local files. Default 4 MiB.
    public var memoryPerTransfer = ByteCount.mebibytes(4)
    /// How many bytes of all bodies together are kept in memory. Default 64 MiB.
    public var memoryForAll = ByteCount.mebibytes(64)
    /// The directory for temporary files. They have no names and vanish when they are closed. Default `$TMPDIR`, else
    /// `/tmp`.
    public var temporaryDirectory = defaultTemporaryDirectory()

    /// - Parameter formats: the picture formats to ask for, the most wanted first.
    public init(formats: [ImageFormat] = []) {
        headers = [.userAgent: Self.userAgent, .accept: Self.accept(formats)]
    }

    /// `webimage/<version> (<system>)`.
    public static var userAgent: String { "webimage/\(WebImageVersion.text) (Linux)" }

    /// An `Accept` value: the formats by name, then any picture, then anything.
    public static func accept(_ formats: [ImageFormat]) -> String {
        var types: [String] = []
        for type in formats.compactMap(\.mimeType) where !types.contains(type) { types.append(type) }
        return (types + [types.isEmpty ? "image/*" : "image/*;q=0.9", "*/*;q=0.8"]).joined(separator: ",")
    }
}
