import WebImageCore
import WebImageDownload

/// What copies of a request share: what it says, and what follows from that. Never changes.
final class ImageRequestStorage: Sendable {
    /// Where the bytes are.
    enum Place: Hashable, Sendable {
        case url(String)
        case path(String)
        /// There already. The number tells apart those that have no URL.
        case bytes([UInt8], name: String, number: Int)
    }

    let place: Place
    let options: ImageRequest.Options
    let variantKey: CacheKey
    /// Whether it wants the picture as its original has it.
    let isPlain: Bool
    /// Whether its keys and the downloader's settings say all of who asks.
    let isSteady: Bool
    /// Whether it says nothing of its own of which answers it takes.
    let takesUsualAnswers: Bool
    /// Made at once where the keys need it, else at first use: who has the picture in memory needs no more than its key.
    private let lazyOrigin: LazyReference<RequestOrigin>

    /// Takes both over: a request that is made anew for a look into the memory cache copies neither.
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

    /// - Parameter other: has the same place and is downloaded in the same way under the same name.
    private init(_ options: ImageRequest.Options, from other: ImageRequestStorage, changesKeys: Bool) {
        place = other.place
        self.options = options
        isPlain = changesKeys ? options.makesNothing : other.isPlain
        takesUsualAnswers = options.takesUsualAnswers
        isSteady = other.isSteady
        variantKey = changesKeys ? Self.variantKey(other.origin.key.text, options, isPlain) : other.variantKey
        lazyOrigin = LazyReference(other.origin)
    }

    /// - Parameter download: of this place.
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
        let recipe = options.recipe
        if isPlain || recipe.isOfSizeOnly { return CacheKey(original: original, ofSizeOnly: recipe.size) }
        return CacheKey(original: original, variant: PictureKey(recipe).text)
    }

    private var origin: RequestOrigin { lazyOrigin.value { RequestOrigin(place, options) } }

    /// What is asked of the downloader; an error for what is no URL.
    var download: Result<ResolvedRequest, WebImageError> { origin.download }
    var originalKey: CacheKey { origin.key }

    var url: String {
        switch place {
        case .url(let text), .path(let text): text
        case .bytes(_, _, let number): RequestIdentity.url(ofBytes: number)
        }
    }

    /// The same with other options. Where they concern only what is made of the bytes, the URL is not parsed anew.
    ///
    /// - Parameter changesKeys: false for options that no key depends on.
    func with(_ options: ImageRequest.Options, changesKeys: Bool = true) -> ImageRequestStorage {
        let isDownloadedAlike = options.downloading == self.options.downloading && !options.http.hasHooks
        if !changesKeys || isDownloadedAlike && options.caching.key == self.options.caching.key {
            return ImageRequestStorage(options, from: self, changesKeys: changesKeys)
        }
        return ImageRequestStorage(place, options)
    }

    /// The same, asked of the downloader in another way.
    func with(_ change: (inout DownloadRequest) -> Void) -> ImageRequestStorage {
        // What the downloader cannot load may be something for a loader.
        var download = (try? download.get())?.request ?? DownloadRequest(place, options)
        change(&download)
        var options = options
        options.downloading = download.settings
        return ImageRequestStorage(place, options, download)
    }
}

/// What of a request is the same for all pictures that are made of one original.
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
