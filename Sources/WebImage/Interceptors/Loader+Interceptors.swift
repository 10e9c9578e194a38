import Synchronization
import WebImageCore
import WebImageSystem

extension Loader {
    /// Starts the load of a caller of the manager, through the interceptors.
    ///
    /// - Parameters:
    ///   - request: the request as the interceptors have changed it.
    ///   - asksMemory: false if the caller has looked in memory just before.
    func begin(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery, asksMemory: Bool = true
    ) {
        guard hasInterceptors || request.hasRecovery else {
            return start(token, request, delivery, asksMemory: asksMemory)
        }
        if asksMemory, case .ready(let ready) = door.enter(request, by: token.settings),
            answerFromMemory(token, ready, delivery)
        {
            return
        }
        let hasBegun = beginPreliminary(token, delivery) { [self] in
            let load = InterceptedLoad<ImageResponse>(
                proceed: { [self] request throws(WebImageError) in
                    try await self.load(request, for: token, delivery)
                },
                make: { image, failure throws(WebImageError) in
                    ImageResponse(image: image, source: .given, failure: failure)
                }, hasShownCached: { [self] in table.withLock { _ in token.hasShownCached } })
            do throws(WebImageError) {
                var response = try await door.interceptors.run(request, load)
                response.timings.total = clock.now - token.started
                response.tracing?.asked = token.started
                // The load behind the interceptors has been counted already.
                answer(token, response, delivery, isCounted: response.source == .given)
            } catch {
                leave(token, with: error.asked(at: token.started))
            }
        }
        if hasBegun {
            arm(request, of: token, fallback: request.options.fallback)
        } else {
            joinNew(token, request, delivery)
        }
    }

    /// Carries out the load behind the interceptors. The caller gets its progress and previews.
    private func load(
        _ request: ImageRequest, for token: LoadToken, _ delivery: LoadToken.Delivery
    ) async throws(WebImageError) -> ImageResponse {
        let inner = LoadToken(loader: self, request: request, isWatching: token.isWatching)
        let hasLeft = table.withLock { _ in
            // An interceptor may have set a priority of its own, which counts until the caller changes it.
            if token.hasChangedPriority { inner.currentPriority = token.currentPriority }
            // The caller was accepted before the drain.
            inner.isAdmitted = true
            token.inner = inner
            return token.hasEnded
        }
        if hasLeft { throw .cancelled }
        let answer = CancellableAnswer<ImageResponse>()
        start(
            inner, request,
            .callback(
                EventCallback { event in
                    if case .finished(let result) = event { return answer.give(result) }
                    // A load that is tried again would show the same cached picture again.
                    if case .cached = event, self.showsCachedAgain(token) { return }
                    delivery.post(event)
                }))
        do throws(WebImageError) {
            return try await answer.value()
        } catch {
            // If the load has ended by itself, this does nothing.
            inner.cancel()
            throw error
        }
    }

    /// Notes that a caller is shown the cached picture. Returns whether that happened before.
    private func showsCachedAgain(_ token: LoadToken) -> Bool {
        table.withLock { _ in
            defer { token.hasShownCached = true }
            return token.hasShownCached
        }
    }

    /// Passes a load through the interceptors whose answer is not a picture, but bytes or the details of a file.
    func intercepted<Answer: Sendable>(
        _ given: ImageRequest, _ load: @escaping @Sendable (ImageRequest) async throws(WebImageError) -> Answer
    ) async throws(WebImageError) -> Answer {
        let request = changed(given)
        guard door.interceptors.concerns(request) else { return try await load(request) }
        let intercepted = InterceptedLoad(
            proceed: load,
            make: { _, failure throws(WebImageError) in
                throw failure
                    ?? WebImageError(
                        .unsupportedFeature, "an interceptor answers with a picture where its bytes are wanted",
                        location: request.redactedURL)
            })
        guard let timeout = door.timeout(of: request) else {
            return try await door.interceptors.run(request, intercepted)
        }
        let answer = CancellableAnswer<Answer>()
        let work = Task {
            do throws(WebImageError) {
                answer.give(.success(try await door.interceptors.run(request, intercepted)))
            } catch {
                answer.give(.failure(error))
            }
        }
        let alarm = clock.schedule(at: clock.now + timeout) {
            answer.give(.failure(.tookTooLong(timeout, request)))
        }
        defer {
            alarm.cancel()
            work.cancel()
        }
        return try await answer.value()
    }
}
