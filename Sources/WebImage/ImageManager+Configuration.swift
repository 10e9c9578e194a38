public import Logging
public import WebImageCache
public import WebImageCodecs
public import WebImageCore
public import WebImageDownload
import WebImageSystem

extension ImageManager {
    /// The settings of a manager.
    public struct Configuration: Sendable {
        /// The limits of the memory cache. Default: 20 % of the container's memory, at most 512 MiB.
        public var memoryLimits = MemoryCache.Limits.default
        /// Which pictures are evicted from memory first. Default ``/WebImageCache/EvictionPolicy/twoQueues``.
        public var evictionPolicy = EvictionPolicy.twoQueues
        /// Whether pictures are evicted from memory when the container or the machine runs short of it (Linux: PSI,
        /// cgroups, `MemAvailable`). Default true.
        public var answersMemoryPressure = true
        /// The disk cache; nil: there is none. Default: in `$XDG_CACHE_HOME/webimage`, namespace `default`. If the
        /// environment names no home directory, the default is nil, and the ``logger`` says so at `notice`.
        public var disk = DiskCacheConfiguration.defaultDirectory.map({ DiskCacheConfiguration(directory: $0) }) {
            didSet { isDiskChosen = true }
        }
        /// Replaces the manager's own caches. Default nil: the manager has caches with the settings of this
        /// configuration.
        ///
        /// An ``ImageCache`` is used as if it were the manager's own, so that several managers can share one. Its own
        /// limits, disk, tiers, encoding and serializer apply; the properties of this configuration for these then have
        /// no effect.
        ///
        /// Any other ``ImageCaching``, such as ``ImageCaches``, is asked for the finished picture with the policies
        /// ``CachePolicy/cacheFirst`` and ``CachePolicy/cacheOnly``, and for the original as the first of the
        /// ``tiers``. Since the manager does not know how fresh its originals are, the other policies ask the origin.
        /// Only answers that may be given to everybody who makes the same request are stored in it.
        public var cache: (any ImageCaching)?
        /// Further tiers for encoded originals, for example a store that several machines share. They are asked in this
        /// order, after the disk cache. Default none.
        public var tiers: [any BytesTier] = []
        /// Whether the program has set ``disk``, be it to nil.
        private(set) var isDiskChosen = false
        /// How bytes are downloaded. Default: as ``/WebImageDownload/DownloadConfiguration`` says, with an `Accept`
        /// header that names the formats that the manager's coders decode.
        public var download = DownloadConfiguration()
        /// The limits for decoding one picture, for requests that do not set their own
        /// (``ImageRequest/Decoding/limits``). Default ``/WebImageCore/DecodeLimits/default``.
        public var limits = DecodeLimits.default
        /// Which decoders run in separate processes, from which a hostile file cannot reach this program. Default
        /// ``/WebImageCodecs/DecoderIsolation/none``; a server that takes pictures from strangers should set
        /// ``/WebImageCodecs/DecoderIsolation/all``. It does not apply to a request's own coder
        /// (``ImageRequest/Decoding/coder``) or to the coders of a separate ``cache``.
        public var isolation = DecoderIsolation.none
        /// How long a whole load may take, for requests without their own ``ImageRequest/Options/timeout``. Default
        /// nil: only the phases of a transfer have limits (``/WebImageDownload/DownloadConfiguration/deadlines``).
        public var timeout: Duration?
        /// The schemes, hosts, ports and resolved addresses to which the manager may connect, for requests without
        /// their own ``/WebImageDownload/DownloadOptions/addressPolicy``. It is the same as that of ``download``. A
        /// program that takes URLs from strangers should set ``/WebImageDownload/AddressPolicy/publicOnly``. Default
        /// nil: all.
        public var addressPolicy: AddressPolicy? {
            get { download.addressPolicy }
            set { download.addressPolicy = newValue }
        }
        /// The interceptors between callers and loads, in this order. Default none.
        public var interceptors: [any ImageInterceptor] = []
        /// How long URLs that failed are blocked, depending on the error.
        public var failedURLs = FailedURLPolicy()
        /// How finished pictures are encoded for the disk, if a request stores them there
        /// (``ImageRequest/Caching/store``). Default ``CacheEncoding/automatic``.
        public var cacheEncoding = CacheEncoding.automatic
        /// Decides which bytes are stored on disk, for finished pictures and for originals that are loaded unchanged.
        /// An original from which another size or a transformed picture is made is stored as the origin sent it.
        /// Default nil: originals are stored as the origin sent them, finished pictures as ``cacheEncoding`` encodes
        /// them.
        public var cacheSerializer: CacheSerializer?
        /// Which headers of the origin's answer are stored with a picture, for ``ImageResponse/head``. Default
        /// ``/WebImageDownload/KeptHeaders/standard``: the eight that caching needs.
        public var keptHeaders = KeptHeaders.standard
        /// Whether the caches serve many users, as those of a server do. Answers that are `private` are then not
        /// stored, and `s-maxage` and `proxy-revalidate` are obeyed (RFC 9111). Default false: the caches belong to one
        /// user.
        public var servesManyUsers = false
        /// Threads that decode. Default: as many as the machine has cores for this process.
        public var decodeThreads = Processors.count
        /// Threads that read and write files. Default 4.
        public var fileThreads = 4
        /// The memory that all running decodes may hold together; a larger decode waits until no other runs. Default
        /// 512 MiB.
        public var decodeMemory = ByteCount.mebibytes(512)
        /// The logger. It is quiet by default: messages at `warning` need somebody's attention.
        public var logger = Logger(label: "webimage")

        public init() {}
    }
}
