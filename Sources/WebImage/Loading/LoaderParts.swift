import WebImageDownload

/// The parts from which a loader is made.
struct LoaderParts {
    let cache: ImageCache
    var foreign: ForeignCache?
    let downloader: ImageDownloader
    let failedURLs: FailedURLs
    let decoding: DecodeService
    let observer: LoadObserver
    var rules = HTTPCacheRules.standard
    var defaults = LoadDefaults()
    var interceptors: [any ImageInterceptor] = []
}
