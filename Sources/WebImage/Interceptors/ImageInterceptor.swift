public import WebImageCore

/// Code between the callers of a manager and its loads. An interceptor can change a request, answer it itself, delay
/// it, try something else when it fails, or refuse it.
///
///     struct OnlyOurs: ImageInterceptor {
///         func intercept<Answer>(
///             _ request: ImageRequest, _ load: InterceptedLoad<Answer>
///         ) async throws(WebImageError) -> Answer {
///             guard request.url.hasPrefix("https://example.com/") else {
///                 throw WebImageError(.requestRefused, "pictures come from example.com only")
///             }
///             return try await load(request)
///         }
///     }
///
/// A manager's interceptors (``ImageManager/Configuration/interceptors``) are called in order, the first one outermost,
/// for every kind of call. They are called for each caller separately: a caller that waits does not make others wait.
/// Loads are shared behind the interceptors.
public protocol ImageInterceptor: Sendable {
    /// Changes a request before anything is looked up, even in memory (``ImageManager/cachedImage(for:)``). It is
    /// called for each call on the caller's thread: it must be quick, and make the same change for the same request.
    /// Default: changes nothing.
    func change(_ request: inout ImageRequest)

    /// Wraps a load. It is not called for a picture that is in memory. It is cancelled with its caller. Default: loads
    /// the request.
    ///
    /// - Parameters:
    ///   - request: the request after the interceptors before this one.
    ///   - load: the next interceptor, or the load; may be called several times, or not at all.
    /// - Throws: the error of the load.
    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer
}

extension ImageInterceptor {
    public func change(_ request: inout ImageRequest) {}

    public func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer { try await load(request) }
}

/// The load behind an interceptor. Its answer is a picture, its bytes, or its header, depending on the caller.
public struct InterceptedLoad<Answer: Sendable>: Sendable {
    let proceed: @Sendable (ImageRequest) async throws(WebImageError) -> Answer
    /// Makes the answer from a picture that was not loaded.
    let make: @Sendable (Image, WebImageError?) throws(WebImageError) -> Answer
    /// Whether the caller has been shown a picture from the caches, which may stay if the load fails.
    var hasShownCached: @Sendable () -> Bool = { false }

    /// Continues with the next interceptor, and finally with the load.
    ///
    /// - Throws: the error of the load; `cancelled` when the caller has cancelled.
    public func callAsFunction(_ request: ImageRequest) async throws(WebImageError) -> Answer {
        try await proceed(request)
    }

    /// Makes an answer from a picture, with the source ``ImageSource/given``. The picture is not cached.
    ///
    /// - Parameters:
    ///   - image: the picture that the caller gets.
    ///   - failure: the error because of which the picture replaces another one (``ImageResponse/failure``).
    /// - Throws: `unsupportedFeature` if the caller wants bytes, not a picture.
    public func answer(with image: Image, inPlaceOf failure: WebImageError? = nil) throws(WebImageError) -> Answer {
        try make(image, failure)
    }
}

/// Changes each request of a manager with a closure: for example to limit sizes, to set the keys under which originals
/// are cached, or to add transformers to requests that have none.
///
///     configuration.interceptors = [
///         RequestRule { request in
///             if request.transformers.isEmpty { request.transformers = [.roundCorners(8)] }
///         }
///     ]
public struct RequestRule: ImageInterceptor {
    private let rule: @Sendable (inout ImageRequest) -> Void

    /// - Parameter rule: changes a request, like ``ImageInterceptor/change(_:)``.
    public init(_ rule: @escaping @Sendable (inout ImageRequest) -> Void) { self.rule = rule }

    public func change(_ request: inout ImageRequest) { rule(&request) }
}
