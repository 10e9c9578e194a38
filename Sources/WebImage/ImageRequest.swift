import WebImageCache
public import WebImageCore
public import WebImageDownload

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A URL and the options for loading it. A request is a value: make it once, keep it, change copies of it.
///
///     let request = ImageRequest("https://example.com/a.jpg") {
///         $0.size = TargetSize(width: 400)
///         $0.priority = .high
///         $0.http.headers[.accept] = "image/webp"
///     }
///
/// Each property of ``Options`` is also a property of the request: `request.size` is `request.options.size`.
///
/// Cache keys are computed when a request is made or changed, so that loading with a request that was kept costs no
/// hashing. A copy costs one reference count. To change several options at once, change ``options``, or set them when
/// the request is made: the keys are then computed once.
@dynamicMemberLookup
public struct ImageRequest: Sendable {
    private var storage: ImageRequestStorage

    /// - Parameters:
    ///   - url: an absolute URL: `http`, `https`, `file`, `data`, or a URL that one of the manager's loaders accepts.
    ///     It is checked when it is loaded. A string without a scheme fails with `invalidURL`; it is never taken for a
    ///     path.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: String, size: TargetSize? = nil) { self.init(.url(url), Options(size: size)) }

    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: URL, size: TargetSize? = nil) { self.init(url.absoluteString, size: size) }

    /// Makes a request with options.
    ///
    /// - Parameters:
    ///   - url: text of an absolute URL.
    ///   - change: sets what differs from the defaults. Called once, now.
    public init(_ url: String, _ change: (inout Options) -> Void) {
        var options = Options()
        change(&options)
        self.init(.url(url), options)
    }

    /// Makes a request for a file.
    ///
    /// A picture in memory is served without a look at the file. If the file may have changed, use
    /// ``CachePolicy/revalidate``.
    ///
    /// - Parameters:
    ///   - path: a path; a relative one begins at the process's working directory. The load can read any file that the
    ///     process may read, so the path must not come from strangers.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(path: String, size: TargetSize? = nil) { self.init(.path(path), Options(size: size)) }

    /// What somebody has typed for a program to load: a URL, or a path where it has no scheme.
    package init(argument text: String) {
        if DownloadRequest.hasScheme(text) { self.init(text) } else { self.init(path: text) }
    }

    /// Makes a request for bytes in memory, which are decoded as if they had been loaded. Memory and disk cache are not
    /// asked.
    ///
    /// - Parameters:
    ///   - data: the bytes of a file.
    ///   - name: identifies the bytes in errors.
    public init(data: [UInt8], name: String) {
        var options = Options()
        options.caching.policy = .noStore
        self.init(.bytes(data, name: name, number: RequestIdentity.nextNumber()), options)
    }

    init(_ place: ImageRequestStorage.Place, _ options: Options) {
        storage = ImageRequestStorage(place, options)
    }

    /// The absolute URL, or the path of ``init(path:size:)``.
    public var url: String { storage.url }

    /// All options of the request.
    public var options: Options {
        _read { yield storage.options }
        set { storage = storage.with(newValue) }
    }

    /// A property of ``Options``.
    public subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
        get { storage.options[keyPath: option] }
        set { options[keyPath: option] = newValue }
    }
}

extension ImageRequest {
    /// The options of a request. Every option has a default.
    public struct Options: Hashable, Sendable {
        /// The size to decode to, in display orientation. Default nil: the picture's own size.
        public var size: TargetSize?
        /// Default normal.
        public var priority = LoadPriority.normal
        /// How long the whole load may take, from the call to the answer; then it fails with `deadlineExceeded`.
        /// Default nil: the manager's ``ImageManager/Configuration/timeout``, which is no limit unless it is set.
        public var timeout: Duration?
        /// Other URLs of the same picture. Each is tried, in this order, when the one before has failed. Their answers
        /// are cached under their own URLs. URLs of another origin are sent neither
        /// ``/WebImageDownload/DownloadConfiguration/secretHeaders`` nor credentials or a client certificate, and the
        /// request's credential provider is not asked for them; a ``/WebImageDownload/RequestModifier`` is, and decides by
        /// the URL. Default none.
        public var alternatives: [String] = []
        /// How long the load waits for a network that cannot be reached (no host name, no connection). The load is
        /// tried again after one second, then after twice as long each time, at most 30 seconds. Default nil: it does
        /// not wait.
        public var waitsForNetwork: Duration?
        /// Whether a URL that failed is requested even while it is blocked (``ImageManager/failedURLs``). If that
        /// succeeds, the URL is no longer blocked. Default false.
        public var retriesFailed = false
        /// Whether the response contains the original's bytes as ``ImageResponse/data``. Default false. If true, the
        /// bytes are looked up even if the picture is in memory; they are not decoded again if the picture was made
        /// from them.
        public var includesData = false
        private var making = MostlyDefault<Decoding>()
        private var keeping = MostlyDefault<Caching>()
        /// ``http``, to be shared with what is asked of the downloader.
        var downloading = MostlyDefault<DownloadOptions>()
        private var chain = TransformerChain()
        private var stand = FallbackIdentity()

        /// - Parameter size: the size to decode to; nil: the picture's own size.
        public init(size: TargetSize? = nil) { self.size = size }

        /// How the bytes are decoded, apart from size and transformers.
        public var decoding: Decoding {
            _read { yield making.value }
            _modify { yield &making.value }
        }

        /// How the load uses the caches.
        public var caching: Caching {
            _read { yield keeping.value }
            _modify { yield &keeping.value }
        }

        /// How the bytes are downloaded.
        public var http: DownloadOptions {
            _read { yield downloading.value }
            _modify { yield &downloading.value }
        }

        /// Whether size, transformers and decoding are as they are by default.
        var makesNothing: Bool {
            guard size == nil, transformers.isEmpty else { return false }
            if making.isUntouched { return true }
            var keyed = decoding
            keyed.ownLimits = nil
            keyed.preloadsFrames = false
            keyed.allowsPartial = false
            return keyed == Decoding()
        }

        /// Whether it is the URL alone that names the original and says how it is downloaded.
        var namesNothing: Bool { downloading.isUntouched && (keeping.isUntouched || caching.key == nil) }

        /// Whether ``caching`` is as it is by default; false says nothing.
        var cachesAsUsual: Bool { keeping.isUntouched }

        /// The transformers, which are applied in order after decoding, also to each frame of an animation. Default
        /// none.
        public var transformers: [any ImageTransformer] {
            get { chain.all }
            set { chain.all = newValue }
        }

        /// The picture that is returned when the load has failed, including its alternatives, or when its ``timeout`` has
        /// passed. ``ImageResponse/failure`` then has the error. The fallback is neither cached nor changed. Default nil:
        /// the load fails.
        public var fallback: Image? {
            get { stand.image }
            set { stand.image = newValue }
        }

        /// What is to be made of the bytes.
        var recipe: PictureRecipe { PictureRecipe(size: size, transformers: transformers, decoding: making) }
    }
}

/// Two are the same when they are the very same picture.
private struct FallbackIdentity: Hashable, Sendable {
    var image: Image?

    static func == (one: Self, other: Self) -> Bool { one.image?.storage === other.image?.storage }

    func hash(into hasher: inout Hasher) { hasher.combine(image.map { ObjectIdentifier($0.storage) }) }
}

/// Two transformers with the same key make the same pixels.
private struct TransformerChain: Hashable, Sendable {
    var all: [any ImageTransformer] = []

    static func == (one: Self, other: Self) -> Bool {
        one.all.count == other.all.count && zip(one.all, other.all).allSatisfy { $0.key == $1.key }
    }

    func hash(into hasher: inout Hasher) {
        for transformer in all { hasher.combine(transformer.key) }
    }
}

/// Two requests are equal when they load the same in the same way: transformers, coders and hooks count by their keys and
/// names.
extension ImageRequest: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        // Texts that are equal in Swift may name two files, which have two keys.
        one.storage === other.storage
            || (one.variantKey == other.variantKey && one.storage.place == other.storage.place
                && one.options == other.options)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(variantKey) }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) { self.init(url) }
}

// MARK: - What caches go by

extension ImageRequest {
    /// The cache key of the original: the URL, or ``Caching/key``, and who asks if the answer depends on it. All
    /// requests that can be answered with the same bytes have the same key.
    public var originalKey: CacheKey { storage.originalKey }

    /// The cache key of the picture that is made from the original: ``originalKey``, and everything that changes
    /// pixels, such as size and transformers.
    public var variantKey: CacheKey { storage.variantKey }
}

// MARK: - For the rooms

extension ImageRequest {
    /// What is asked of the downloader; an error for what is no URL.
    package var download: Result<ResolvedRequest, WebImageError> { storage.download }
    /// True where nothing is said of caches: memory is asked for the finished picture, and what it has is the answer. False
    /// says nothing.
    var cachesAsUsual: Bool { storage.options.cachesAsUsual }
    /// Whether memory is asked for the finished picture.
    var asksMemory: Bool { storage.options.caching.query.contains(.memory) }
    /// Whether a picture in memory is the answer, whatever HTTP says of it.
    var trustsMemory: Bool { storage.options.caching.policy.trustsMemory }
    /// Whether it wants the picture as its original has it.
    var isPlain: Bool { storage.isPlain }
    /// Whether it takes the answers that the downloader's settings say, for somebody whom its keys and they name.
    var isUsual: Bool { storage.takesUsualAnswers && storage.isSteady }
    /// Whether it says nothing of its own of which answers it takes.
    var takesUsualAnswers: Bool { storage.takesUsualAnswers }
    /// Nil: the manager's own is asked.
    var ownMemory: MemoryCache? { storage.options.caching.cache?.memoryCache }
    /// Nil: the manager's count.
    var ownLimits: DecodeLimits? { storage.options.decoding.ownLimits }
    /// What is made of the bytes.
    var recipe: PictureRecipe { storage.options.recipe }

    /// The same with other limits, which no key depends on: nothing is parsed or hashed anew.
    func with(limits: DecodeLimits, timeout: Duration?) -> ImageRequest {
        var options = options
        options.decoding.ownLimits = limits
        options.timeout = timeout
        var request = self
        request.storage = storage.with(options, changesKeys: false)
        return request
    }

    /// The same for another source of the bytes, and as it is asked now.
    func with(_ change: (inout DownloadRequest) -> Void) -> ImageRequest {
        var request = self
        request.storage = storage.with(change)
        return request
    }

    /// Whether ``url`` is a path.
    var isPath: Bool {
        if case .path = storage.place { true } else { false }
    }

    /// Bytes that need not be loaded.
    package var inlineData: [UInt8]? {
        if case .bytes(let bytes, _, _) = storage.place { bytes } else { nil }
    }

    /// The name of the request in errors and logs: the URL without user, password, fragment, and query values that
    /// grant access; for bytes their name.
    public var redactedURL: String {
        if case .bytes(_, let name, _) = storage.place { name } else { WebImageDownload.redactedURL(url) }
    }

    /// True for bytes that no network is needed for.
    package var isLocal: Bool {
        if inlineData != nil { return true }
        return (try? download.get())?.isLocal ?? true
    }
}
