import WebImageCodecs
import WebImageCore
import WebImageDownload

/// All that a request says.
struct ImageRequestFields: Sendable {
    /// Or a path.
    let url: String
    /// What is made of the bytes.
    var recipe = PictureRecipe()
    var sizePrecision = SizePrecision.exact
    var includesData = false
    var retriesFailed = false
    var cachePolicy = CachePolicy.cacheFirst
    var caching = CacheUse()
    var cacheSerializer: CacheSerializer?
    var priority = LoadPriority.normal
    var timeout: Duration?
    var cacheKey: String?
    /// With the request's own headers, credentials, trust and limits.
    var download: DownloadRequest
    var inlineData: [UInt8]?
    var inlineName: String?

    init(url: String) {
        self.url = url
        download = DownloadRequest(url: url)
    }

    init(path: String) {
        url = path
        download = DownloadRequest(path: path)
    }
}

/// What copies of a request share: its fields, and what follows from them. Never changes.
final class ImageRequestStorage: Sendable {
    let fields: ImageRequestFields
    /// What is asked of the downloader; an error for what is no URL.
    let download: Result<ResolvedRequest, WebImageError>
    let originalKey: CacheKey
    let variantKey: CacheKey
    /// Whether it says nothing of its own of which answers it takes.
    let takesUsualAnswers: Bool
    /// Whether its keys and the downloader's settings say all of who asks.
    let isSteady: Bool

    init(_ fields: ImageRequestFields) {
        self.fields = fields
        takesUsualAnswers =
            fields.download.acceptableStatuses == nil && fields.download.acceptableContentTypes == nil
        do throws(WebImageError) {
            let resolved = try ResolvedRequest(fields.download)
            download = .success(resolved)
            isSteady = !resolved.dependsOnMore
            originalKey = RequestIdentity.originalKey(of: resolved, named: fields.cacheKey)
        } catch {
            download = .failure(error)
            isSteady = true
            originalKey = CacheKey(fields.cacheKey ?? fields.url)
        }
        variantKey = originalKey.variant(PictureKey(fields.recipe).text)
    }

    /// - Parameter other: of a request that differs in nothing that keys and download depend on.
    init(_ fields: ImageRequestFields, keysOf other: ImageRequestStorage) {
        self.fields = fields
        download = other.download
        originalKey = other.originalKey
        variantKey = other.variantKey
        takesUsualAnswers = other.takesUsualAnswers
        isSteady = other.isSteady
    }
}
