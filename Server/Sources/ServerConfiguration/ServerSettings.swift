public import ServerGrammar
public import WebImage

/// How a server works: the variables of its environment, read and checked.
public struct ServerSettings: Sendable {
    /// Where the server listens.
    public enum Address: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)

        /// Whether only this machine can reach it.
        public var isLocal: Bool {
            switch self {
            case .unix: true
            case .tcp(let host, _): ["localhost", "127.0.0.1", "::1"].contains(host)
            }
        }
    }

    /// The paths of two files, as PEM.
    public struct Certificate: Hashable, Sendable {
        /// The server's certificate, and those behind it that lead to an authority.
        public var chain: String
        public var key: String

        public init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
    }

    /// How lines of the log are written.
    public enum LogFormat: String, Hashable, Sendable {
        case json
        /// For people.
        case pretty
        /// `name="value"`, one behind the other.
        case structured
        /// JSON by the names of Google Cloud.
        case gcp
    }

    /// Bounds of what one request may cost.
    public struct Limits: Hashable, Sendable {
        /// Millions of pixels of a source. Default 50.
        public var sourceResolution = 50.0
        /// Millions of pixels of all frames of an animation that are used. Default 200, or ``sourceResolution`` where that is set.
        public var animationResolution = 200.0
        /// Bytes of a source. Default 64 MiB.
        public var sourceBytes = 64 << 20
        /// Frames of an animation that are used. Default 128.
        public var animationFrames = 128
        /// Millions of pixels of one frame of an animation, however many there are; 0: all together are bounded.
        public var animationFrameResolution = 0.0
        /// The longest side of a result; 0: only as the others say.
        public var resultDimension = 0
        /// Millions of pixels of a result. Default 40.
        public var resultResolution = 40.0
    }

    /// Which cookies of clients are passed on to the origins of sources.
    public struct Cookies: Hashable, Sendable {
        public var arePassedOn = false
        /// Whether all origins get them.
        public var goToAll = false
        /// The URL that cookies are taken to belong to; nil: the address that the client asked.
        public var base: String?
    }

    /// How often a client may ask for what is not kept.
    public struct RateLimit: Hashable, Sendable {
        public var perSecond: Double
        /// Requests at once after a while without any.
        public var burst: Int

        public init(perSecond: Double, burst: Int) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// How results are written where a URL does not say it.
    public struct Output: Hashable, Sendable {
        public var quality = 80
        public var formatQuality: [ResultFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
        public var preferredFormats: [ResultFormat] = [.jpeg, .png, .gif]
        /// Formats that the server chooses when the client takes them, the best one first.
        public var automatic: Set<ResultFormat> = []
        /// The same, also where the URL asks for another format.
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
        /// Whether the small copy that a HEIC holds is used in place of the picture.
        public var enforcesThumbnail = false
        public var returnAttachment = false
        /// Whether drawings are drawn also where no other format is asked for.
        public var rasterizesSVG = false
        /// Whether scripts are taken out of drawings that are handed on.
        public var sanitizesSVG = true
        public var interlacedPNG = false
        /// Colours of a PNG's palette; nil: all colours are kept.
        public var pngColors: Int?
        /// 0, the fastest, to 6; nil: as the library finds it good.
        public var webpEffort: Int?
        public var webpContent = WebPContent.picture
        /// 1, the fastest, to 9.
        public var jxlEffort = 4
    }

    public var address = Address.tcp(host: "0.0.0.0", port: 8080)
    /// By which clients are spoken to over TLS, by HTTP/2 or HTTP/1.1; nil: plainly, by HTTP/1.1.
    public var certificate: Certificate?
    /// Where purges are taken, and metrics told; nil: nowhere.
    public var adminAddress: Address?
    public var grammar = URLGrammar()
    /// Whether URLs need no signature.
    public var allowsUnsigned = false
    /// Whether there is a page at `/`, for which any URL is signed.
    public var isDevelopment = false
    /// Whether errors say what they are.
    public var showsErrors = false
    /// What `Authorization` must hold as its bearer.
    public var secret: String?
    public var limits = Limits()
    public var output = Output()
    /// For a request, from its head to the last byte of the answer's body.
    public var timeout = Duration.seconds(10)
    public var downloadTimeout = Duration.seconds(5)
    /// For a whole request to come, its head and whatever is behind it.
    public var readRequestTimeout = Duration.seconds(10)
    /// For how long a client may read nothing of an answer that waits for it.
    public var writeResponseTimeout = Duration.seconds(10)
    /// For how long a connection may be without a request; 0: it ends behind its first answer.
    public var keepAliveTimeout = Duration.seconds(10)
    public var gracefulTimeout = Duration.seconds(20)
    public var drainDelay = Duration.seconds(5)
    /// Threads that decode and encode; 0: as many as cores.
    public var workers = 0
    /// Pictures that wait to be made. Default 32 a thread.
    public var queueSize: Int?
    public var maxClients = 2048
    public var overloadStatus = 429
    /// How many misses a client may have; nil: no limit.
    public var rateLimit: RateLimit?
    /// Proxies that are believed when they say who the client is.
    public var trustedProxies: [AddressRange] = []
    public var maxRedirects = 10
    /// Which decoders run in processes of their own.
    public var isolation = DecoderIsolation.Formats.all
    /// Whether pictures are decoded in the server's own process where the system has no sandbox.
    public var decodesWithoutSandbox = false
    public var userAgent: String?
    /// The folder that `local://` URLs name files of; nil: they are refused.
    public var localRoot: String?
    /// Which cookies of clients go to origins.
    public var cookies = Cookies()
    public var allowsLoopback = false
    public var allowsLinkLocal = false
    public var allowsPrivate = false
    public var ignoresTLS = false
    /// Seconds for which clients may keep a result.
    public var timeToLive = 31_536_000
    public var passesCacheControl = false
    public var usesETag = true
    public var usesLastModified = true
    public var etagBuster = ""
    /// Results count as changed at this time at least, in seconds since 1970; nil: when their source was.
    public var lastModifiedBuster: Int?
    public var setsCanonical = false
    public var debugHeaders = false
    public var allowOrigin: String?
    public var clientHints = false
    public var healthPath: String?
    /// Bytes of results in memory.
    public var memoryCacheBytes = 64 << 20
    /// Where results and originals are kept; nil: in memory only.
    public var cacheDirectory: String?
    public var resultCacheBytes = 1 << 30
    public var originalCacheBytes = 1 << 30
    /// Seconds that a source counts as fresh for which its origin says nothing.
    public var sourceTTL = 300
    public var staleWhileRevalidate = 86_400
    public var staleIfError = 604_800
    /// What joins servers to a fleet; nil: this one is alone.
    public var redisURL: String?
    /// A file of certificates, PEM, of the authorities that Redis' own may be from.
    public var redisAuthorities: String?
    /// Tells fleets apart that share a Redis.
    public var redisPrefix = "wi"
    /// Longer results are not shared through Redis; 0: none is.
    public var redisResultBytes = 65_536
    /// What is shared through S3, and read from there.
    public var s3 = S3()
    /// The field of answers that names their source for caches in front, which purge by it.
    public var cacheTagField: String?
    public var watermark: PictureSource?
    public var watermarkOpacity = 1.0
    public var fallback: PictureSource?
    /// 0: that of the error.
    public var fallbackStatus = 200
    public var fallbackTTL: Int?
    public var prometheus: Address?
    public var metricsNamespace = ""
    /// Where spans go; nil: there are none.
    public var tracing: Tracing?
    public var logLevel = "info"
    public var logFormat = LogFormat.json
    /// What was odd but taken.
    public var warnings: [String] = []

    public init() {}

    /// Where a picture of the configuration comes from.
    public enum PictureSource: Hashable, Sendable {
        /// Base64.
        case data(String)
        case path(String)
        case url(String)
    }
}

/// Why a server does not start: everything that is wrong with its settings.
public struct SettingsError: Error, CustomStringConvertible {
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String { problems.joined(separator: "\n") }
}
