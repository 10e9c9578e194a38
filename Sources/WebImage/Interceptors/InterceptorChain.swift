import HTTPTypes
import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// A manager's interceptors, in their order. After them, a request's own options for loads that fail are applied.
struct InterceptorChain: Sendable {
    private let interceptors: [any ImageInterceptor]
    private let recovery: FailureRecovery

    /// - Parameter secrets: the headers that are sent only to the origin of the request's own URL.
    init(
        _ interceptors: [any ImageInterceptor], clock: any LoadClock,
        secrets: @escaping @Sendable () -> Set<HTTPField.Name> = { [] }
    ) {
        self.interceptors = interceptors
        recovery = FailureRecovery(clock: clock, secrets: secrets)
    }

    /// Ends the loads that wait for a network that cannot be reached, now and later, with `shutDown`. Loads that are
    /// marked to finish when the manager is drained go on.
    func endWaitsForNetwork() { recovery.waits.endAll() }

    /// Whether a load passes through interceptors, or has options for its failure.
    func concerns(_ request: ImageRequest) -> Bool { !interceptors.isEmpty || request.hasRecovery }

    var isEmpty: Bool { interceptors.isEmpty }

    /// The request as the interceptors change it before anything is looked up.
    func changed(_ request: ImageRequest) -> ImageRequest {
        var changed = request
        for interceptor in interceptors { interceptor.change(&changed) }
        return changed
    }

    /// Carries out a load through all interceptors.
    func run<Answer: Sendable>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        try await run(request, from: 0, load)
    }

    private func run<Answer: Sendable>(
        _ request: ImageRequest, from index: Int, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        guard index < interceptors.count else {
            return request.hasRecovery ? try await recovery.load(request, load) : try await load(request)
        }
        let next = InterceptedLoad<Answer>(
            proceed: { request throws(WebImageError) in
                if Task.isCancelled { throw .cancelled }
                return try await run(request, from: index + 1, load)
            }, make: load.make, hasShownCached: load.hasShownCached)
        return try await interceptors[index].intercept(request, next)
    }
}

extension ImageRequest {
    /// Whether the request has options for a load that fails.
    var hasRecovery: Bool {
        !options.alternatives.isEmpty || options.fallback != nil || options.waitsForNetwork != nil
    }

    /// The request for the same picture at another URL. Nothing that identifies the user is sent to another origin.
    fileprivate func at(_ url: String, secrets: Set<HTTPField.Name>) -> ImageRequest {
        var options = options
        options.alternatives = []
        options.caching.key = nil
        if (try? WebURL(self.url).origin) != (try? WebURL(url).origin) {
            for name in secrets { options.http.headers[name] = nil }
            options.http.credentials = nil
            options.http.credentialProvider = nil
            options.http.tls?.clientCertificate = nil
        }
        return ImageRequest(.url(url), options)
    }
}

/// A request's options for a load that fails: it waits for the network, tries alternative URLs, or returns a fallback.
private struct FailureRecovery: Sendable {
    /// The waits between two tries while the network cannot be reached. They begin with the first, and double up to the
    /// last.
    private static let waits = (first: Duration.seconds(1), last: Duration.seconds(30))

    let clock: any LoadClock
    let secrets: @Sendable () -> Set<HTTPField.Name>
    let waits = NetworkWaits()

    func load<Answer: Sendable>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        let end = request.options.waitsForNetwork.map { clock.now + $0 }
        var failure: WebImageError
        do throws(WebImageError) {
            return try await patiently(request, until: end, load)
        } catch {
            failure = error
        }
        /// The caller has a picture, which could only not be checked.
        func hasPicture() -> Bool { failure.leavesCachedPicture && load.hasShownCached() }
        for url in request.options.alternatives where failure.code != .cancelled && !hasPicture() {
            do throws(WebImageError) {
                return try await patiently(request.at(url, secrets: secrets()), until: end, load)
            } catch {
                failure = error
            }
        }
        guard let fallback = request.options.fallback, failure.code != .cancelled, !hasPicture() else { throw failure }
        return try load.answer(with: fallback, inPlaceOf: failure)
    }

    /// Tries again while the network cannot be reached.
    ///
    /// - Parameter end: when the waits of all the load's URLs end; nil: it does not wait.
    private func patiently<Answer: Sendable>(
        _ request: ImageRequest, until end: Duration?, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        guard let end else { return try await load(request) }
        var wait = Self.waits.first
        var request = request
        while true {
            do throws(WebImageError) {
                return try await load(request)
            } catch {
                guard error.isOfNetwork, clock.now < end else { throw error }
            }
            let isMarked = request.options.http.finishesWhenDrained
            try await waits.wait(until: min(clock.now + wait, end), clock, endsEarly: !isMarked)
            wait = min(wait * 2, Self.waits.last)
            // The URL may be blocked after its failure, and must be requested nevertheless.
            request.options.retriesFailed = true
        }
    }
}

/// The waits for a network that cannot be reached. A drain or shutdown ends them early.
private final class NetworkWaits: Sendable {
    private struct State {
        var isOver = false
        var answers: [ObjectIdentifier: CancellableAnswer<Void>] = [:]
    }

    private let state = Guarded(State())

    /// - Parameter endsEarly: whether ``endAll()`` ends this wait.
    /// - Throws: `shutDown` after ``endAll()``; `cancelled`.
    func wait(until time: Duration, _ clock: any LoadClock, endsEarly: Bool) async throws(WebImageError) {
        let answer = CancellableAnswer<Void>()
        let isOver = state.withLock { state in
            if endsEarly, !state.isOver { state.answers[ObjectIdentifier(answer)] = answer }
            return endsEarly && state.isOver
        }
        if isOver { throw LoadTable.shutDownError }
        let alarm = clock.schedule(at: time) { answer.give(.success(())) }
        defer {
            alarm.cancel()
            state.withLock { $0.answers[ObjectIdentifier(answer)] = nil }
        }
        try await answer.value()
    }

    func endAll() {
        let answers = state.withLock { state in
            state.isOver = true
            defer { state.answers = [:] }
            return Array(state.answers.values)
        }
        for answer in answers { answer.give(.failure(LoadTable.shutDownError)) }
    }
}

extension WebImageError {
    /// Whether the error means that the network or the origin cannot be reached, and not that the origin has answered.
    var isOfNetwork: Bool {
        [.dnsFailed, .connectionRefused, .connectTimeout, .connectionLost, .circuitOpen].contains(code)
    }
}
