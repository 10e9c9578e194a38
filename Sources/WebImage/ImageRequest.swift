import WebImageCache
public import WebImageCore
public import WebImageDownload

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A URL and what to make of it. A value: make it once, keep it, change copies of it.
///
///     let request = ImageRequest("https://example.com/a.jpg") {
///         $0.size = TargetSize(width: 400)
///         $0.priority = .high
///         $0.http.headers[.accept] = "image/webp"
///     }
///
/// Each of ``Options`` is a property of the request, too: `request.size` is `request.options.size`.
///
/// Cache keys are computed when a request is made or changed, so that loading with a request that is kept costs no hashing;
/// a copy costs one reference count. To change several options at once, change ``options`` or give them when it is made:
/// the keys are then computed once.
@dynamicMemberLookup
public struct ImageRequest: Sendable {
    private var storage: ImageRequestStorage

    /// - Parameters:
    ///   - url: text of an absolute URL: `http`, `https`, `file`, `data`, or one that a loader of the manager takes. It is
    ///     checked when it is loaded; one without a scheme is `invalidURL`, never a path.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: String, size: TargetSize? = nil) { self.init(.url(url), Options(size: size)) }

    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: URL, size: TargetSize? = nil) { self.init(url.absoluteString, size: size) }

    /// The same with more said of it.
    ///
    /// - Parameters:
    ///   - url: text of an absolute URL.
    ///   - change: sets what differs from the defaults. Called once, now.
    public init(_ url: String, _ change: (inout Options) -> Void) {
        var options = Options()
        change(&options)
        self.init(.url(url), options)
    }

    /// A file.
    ///
    /// - Parameters:
    ///   - path: one that is not absolute begins at the process's working directory. Any file that the process may read is
    ///     read: it must not come from strangers.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(path: String, size: TargetSize? = nil) { self.init(.path(path), Options(size: size)) }

    /// What somebody has typed for a program to load: a URL, or a path where it has no scheme.
    package init(argument text: String) {
        if DownloadRequest.hasScheme(text) { self.init(text) } else { self.init(path: text) }
    }

    /// Bytes that are there already, decoded as if they had been loaded; memory and disk cache are not asked.
    ///
    /// - Parameters:
    ///   - data: the bytes of a file.
    ///   - name: stands for the bytes in errors.
    public init(data: [UInt8], name: String) {
        var options = Options()
        options.caching.policy = .noStore
        self.init(.bytes(data, name: name, number: RequestIdentity.nextNumber()), options)
    }

    init(_ place: ImageRequestStorage.Place, _ options: Options) {
        storage = ImageRequestStorage(place, options)
    }

    /// Where the bytes are: an absolute URL, or the path of ``init(path:size:)``.
    public var url: String { storage.url }

    /// All that the request says besides its URL.
    public var options: Options {
        _read { yield storage.options }
        set { storage = storage.with(newValue) }
    }

    /// One of ``Options``.
    public subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
        get { storage.options[keyPath: option] }
        set { options[keyPath: option] = newValue }
    }
}

extension ImageRequest {
    /// What a request says besides its URL. Everything has a default.
    public struct Options: Hashable, Sendable {
        /// The size to decode to, in display orientation. Default nil: the size that the picture has.
        public var size: TargetSize?
        /// Default normal.
        public var priority = LoadPriority.normal
        /// How long the whole load may take, from asking to answering; after it, `deadlineExceeded`. Default nil: as the
        /// manager says (``ImageManager/Configuration/timeout``), which is no limit unless it is set there.
        public var timeout: Duration?
        /// Other URLs of the same picture, which are asked in this order when the one before has failed. What they bring is
        /// cached under their own names. Those of another origin get neither ``/WebImageDownload/DownloadConfiguration/secretHeaders``
        /// nor credentials or a client certificate. Default none.
        public var alternatives: [String] = []
        /// For how long a network that cannot be reached (no name, no connection) is waited for: the load is tried again
        /// after one second, then after twice as long each time, at most 30 seconds. Default nil: not at all.
        public var waitsForNetwork: Duration?
        /// Asks also for a URL that failed and is left alone for now (``ImageManager/failedURLs``); when that goes well, it
        /// is forgotten that it failed. Default false.
        public var retriesFailed = false
        /// Whether ``ImageResponse/data`` is wanted. Default false. With true the bytes are looked for even where memory has
        /// the picture; they are not decoded again when it was made of them.
        public var includesData = false
        private var making = MostlyDefault<Decoding>()
        private var keeping = MostlyDefault<Caching>()
        /// ``http``, to be shared with what is asked of the downloader.
        var downloading = MostlyDefault<DownloadOptions>()
        private var chain = TransformerChain()
        private var stand = FallbackIdentity()

        /// - Parameter size: the size to decode to; nil: the size that the picture has.
        public init(size: TargetSize? = nil) { self.size = size }

        /// What the bytes are made into, beside size and transformers.
        public var decoding: Decoding {
            _read { yield making.value }
            _modify { yield &making.value }
        }

        /// What the caches do for the load.
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

        /// Applied in order after decoding, to each frame of an animation too. Default none.
        public var transformers: [any ImageTransformer] {
            get { chain.all }
            set { chain.all = newValue }
        }

        /// The picture that a load ends with which failed, in all other ways of the request's, too
        /// (``ImageResponse/failure`` then says with what). It is not cached, nor changed. Default nil: the load fails.
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
        one.storage === other.storage || (one.storage.place == other.storage.place && one.options == other.options)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(variantKey) }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) { self.init(url) }
}

// MARK: - What caches go by

extension ImageRequest {
    /// Names the original: the URL, or ``Caching/key``, and who asks where the answer depends on it. All requests that can be
    /// answered with the same bytes have the same.
    public var originalKey: CacheKey { storage.originalKey }

    /// Names the picture that is made of the original: ``originalKey``, and all that changes pixels, such as size and
    /// transformers.
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

    /// What errors and logs call the thing that is loaded: the URL without user, password and fragment, and with nothing in its query
    /// that grants access; of bytes their name.
    public var redactedURL: String {
        if case .bytes(_, let name, _) = storage.place { name } else { WebImageDownload.redactedURL(url) }
    }

    /// True for bytes that no network is needed for.
    package var isLocal: Bool {
        if inlineData != nil { return true }
        return (try? download.get())?.isLocal ?? true
    }
}
