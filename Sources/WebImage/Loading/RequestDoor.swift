import WebImageCore
import WebImageDownload

/// Resolves every request before it is loaded. The resolved request has the manager's defaults, the loader for its URL,
/// and the headers that its modifier and the jar's cookies set now. These decide which loads it may join, and which
/// cached pictures it may get.
///
/// A load takes one snapshot of the downloader's settings here, and uses it until its end.
struct RequestDoor: Sendable {
    enum Entry {
        case ready(ImageRequest)
        /// The modifier must be awaited (``wait(_:by:)``). Until then the request may only get pictures that are for
        /// everybody.
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

    /// How long a load may take, from the call to the answer; nil: as long as it takes.
    func timeout(of request: ImageRequest) -> Duration? { request.options.timeout ?? defaults.timeout }

    func enter(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> Entry {
        let request = completed(given, by: settings)
        guard let download = try? request.download.get(), download.isFromWeb else { return .ready(request) }
        switch settings.preparation(of: download) {
        case .notNeeded: return .ready(request)
        case .done(let prepared): return .ready(request.prepared(prepared))
        case .takesTime: return .mustWait(request)
        }
    }

    /// Resolves a request as far as possible without waiting.
    func enterAtOnce(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> ImageRequest {
        switch enter(given, by: settings) {
        case .ready(let request), .mustWait(let request): request
        }
    }

    /// Resolves a request, and waits for its modifier if it is asynchronous.
    ///
    /// - Parameter end: when to stop waiting; nil: as the downloader's settings say.
    func enterWaiting(
        _ given: ImageRequest, by settings: ConfigurationSnapshot, until end: Duration?
    ) async -> ImageRequest {
        switch enter(given, by: settings) {
        case .ready(let request): request
        case .mustWait(let request): await wait(request, by: settings, until: end)
        }
    }

    /// Waits for the modifier.
    func wait(
        _ request: ImageRequest, by settings: ConfigurationSnapshot, until end: Duration? = nil
    ) async -> ImageRequest {
        guard let download = try? request.download.get(),
            let prepared = await downloader.prepare(download, by: settings, until: end)
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
