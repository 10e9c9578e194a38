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
    /// What is asked of the downloader; an error for what is no URL.
    let download: Result<ResolvedRequest, WebImageError>
    let originalKey: CacheKey
    let variantKey: CacheKey
    /// Whether it wants the picture as its original has it.
    let isPlain: Bool
    /// Whether it says nothing of its own of which answers it takes.
    let takesUsualAnswers: Bool
    /// Whether its keys and the downloader's settings say all of who asks.
    let isSteady: Bool

    convenience init(_ place: Place, _ options: ImageRequest.Options) {
        self.init(place, options, Self.download(place, options))
    }

    private init(_ place: Place, _ options: ImageRequest.Options, _ download: DownloadRequest) {
        self.place = place
        self.options = options
        takesUsualAnswers =
            options.http.acceptableStatuses == nil && options.http.acceptableContentTypes == nil
        do throws(WebImageError) {
            let resolved = try ResolvedRequest(download)
            self.download = .success(resolved)
            isSteady = !resolved.dependsOnMore
            originalKey = RequestIdentity.originalKey(of: resolved, named: options.caching.key)
        } catch {
            self.download = .failure(error)
            isSteady = true
            originalKey = CacheKey(options.caching.key ?? download.url)
        }
        isPlain = options.makesNothing
        variantKey = originalKey.variant(isPlain ? PictureKey.plain : PictureKey(options.recipe).text)
    }

    /// - Parameter other: has the same place and is downloaded in the same way under the same name.
    private init(_ options: ImageRequest.Options, from other: ImageRequestStorage, changesKeys: Bool) {
        place = other.place
        self.options = options
        download = other.download
        originalKey = other.originalKey
        isPlain = changesKeys ? options.makesNothing : other.isPlain
        variantKey =
            changesKeys
            ? originalKey.variant(isPlain ? PictureKey.plain : PictureKey(options.recipe).text) : other.variantKey
        takesUsualAnswers = other.takesUsualAnswers
        isSteady = other.isSteady
    }

    var url: String {
        switch place {
        case .url(let text), .path(let text): text
        case .bytes(_, _, let number): "data:,\(number)"
        }
    }

    /// The same with other options. Where they concern only what is made of the bytes, the URL is not parsed anew.
    ///
    /// - Parameter changesKeys: false for options that no key depends on.
    func with(_ options: ImageRequest.Options, changesKeys: Bool = true) -> ImageRequestStorage {
        let isDownloadedAlike = options.http == self.options.http && !options.http.hasHooks
        if !changesKeys || isDownloadedAlike && options.caching.key == self.options.caching.key {
            return ImageRequestStorage(options, from: self, changesKeys: changesKeys)
        }
        return ImageRequestStorage(place, options)
    }

    /// The same, asked of the downloader in another way.
    func with(_ change: (inout DownloadRequest) -> Void) -> ImageRequestStorage {
        // What the downloader cannot load may be something for a loader.
        var download = (try? download.get())?.request ?? Self.download(place, options)
        change(&download)
        var options = options
        options.http = download.options
        return ImageRequestStorage(place, options, download)
    }

    /// What is asked of the downloader.
    private static func download(_ place: Place, _ options: ImageRequest.Options) -> DownloadRequest {
        var download =
            switch place {
            case .url(let url): DownloadRequest(url: url)
            case .path(let path): DownloadRequest(path: path)
            case .bytes(_, _, let number): DownloadRequest(url: "data:,\(number)")
            }
        download.options = options.http
        return download
    }
}

extension ImageRequest.Options {
    /// Whether nothing is made of the picture that a key tells.
    fileprivate var makesNothing: Bool {
        guard size == nil, transformers.isEmpty else { return false }
        var keyed = decoding
        keyed.ownLimits = nil
        keyed.preloadsFrames = false
        keyed.allowsPartial = false
        return keyed == ImageRequest.Decoding()
    }
}
