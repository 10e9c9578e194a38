public import ServerGrammar
public import WebImage

/// The settings of a server, read from environment variables and checked.
public struct ServerSettings: Sendable {
    /// Where the server listens.
    public enum Address: Hashable, Sendable {
        /// Without a host: all addresses of this machine.
        case tcp(host: String, port: Int)
        case unix(path: String)

        /// Whether the address can be reached only from this machine.
        public var isLocal: Bool {
            switch self {
            case .unix: true
            case .tcp(let host, _): ["localhost", "127.0.0.1", "::1"].contains(host)
            }
        }

        /// Whether only one of two addresses can be listened at.
        func collides(with other: Address) -> Bool {
            switch (self, other) {
            case (.unix(let path), .unix(let theirs)): return path == theirs
            case (.tcp(let host, let port), .tcp(let theirs, let theirPort)):
                // At port 0 the system chooses another port for each.
                return port == theirPort && port != 0
                    && (host == theirs || ["", "0.0.0.0", "::"].contains { $0 == host || $0 == theirs })
            default: return false
            }
        }
    }

    /// The paths of two files, as PEM.
    public struct Certificate: Hashable, Sendable {
        /// The path of the server's certificate, followed by the intermediate certificates.
        public var chain: String
        public var key: String

        public init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
    }

    /// The format of log lines.
    public enum LogFormat: String, Hashable, Sendable {
        case json
        /// For people.
        case pretty
        /// `name="value"` pairs.
        case structured
        /// JSON with the names of Google Cloud.
        case gcp
    }

    /// Bounds of what one request may cost.
    public struct Limits: Hashable, Sendable {
        /// Millions of pixels of a source. Default 50.
        public var sourceResolution = 50.0
        /// Millions of pixels of all used frames of an animation. Default 200, or ``sourceResolution`` if that is set.
        public var animationResolution = 200.0
        /// Bytes of a source. Default 64 MiB.
        public var sourceBytes = 64 << 20
        /// How many frames of an animation are used. Default 128.
        public var animationFrames = 128
        /// Millions of pixels of one frame of an animation, however many there are; 0: the limit for all frames
        /// applies.
        public var animationFrameResolution = 0.0
        /// The longest side of a result in pixels; 0: no limit of its own.
        public var resultDimension = 0
        /// Millions of pixels of a result. Default 40.
        public var resultResolution = 40.0
        /// The most pixels of a side of a result; nil: as many as its format has. Default 16384.
        public var resultSide: Int? = 16_384

        /// ``sourceBytes`` as the library takes it.
        public var bodyLimit: ByteCount { ProcessingOptions.Security.bodyLimit(sourceBytes) }
    }

    /// Which cookies of clients are passed on to the origins of sources.
    public struct Cookies: Hashable, Sendable {
        public var arePassedOn = false
        /// Whether all origins get them.
        public var goToAll = false
        /// The URL that cookies are assumed to belong to; nil: the address that the client requested.
        public var base: String?
    }

    /// How often results may be requested that are not cached.
    public struct RateLimit: Hashable, Sendable {
        /// What the requests have in common that are counted together.
        public enum Subject: String, Sendable {
            /// The client's address.
            case client = "ip"
            /// The key of the signature. URLs without a signature that is checked are not limited.
            case key
            /// The host of the source. Sources without a host are not limited.
            case host
        }

        public var perSecond: Double
        /// How many requests may come at once after a pause.
        public var burst: Int
        public var subject: Subject

        public init(perSecond: Double, burst: Int, subject: Subject = .client) {
            self.perSecond = perSecond
            self.burst = burst
            self.subject = subject
        }
    }

    /// How results are encoded if the URL does not say it.
    public struct Output: Hashable, Sendable {
        public var quality = 80
        public var formatQuality: [ResultFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
        public var preferredFormats: [ResultFormat] = [.jpeg, .png, .gif]
        /// Formats that the server may choose if the client accepts them, best first.
        public var automatic: Set<ResultFormat> = []
        /// The same, but also if the URL asks for another format.
        public var enforced: Set<ResultFormat> = []
        public var skipProcessing: Set<ResultFormat> = []
        public var progressiveJPEG = false
        /// 0, the slowest, to 10.
        public var avifSpeed = 8
        public var stripMetadata = true
        public var keepCopyright = true
        public var stripColorProfile = true
        public var autoRotate = true
        public var preserveHDR = false
        public var linearLight = false
        /// Whether the thumbnail in a HEIC is used instead of the picture.
        public var enforcesThumbnail = false
        public var returnAttachment = false
        /// Whether SVGs are rasterized also if the URL asks for no other format.
        public var rasterizesSVG = false
        /// Whether scripts are removed from SVGs that are served as they are.
        public var sanitizesSVG = true
        public var interlacedPNG = false
        /// How many colours the palette of a PNG has; nil: no palette, all colours are kept.
        public var pngColors: Int?
        /// 0, the fastest, to 6; nil: the library's default.
        public var webpEffort: Int?
        public var webpContent = WebPContent.picture
        /// 1, the fastest, to 9.
        public var jxlEffort = 4
    }

    public var address = Address.tcp(host: "", port: 8080)
    /// The certificate for TLS with HTTP/2 or HTTP/1.1; nil: plain HTTP/1.1.
    public var certificate: Certificate?
    /// The address for purges and metrics; nil: none.
    public var adminAddress: Address?
    public var grammar = URLGrammar()
    /// Whether URLs are accepted without a signature.
    public var allowsUnsigned = false
    /// Whether there is a page at `/` that signs any URL.
    public var isDevelopment = false
    /// Whether clients are told the details of errors.
    public var showsErrors = false
    /// The bearer token that `Authorization` must hold in requests for pictures.
    public var secret: String?
    /// The bearer token that purges require; nil: ``secret``.
    public var adminSecret: String?
    public var limits = Limits()
    public var output = Output()
    /// The time for a request, from its head to the last byte of the answer's body.
    public var timeout = Duration.seconds(10)
    public var downloadTimeout = Duration.seconds(5)
    /// The time in which a whole request must arrive.
    public var readRequestTimeout = Duration.seconds(10)
    /// How long a client may read nothing of an answer that is waiting for it.
    public var writeResponseTimeout = Duration.seconds(10)
    /// How long a connection may stay open without a request; 0: it is closed after its first answer.
    public var keepAliveTimeout = Duration.seconds(10)
    public var gracefulTimeout = Duration.seconds(20)
    public var drainDelay = Duration.seconds(5)
    /// Whether imgproxy's behaviour is wanted where ours differs on purpose (`WEBIMAGE_COMPAT`).
    public var isCompatible = false
    /// How many threads decode and encode; 0: one for each core.
    public var workers = 0
    /// How many pictures may wait to be made. Default 32 for each thread.
    public var queueSize: Int?
    public var maxClients = 2048
    public var overloadStatus = 429
    /// How many misses a client, a key or a host may have; nil: no limit.
    public var rateLimit: RateLimit?
    /// Proxies whose `X-Forwarded-For` is trusted.
    public var trustedProxies: [AddressRange] = []
    public var maxRedirects = 10
    /// Which decoders run in processes of their own.
    public var isolation = DecoderIsolation.Formats.all
    /// Whether pictures are decoded in the server's own process if the system has no sandbox.
    public var decodesWithoutSandbox = false
    public var userAgent: String?
    /// The directory that `local://` URLs refer to; nil: they are refused.
    public var localRoot: String?
    /// Which cookies of clients go to origins.
    public var cookies = Cookies()
    public var allowsLoopback = false
    public var allowsLinkLocal = false
    public var allowsPrivate = false
    public var ignoresTLS = false
    /// For how many seconds clients may cache a result.
    public var timeToLive = 31_536_000
    public var passesCacheControl = false
    public var usesETag = true
    public var usesLastModified = true
    public var etagBuster = ""
    /// The earliest `Last-Modified` of results, in seconds since 1970; nil: that of their source.
    public var lastModifiedBuster: Int?
    public var setsCanonical = false
    public var debugHeaders = false
    public var allowOrigin: String?
    public var clientHints = false
    public var healthPath: String?
    /// Bytes of results in memory.
    public var memoryCacheBytes = 64 << 20
    /// The directory for results and originals; nil: they are kept in memory only.
    public var cacheDirectory: String?
    public var resultCacheBytes = 1 << 30
    public var originalCacheBytes = 1 << 30
    /// For how many seconds a source counts as fresh if its origin does not say.
    public var sourceTTL = 300
    public var staleWhileRevalidate = 86_400
    public var staleIfError = 604_800
    /// The Redis server that connects the servers of a fleet; nil: this server is alone.
    public var redisURL: String?
    /// The path of a PEM file with the authorities that are trusted to sign Redis' certificate.
    public var redisAuthorities: String?
    /// Distinguishes fleets that use the same Redis.
    public var redisPrefix = "wi"
    /// The size in bytes up to which results are shared through Redis; 0: none is shared.
    public var redisResultBytes = 65_536
    /// What is shared through S3 and read from there.
    public var s3 = S3()
    /// The header field that names an answer's source to caches in front of the server, which purge by it.
    public var cacheTagField: String?
    public var watermark: PictureSource?
    public var watermarkOpacity = 1.0
    public var fallback: PictureSource?
    /// 0: the status of the error.
    public var fallbackStatus = 200
    public var fallbackTTL: Int?
    public var prometheus: Address?
    public var metricsNamespace = ""
    /// Where spans are sent; nil: there are none.
    public var tracing: Tracing?
    public var logLevel = "info"
    public var logFormat = LogFormat.json
    /// Settings that are unusual but accepted, as sentences.
    public var warnings: [String] = []

    public init() {}

    /// Where a configured picture comes from.
    public enum PictureSource: Hashable, Sendable {
        /// Base64.
        case data(String)
        case path(String)
        case url(String)
    }
}

/// The reason why a server does not start: all problems with its settings.
public struct SettingsError: Error, CustomStringConvertible {
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String { problems.joined(separator: "\n") }
}
