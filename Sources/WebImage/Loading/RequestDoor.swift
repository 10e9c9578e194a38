import WebImageCore
import WebImageDownload

/// The one door for requests. What a caller gives becomes what is loaded: with what the manager says where the request
/// says nothing, with the loader that takes its URL, and as it is asked now, which its modifier and the jar's cookies may
/// decide. Who may join a load, and which cached picture is good for it, goes by that.
///
/// A load takes one snapshot of the downloader's settings when it comes in, and goes by it to its end.
struct RequestDoor: Sendable {
    enum Entry {
        case ready(ImageRequest)
        /// A modifier must be waited for (``wait(_:by:)``). Until then it is this, for which only what is good for everybody is
        /// good.
        case mustWait(ImageRequest)
    }

    private let downloader: ImageDownloader
    private let defaults: LoadDefaults
    let interceptors: InterceptorChain

    init(_ downloader: ImageDownloader, defaults: LoadDefaults, interceptors: InterceptorChain) {
        self.downloader = downloader
        self.interceptors = interceptors
        self.defaults = defaults
    }

    func enter(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> Entry {
        let request = completed(given, by: settings)
        guard let download = try? request.download.get(), download.isFromWeb else { return .ready(request) }
        switch settings.preparation(of: download) {
        case .notNeeded: return .ready(request)
        case .done(let prepared): return .ready(request.prepared(prepared))
        case .takesTime: return .mustWait(request)
        }
    }

    /// As far as it can be told at once.
    func enterAtOnce(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> ImageRequest {
        switch enter(given, by: settings) {
        case .ready(let request), .mustWait(let request): request
        }
    }

    /// Waits for the modifier where there is one to be waited for.
    func enterWaiting(_ given: ImageRequest, by settings: ConfigurationSnapshot) async -> ImageRequest {
        switch enter(given, by: settings) {
        case .ready(let request): request
        case .mustWait(let request): await wait(request, by: settings)
        }
    }

    /// Waits for the modifier.
    func wait(_ request: ImageRequest, by settings: ConfigurationSnapshot) async -> ImageRequest {
        guard let download = try? request.download.get(),
            let prepared = await downloader.prepare(download, by: settings)
        else { return request }
        return request.prepared(prepared)
    }

    private func completed(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> ImageRequest {
        let request = defaults.applied(to: given)
        guard request.options.http.loader == nil, request.inlineData == nil, !request.isPath,
            let loader = settings.loader(for: request.url)
        else {
            return request
        }
        return request.with {
            $0.options.loader = loader
            $0.hasUsualLoader = true
        }
    }
}

extension ImageRequest {
    fileprivate func prepared(_ prepared: PreparedRequest) -> ImageRequest {
        with { $0.prepared = prepared }
    }
}
