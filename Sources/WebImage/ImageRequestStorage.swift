import WebImageCore
import WebImageDownload

/// The immutable storage that copies of a request share: its bytes' place, its options, and the keys computed from
/// them.
final class ImageRequestStorage: Sendable {
    /// Where the bytes are.
    enum Place: Hashable, Sendable {
        case url(String)
        case path(String)
        /// The bytes are given. The number distinguishes requests that have no URL.
        case bytes([UInt8], name: String, number: Int)
    }

    let place: Place
    let options: ImageRequest.Options
    let variantKey: CacheKey
    /// Whether the picture is wanted unchanged: no size, transformers or decoding options change its pixels.
    let isPlain: Bool
    /// Whether the keys and the downloader's settings fully identify the user.
    let isSteady: Bool
    /// Whether the request accepts the usual answers: it sets neither acceptable statuses nor acceptable content types.
    let takesUsualAnswers: Bool
    /// Made at once if the keys need it, otherwise at its first use: a picture in memory is found by the variant key
    /// alone.
    private let lazyOrigin: LazyReference<RequestOrigin>

    /// Consumes both arguments, so that making a request only to look it up in memory copies neither.
    init(_ place: consuming Place, _ options: consuming ImageRequest.Options) {
        isPlain = options.makesNothing
        takesUsualAnswers = options.takesUsualAnswers
        if case .url(let url) = copy place, options.namesNothing, DownloadRequest.isPlain(url) {
            variantKey = Self.variantKey(url, options, isPlain)
            isSteady = true
            lazyOrigin = LazyReference()
        } else {
            let origin = RequestOrigin(copy place, copy options)
            variantKey = Self.variantKey(origin.key.text, options, isPlain)
            isSteady = origin.isSteady
            lazyOrigin = LazyReference(origin)
        }
        self.place = place
        self.options = options
    }

    /// - Parameter other: storage with the same place, download options and cache key.
    private init(_ options: ImageRequest.Options, from other: ImageRequestStorage, changesKeys: Bool) {
        place = other.place
        self.options = options
        isPlain = changesKeys ? options.makesNothing : other.isPlain
        takesUsualAnswers = options.takesUsualAnswers
        isSteady = other.isSteady
        variantKey = changesKeys ? Self.variantKey(other.origin.key.text, options, isPlain) : other.variantKey
        lazyOrigin = LazyReference(other.origin)
    }

    /// - Parameter download: the request to the downloader for this place.
    private init(_ place: Place, _ options: ImageRequest.Options, _ download: DownloadRequest) {
        self.place = place
        self.options = options
        isPlain = options.makesNothing
        takesUsualAnswers = options.takesUsualAnswers
        let origin = RequestOrigin(download, named: options.caching.key)
        variantKey = Self.variantKey(origin.key.text, options, isPlain)
        isSteady = origin.isSteady
        lazyOrigin = LazyReference(origin)
    }

    private static func variantKey(_ original: String, _ options: ImageRequest.Options, _ isPlain: Bool) -> CacheKey {
        if isPlain || options.makesSizeOnly { return CacheKey(original: original, ofSizeOnly: options.size) }
        return CacheKey(original: original, variant: PictureKey(options.recipe).text)
    }

    private var origin: RequestOrigin { lazyOrigin.value { RequestOrigin(place, options) } }

    /// The request to the downloader; an error if ``url`` is not a valid URL.
    var download: Result<ResolvedRequest, WebImageError> { origin.download }
    var originalKey: CacheKey { origin.key }

    var url: String {
        switch place {
        case .url(let text), .path(let text): text
        case .bytes(_, _, let number): RequestIdentity.url(ofBytes: number)
        }
    }

    /// A copy with other options. If only options that concern the picture or the caches have changed, the URL is not
    /// parsed again, and a request that was resolved for its load stays resolved.
    ///
    /// - Parameter changesKeys: false if no key depends on the changed options.
    func with(_ options: ImageRequest.Options, changesKeys: Bool = true) -> ImageRequestStorage {
        // Hooks are equal if their names are, but may do different things, unless they are the very same.
        let isDownloadedAlike =
            options.downloading.isSame(as: self.options.downloading)
            || options.downloading == self.options.downloading && !options.http.hasHooks
        if !changesKeys || isDownloadedAlike && options.caching.key == self.options.caching.key {
            return ImageRequestStorage(options, from: self, changesKeys: changesKeys)
        }
        return ImageRequestStorage(place, options)
    }

    /// A copy with a changed request to the downloader.
    func with(_ change: (inout DownloadRequest) -> Void) -> ImageRequestStorage {
        // A URL that the downloader cannot load may be one for a custom loader.
        var download = (try? download.get())?.request ?? DownloadRequest(place, options)
        change(&download)
        var options = options
        options.downloading = download.settings
        return ImageRequestStorage(place, options, download)
    }
}

/// The part of a request that is the same for all pictures that are made from one original.
private final class RequestOrigin: Sendable {
    let download: Result<ResolvedRequest, WebImageError>
    let key: CacheKey
    let isSteady: Bool

    convenience init(_ place: ImageRequestStorage.Place, _ options: ImageRequest.Options) {
        self.init(DownloadRequest(place, options), named: options.caching.key)
    }

    init(_ download: DownloadRequest, named name: String?) {
        do throws(WebImageError) {
            let resolved = try ResolvedRequest(download)
            self.download = .success(resolved)
            isSteady = !resolved.dependsOnMore
            key = RequestIdentity.originalKey(of: resolved, named: name)
        } catch {
            self.download = .failure(error)
            isSteady = true
            key = CacheKey(name ?? download.url)
        }
    }
}

extension ImageRequest.Options {
    fileprivate var takesUsualAnswers: Bool {
        downloading.isUntouched || http.acceptableStatuses == nil && http.acceptableContentTypes == nil
    }
}

extension DownloadRequest {
    fileprivate init(_ place: ImageRequestStorage.Place, _ options: ImageRequest.Options) {
        switch place {
        case .url(let url): self.init(url: url)
        case .path(let path): self.init(path: path)
        case .bytes(_, _, let number): self.init(url: RequestIdentity.url(ofBytes: number))
        }
        settings = options.downloading
    }
}
