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

    /// Makes a request with default options.
    ///
    /// - Parameters:
    ///   - url: an absolute URL: `http`, `https`, `file`, `data`, or a URL that one of the manager's loaders accepts.
    ///     The URL is checked when it is loaded. A string without a scheme fails with `invalidURL`; it is never treated
    ///     as a path.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: String, size: TargetSize? = nil) { self.init(.url(url), Options(size: size)) }

    /// Makes a request with default options.
    ///
    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: URL, size: TargetSize? = nil) { self.init(url.absoluteString, size: size) }

    /// Makes a request with options.
    ///
    /// - Parameters:
    ///   - url: text of an absolute URL.
    ///   - change: sets the options that differ from the defaults. Called once, before this returns.
    public init(_ url: String, _ change: (inout Options) -> Void) {
        var options = Options()
        change(&options)
        self.init(.url(url), consume options)
    }

    /// Makes a request for a file.
    ///
    /// A picture in memory is returned without checking the file. If the file may have changed, use
    /// ``CachePolicy/revalidate``.
    ///
    /// - Parameters:
    ///   - path: a path; a relative one begins at the process's working directory. The load can read any file that the
    ///     process may read, so the path must not come from strangers.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(path: String, size: TargetSize? = nil) { self.init(.path(path), Options(size: size)) }

    /// Makes a request from a command-line argument: a URL, or a path if the text has no scheme.
    package init(argument text: String) {
        if DownloadRequest.hasScheme(text) { self.init(text) } else { self.init(path: text) }
    }

    /// Makes a request for bytes in memory, which are decoded as if they had been loaded. The memory cache and the disk
    /// cache are not used.
    ///
    /// - Parameters:
    ///   - data: the bytes of a file.
    ///   - name: identifies the bytes in errors.
    public init(data: [UInt8], name: String) {
        var options = Options()
        options.caching.policy = .noStore
        self.init(.bytes(data, name: name, number: RequestIdentity.nextNumber()), options)
    }

    init(_ place: consuming ImageRequestStorage.Place, _ options: consuming Options) {
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
        /// The priority of the load among others. Default normal.
        public var priority = LoadPriority.normal
        /// How long the whole load may take, from the call to the answer; then it fails with `deadlineExceeded`.
        /// Default nil: the manager's ``ImageManager/Configuration/timeout``, which is no limit unless it is set.
        public var timeout: Duration?
        /// Other URLs of the same picture. Each is tried, in this order, when the one before has failed. Their answers
        /// are cached under their own URLs. URLs of another origin are sent neither this request's
        /// ``/WebImageDownload/DownloadConfiguration/secretHeaders`` nor its credentials or client certificate, and its
        /// credential provider is not asked for them; a ``/WebImageDownload/RequestModifier`` is, and decides by the URL.
        /// What the downloader's configuration sends with every request is sent to them, too. Default none.
        public var alternatives: [String] = []
        /// How long the load waits for a network that cannot be reached (no host name, no connection), with all of its
        /// ``alternatives`` together. The load is tried again after one second, then after twice as long each time, at most
        /// 30 seconds. Default nil: it does not wait.
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
        /// The storage of ``http``, which the request shares with its ``download``.
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

        /// Whether size, transformers and decoding have their defaults. Limits and other options that do not change
        /// pixels are disregarded.
        var makesNothing: Bool {
            guard size == nil, transformers.isEmpty else { return false }
            if making.isUntouched { return true }
            var keyed = decoding
            keyed.ownLimits = nil
            keyed.preloadsFrames = false
            keyed.allowsPartial = false
            return keyed == Decoding()
        }

        /// Whether transformers and decoding were never changed.
        var makesSizeOnly: Bool { transformers.isEmpty && making.isUntouched }

        /// Whether the URL alone identifies the original and how it is downloaded: there is no cache key, and ``http``
        /// is untouched.
        var namesNothing: Bool { downloading.isUntouched && (keeping.isUntouched || caching.key == nil) }

        /// Whether ``caching`` was never changed. If false, it may still equal the default.
        var cachesAsUsual: Bool { keeping.isUntouched }

        /// The transformers, which are applied in order after decoding, also to each frame of an animation. Default
        /// none.
        public var transformers: [any ImageTransformer] {
            get { chain.all }
            set { chain.all = newValue }
        }

        /// The picture that is returned when the load has failed, including its alternatives, or when its ``timeout`` has
        /// passed. ``ImageResponse/failure`` then has the error. It does not replace a cached picture that is shown while
        /// the origin is asked (``CachePolicy/refresh``). The fallback is neither cached nor changed. Default nil: the
        /// load fails.
        public var fallback: Image? {
            get { stand.image }
            set { stand.image = newValue }
        }

        /// How the picture is made from the original's bytes.
        var recipe: PictureRecipe { PictureRecipe(size: size, transformers: transformers, decoding: making) }
    }
}

/// Compares fallbacks by identity: two are equal if they share the same storage.
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

/// Two requests are equal when they load the same picture in the same way. Transformers and coders are compared by
/// their keys, hooks by their names.
extension ImageRequest: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        // Strings that are equal in Swift (by Unicode's canonical equivalence) may name two files, which have different
        // keys.
        one.storage === other.storage
            || (one.variantKey == other.variantKey && one.storage.place == other.storage.place
                && one.options == other.options)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(variantKey) }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) { self.init(url) }
}

// MARK: - Cache keys

extension ImageRequest {
    /// The cache key of the original: the URL, or ``Caching/key``, and the user if the answer depends on the user. All
    /// requests that can be answered with the same bytes have the same key.
    public var originalKey: CacheKey { storage.originalKey }

    /// The cache key of the picture that is made from the original: ``originalKey``, and everything that changes
    /// pixels, such as size and transformers.
    public var variantKey: CacheKey { storage.variantKey }
}

// MARK: - For the rest of the package

extension ImageRequest {
    /// The request to the downloader; an error if ``url`` is not a valid URL.
    package var download: Result<ResolvedRequest, WebImageError> { storage.download }
    /// Whether the caching options were never changed: a finished picture in memory is then the answer. If false, the
    /// options may still equal the defaults.
    var cachesAsUsual: Bool { storage.options.cachesAsUsual }
    /// Whether the finished picture is looked up in memory.
    var asksMemory: Bool { storage.options.caching.query.contains(.memory) }
    /// Whether a picture in memory is the answer, regardless of HTTP's rules.
    var trustsMemory: Bool { storage.options.caching.policy.trustsMemory }
    /// Whether the picture is wanted unchanged: no size, transformers or decoding options change its pixels.
    var isPlain: Bool { storage.isPlain }
    /// Whether the picture is wanted unchanged, whichever coder decodes it.
    var isWholeOriginal: Bool {
        if isPlain { return true }
        var options = storage.options
        (options.decoding.coder, options.decoding.formatHint) = (nil, nil)
        return options.makesNothing
    }
    /// Whether the request accepts the usual answers, and its keys together with the downloader's settings fully
    /// identify the user.
    var isUsual: Bool { storage.takesUsualAnswers && storage.isSteady }
    /// Whether the request accepts the usual answers: it sets neither acceptable statuses nor acceptable content types.
    var takesUsualAnswers: Bool { storage.takesUsualAnswers }
    /// The memory cache of the request's own cache; nil: the manager's is used.
    var ownMemory: MemoryCache? { storage.options.caching.cache?.memoryCache }
    /// The answers by which pictures in ``ownMemory`` are judged.
    var ownAnswers: AnswerBook? { storage.options.caching.cache?.answers }
    /// The request's own decoding limits; nil: the manager's apply.
    var ownLimits: DecodeLimits? { storage.options.decoding.ownLimits }
    /// How the picture is made from the original's bytes.
    var recipe: PictureRecipe { storage.options.recipe }

    /// A copy with other limits. No key depends on them, so nothing is parsed or hashed again.
    func with(limits: DecodeLimits, timeout: Duration?) -> ImageRequest {
        var options = options
        options.decoding.ownLimits = limits
        options.timeout = timeout
        return withSameKeys(options)
    }

    /// Changes options that are no part of the keys. No code of a transformer is called, as it would be for new keys.
    func withSameKeys(_ options: Options) -> ImageRequest {
        var request = self
        request.storage = storage.with(options, changesKeys: false)
        return request
    }

    /// A copy that downloads its bytes from another source or in another way.
    func with(_ change: (inout DownloadRequest) -> Void) -> ImageRequest {
        var request = self
        request.storage = storage.with(change)
        return request
    }

    /// Whether ``url`` is a path.
    var isPath: Bool {
        if case .path = storage.place { true } else { false }
    }

    /// The bytes of ``init(data:name:)``, which need not be loaded; otherwise nil.
    package var inlineData: [UInt8]? {
        if case .bytes(let bytes, _, _) = storage.place { bytes } else { nil }
    }

    /// The name of the request in errors and logs: the URL without user, password, fragment, and query values that
    /// grant access; for bytes their name.
    public var redactedURL: String {
        if case .bytes(_, let name, _) = storage.place { name } else { WebImageDownload.redactedURL(url) }
    }

    /// Whether the bytes can be read without the network.
    package var isLocal: Bool {
        if inlineData != nil { return true }
        return (try? download.get())?.isLocal ?? true
    }
}
