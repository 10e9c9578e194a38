public import WebImageCore

/// Stands between the callers of a manager and its loads: it may change what is asked for, answer in the load's place, let it
/// wait, try something else when it fails, or refuse it.
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
/// A manager's interceptors (``ImageManager/Configuration/interceptors``) are asked in their order, the first one outermost, for
/// every kind of call. Each caller has a pass of its own: one that waits makes no other caller wait. What several callers
/// want is shared behind the interceptors.
public protocol ImageInterceptor: Sendable {
    /// Changes a request before anything is looked up, also in memory (``ImageManager/cachedImage(for:)``). Called for each call,
    /// on the caller's thread: it must be quick, and give the same for the same request. Default: changes nothing.
    func change(_ request: inout ImageRequest)

    /// Stands around a load. A picture that memory has is answered without it. Cancelled with the caller. Default: loads.
    ///
    /// - Parameters:
    ///   - request: as the interceptors before this one have made it.
    ///   - load: what comes next; may be called several times, or not at all.
    /// - Throws: what the load ends in.
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

/// The load behind an interceptor: a picture, its bytes, or what its file says of itself, whichever the caller wants.
public struct InterceptedLoad<Answer: Sendable>: Sendable {
    let proceed: @Sendable (ImageRequest) async throws(WebImageError) -> Answer
    /// Makes the answer of a picture that no load brings.
    let make: @Sendable (Image, WebImageError?) throws(WebImageError) -> Answer

    /// Goes on: to the next interceptor, and at last to the load.
    ///
    /// - Throws: what it ends in; `cancelled` when the caller has left.
    public func callAsFunction(_ request: ImageRequest) async throws(WebImageError) -> Answer {
        try await proceed(request)
    }

    /// The answer that this picture makes (``ImageSource/given``). It is not cached.
    ///
    /// - Parameters:
    ///   - image: what the caller gets.
    ///   - failure: why it stands for another one (``ImageResponse/failure``).
    /// - Throws: `unsupportedFeature` where the caller wants bytes, not a picture.
    public func answer(with image: Image, inPlaceOf failure: WebImageError? = nil) throws(WebImageError) -> Answer {
        try make(image, failure)
    }
}

/// Changes each request of a manager by a closure: a size that no request may go beyond, names under which originals are cached,
/// transformers for requests that have none.
///
///     configuration.interceptors = [
///         RequestRule { request in
///             if request.transformers.isEmpty { request.transformers = [.roundCorners(8)] }
///         }
///     ]
public struct RequestRule: ImageInterceptor {
    private let rule: @Sendable (inout ImageRequest) -> Void

    /// - Parameter rule: as ``ImageInterceptor/change(_:)``.
    public init(_ rule: @escaping @Sendable (inout ImageRequest) -> Void) { self.rule = rule }

    public func change(_ request: inout ImageRequest) { rule(&request) }
}
