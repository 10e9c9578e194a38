import WebImageCache
public import WebImageCodecs
public import WebImageCore
import WebImageDownload

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A URL and what to make of it. A value: make it once, keep it, change copies of it.
///
/// Its cache keys are computed when it is made or changed, so that loading with a request that is kept costs no
/// hashing; a copy costs one reference count.
public struct ImageRequest: Sendable {
    private var storage: ImageRequestStorage

    /// - Parameters:
    ///   - url: text of an absolute URL: `http`, `https`, `file`, `data`, or one that a loader of the manager takes. It is
    ///     checked when it is loaded; one without a scheme is `invalidURL`, never a path.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: String, size: TargetSize? = nil) {
        var fields = ImageRequestFields(url: url)
        fields.recipe.size = size
        storage = ImageRequestStorage(fields)
    }

    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(_ url: URL, size: TargetSize? = nil) { self.init(url.absoluteString, size: size) }

    /// The same with more said of it.
    ///
    ///     let request = ImageRequest("https://example.com/a.jpg") {
    ///         $0.size = TargetSize(width: 400)
    ///         $0.priority = .high
    ///     }
    ///
    /// - Parameters:
    ///   - url: text of an absolute URL.
    ///   - change: called once, now.
    public init(_ url: String, _ change: (inout ImageRequest) -> Void) {
        self.init(url)
        change(&self)
    }

    /// A file.
    ///
    /// - Parameters:
    ///   - path: one that is not absolute begins at the process's working directory. Any file that the process may read is
    ///     read: it must not come from strangers.
    ///   - size: the size to decode to; nil: the size that the picture has.
    public init(path: String, size: TargetSize? = nil) {
        var fields = ImageRequestFields(path: path)
        fields.recipe.size = size
        storage = ImageRequestStorage(fields)
    }

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
        var fields = ImageRequestFields(url: "data:,\(RequestIdentity.nextNumber())")
        fields.inlineData = data
        fields.inlineName = name
        fields.cachePolicy = .noStore
        storage = ImageRequestStorage(fields)
    }

    /// Where the bytes are: an absolute URL, or the path of ``init(path:size:)``.
    public var url: String { storage.fields.url }

    subscript<Value>(_ field: WritableKeyPath<ImageRequestFields, Value>) -> Value {
        get { storage.fields[keyPath: field] }
        set {
            var fields = storage.fields
            fields[keyPath: field] = newValue
            storage = ImageRequestStorage(fields)
        }
    }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) { self.init(url) }
}

// MARK: - What to make of the picture

extension ImageRequest {
    /// The size to decode to, in display orientation. Default nil: the size that the picture has.
    public var size: TargetSize? {
        get { storage.fields.recipe.size }
        set { self[\.recipe.size] = newValue }
    }

    /// Whether the orientation tag is applied to the pixels (the default) or left in `image.info.orientation`.
    public var appliesOrientation: Bool {
        get { storage.fields.recipe.appliesOrientation }
        set { self[\.recipe.appliesOrientation] = newValue }
    }

    /// Keeps 16 bits a channel where the picture has them. Default false: 8 bits.
    public var keepsBitDepth: Bool {
        get { storage.fields.recipe.keepsBitDepth }
        set { self[\.recipe.keepsBitDepth] = newValue }
    }

    /// Whether pixels with an ICC profile are converted to sRGB. Default true.
    public var convertsToSRGB: Bool {
        get { storage.fields.recipe.convertsToSRGB }
        set { self[\.recipe.convertsToSRGB] = newValue }
    }

    /// The most that the decoded bitmap may take; a larger picture is decoded smaller. Takes the place of ``size``.
    /// Default nil: no limit.
    public var bitmapLimit: ByteCount? {
        get { storage.fields.recipe.bitmapLimit }
        set { self[\.recipe.bitmapLimit] = newValue }
    }

    /// Whether another size of the picture will do that memory has already. Default ``SizePrecision/exact``.
    public var sizePrecision: SizePrecision {
        get { storage.fields.sizePrecision }
        set { self[\.sizePrecision] = newValue }
    }

    /// Whether a picture is scaled by the light of its pixels rather than by their stored values. Fine detail then keeps its
    /// brightness; it takes longer, since no codec can help. Default false, as in browsers and other loaders.
    public var scalesInLinearLight: Bool {
        get { storage.fields.recipe.scalesInLinearLight }
        set { self[\.recipe.scalesInLinearLight] = newValue }
    }

    /// Makes a still of an animation's first frame: `image.animation` is then nil. Default false.
    public var firstFrameOnly: Bool {
        get { storage.fields.recipe.firstFrameOnly }
        set { self[\.recipe.firstFrameOnly] = newValue }
    }

    /// Decodes an animation's frames before the load ends, as many as ``/WebImageCore/ImageAnimation/bufferLimit`` has room
    /// for, in place of when they are shown. Default false. Of a picture that memory has, see
    /// ``/WebImageCore/ImageAnimation/preload()``.
    public var preloadsFrames: Bool {
        get { storage.fields.recipe.preloadsFrames }
        set { self[\.recipe.preloadsFrames] = newValue }
    }

    /// Which page of a file of several pages is wanted, 0 for the first (TIFF); `image.info.header.frameCount` tells how
    /// many there are. Default 0. A load fails with `unsupportedFeature` where there is no such page.
    public var page: Int {
        get { storage.fields.recipe.page }
        set { self[\.recipe.page] = newValue }
    }

    /// Applied in order after decoding, to each frame of an animation too. Default none.
    public var transformers: [any ImageTransformer] {
        get { storage.fields.recipe.transformers }
        set { self[\.recipe.transformers] = newValue }
    }

    /// Decodes this picture in place of the registered coders. Default nil.
    public var coder: (any ImageCoder)? {
        get { storage.fields.recipe.coder }
        set { self[\.recipe.coder] = newValue }
    }

    /// The format of bytes whose content does not tell one: that of a registered coder, for files without a signature.
    /// Content that does tell counts more. Default nil: such bytes are `unknownFormat`.
    public var formatHint: ImageFormat? {
        get { storage.fields.recipe.formatHint }
        set { self[\.recipe.formatHint] = newValue }
    }

    /// Whether a picture that is cut short counts as a result (with `info.isPartial`). Default false: the load fails,
    /// and the part that there is comes as the events' last preview.
    public var allowsPartial: Bool {
        get { storage.fields.recipe.allowsPartial }
        set { self[\.recipe.allowsPartial] = newValue }
    }

    /// Whether ``ImageResponse/data`` is wanted. Default false. With true the bytes are looked for even where memory has the
    /// picture; they are not decoded again when it was made of them.
    public var includesData: Bool {
        get { storage.fields.includesData }
        set { self[\.includesData] = newValue }
    }

    /// What the decode may cost. Default: the manager's (``ImageManager/Configuration/limits``); until one is set it reads as
    /// ``/WebImageCore/DecodeLimits/default``, and changing one limit of it sets all.
    public var limits: DecodeLimits {
        get { storage.fields.recipe.limits }
        set { self[\.recipe.ownLimits] = newValue }
    }
}

// MARK: - How to load it

extension ImageRequest {
    /// Default ``CachePolicy/cacheFirst``.
    public var cachePolicy: CachePolicy {
        get { storage.fields.cachePolicy }
        set { self[\.cachePolicy] = newValue }
    }

    /// What of the load the caches are asked for and keep. Default: as ``CacheUse`` says.
    public var caching: CacheUse {
        get { storage.fields.caching }
        set { self[\.caching] = newValue }
    }

    /// Decides which bytes of this picture go to disk, in place of the manager's own
    /// (``ImageManager/Configuration/cacheSerializer``). Default nil.
    public var cacheSerializer: CacheSerializer? {
        get { storage.fields.cacheSerializer }
        set { self[\.cacheSerializer] = newValue }
    }

    /// Default normal.
    public var priority: LoadPriority {
        get { storage.fields.priority }
        set { self[\.priority] = newValue }
    }

    /// Asks also for a URL that failed and is left alone for now (``ImageManager/failedURLs``); when that goes well, it is
    /// forgotten that it failed. Default false.
    public var retriesFailed: Bool {
        get { storage.fields.retriesFailed }
        set { self[\.retriesFailed] = newValue }
    }

    /// How long the whole load may take, from asking to answering; after it, `deadlineExceeded`. Default nil: as the manager
    /// says (``ImageManager/Configuration/timeout``), which is no limit unless it is set there.
    public var timeout: Duration? {
        get { storage.fields.timeout }
        set { self[\.timeout] = newValue }
    }

    /// The name under which the original is cached, in place of the URL. Default nil.
    public var cacheKey: String? {
        get { storage.fields.cacheKey }
        set { self[\.cacheKey] = newValue }
    }
}

// MARK: - For the rooms

extension ImageRequest {
    /// The key of the original's bytes.
    package var originalKey: CacheKey { storage.originalKey }
    /// The key of these pixels.
    package var variantKey: CacheKey { storage.variantKey }
    /// What is asked of the downloader; an error for what is no URL.
    package var download: Result<ResolvedRequest, WebImageError> { storage.download }
    /// Whether memory is asked for the finished picture.
    var asksMemory: Bool { storage.fields.caching.query.contains(.memory) }
    /// Whether it takes the answers that the downloader's settings say, for somebody whom its keys and they name.
    var isUsual: Bool { storage.takesUsualAnswers && storage.isSteady }
    /// Whether it says nothing of its own of which answers it takes.
    var takesUsualAnswers: Bool { storage.takesUsualAnswers }
    /// Nil: the manager's own is asked.
    var ownMemory: MemoryCache? { storage.fields.caching.cache?.memoryCache }
    /// Nil: the manager's count.
    var ownLimits: DecodeLimits? { storage.fields.recipe.ownLimits }
    /// What is made of the bytes.
    var recipe: PictureRecipe { storage.fields.recipe }

    /// The same with other limits, which no key depends on: nothing is parsed or hashed anew.
    func with(limits: DecodeLimits, timeout: Duration?) -> ImageRequest {
        var fields = storage.fields
        fields.recipe.ownLimits = limits
        fields.timeout = timeout
        var request = self
        request.storage = ImageRequestStorage(fields, keysOf: storage)
        return request
    }

    /// Whether ``url`` is a path.
    var isPath: Bool { storage.fields.download.isPath }

    /// Bytes that need not be loaded.
    package var inlineData: [UInt8]? { storage.fields.inlineData }

    /// What errors call the thing that is loaded.
    package var place: String { storage.fields.inlineName ?? redactedURL(url) }

    /// True for bytes that no network is needed for.
    package var isLocal: Bool {
        if inlineData != nil { return true }
        return (try? download.get())?.isLocal ?? true
    }
}
