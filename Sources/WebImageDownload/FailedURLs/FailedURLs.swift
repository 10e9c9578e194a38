import Synchronization
package import WebImageCore
import WebImageSystem

/// Remembers which requests failed, so that they are not repeated at once. Safe to use from any thread; no method
/// blocks.
///
/// A request is remembered with all its properties: the same URL with other credentials, headers, limits or hooks is
/// not blocked, and none is after the downloader's ``DownloadConfiguration`` has changed. Caches are asked first, so that
/// a cached picture is served even though its URL failed.
public final class FailedURLs: Sendable {
    /// How often failures were remembered and had an effect.
    public struct Statistics: Hashable, Sendable {
        /// Failures that were remembered.
        public var remembered = 0
        /// Requests that were not made because of a remembered failure.
        public var refused = 0
    }

    private struct State {
        var table: FailedURLTable
        var policy: FailedURLPolicy
        var statistics = Statistics()
    }

    private let clock: any LoadClock
    private let state: Guarded<State>

    package init(policy: FailedURLPolicy = FailedURLPolicy(), clock: any LoadClock) {
        self.clock = clock
        state = Guarded(State(table: FailedURLTable(policy: policy), policy: policy))
    }

    /// How long URLs that failed are blocked.
    public var policy: FailedURLPolicy { state.withLock { $0.policy } }

    /// Sets the policy for later failures; a lower limit applies at once.
    public func setPolicy(_ policy: FailedURLPolicy) {
        state.withLock { state in
            state.policy = policy
            state.table.setPolicy(policy)
        }
    }

    /// The counters since the object was made.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    // MARK: Around a request

    /// The error with which a request ends without being sent; nil: send it.
    ///
    /// - Parameters:
    ///   - settings: the number of the settings with which it would be sent (``ConfigurationSnapshot/number``).
    ///   - retriesFailed: whether the request is sent in any case.
    ///   - makesPicture: false for a request that wants only the bytes, for which it does not matter whether they are a
    ///   picture.
    ///   - demand: what it must be able to decode. A body that was no picture is asked for again by a request that demands
    ///   less than those that failed.
    package func refusal(
        of request: ResolvedRequest, settings: Int = 0, retriesFailed: Bool, makesPicture: Bool = true,
        demand: DecodeDemand = .whole
    ) -> WebImageError? {
        if retriesFailed || request.isLocal { return nil }
        let now = clock.now
        let failed = state.withLock { state -> FailedURL? in
            guard state.table.follow(settings: settings) else { return nil }
            let failed = state.table.failure(of: request.key, at: now)
            if failed?.error.code == .badImageData {
                let known = state.table.demand(of: request.key) ?? .whole
                if !makesPicture || demand.mayDo(where: known) { return nil }
            }
            if failed != nil { state.statistics.refused += 1 }
            return failed
        }
        guard let failed else { return nil }
        let rest = max(failed.remaining, .seconds(1)).inWords
        return WebImageError(
            .blockedURL,
            "this URL failed (\(failed.error.code.name)), and is asked again in \(rest) or with the option retriesFailed",
            cause: failed.error, location: request.shown, status: failed.error.status)
    }

    /// Records that a request was sent and failed.
    ///
    /// - Parameters:
    ///   - settings: the number of the settings with which it was sent.
    ///   - retryAfter: the delay in the answer's `Retry-After`.
    ///   - demand: what it could not decode.
    package func failed(
        _ request: ResolvedRequest, _ error: WebImageError, settings: Int = 0, retryAfter: Duration? = nil,
        demand: DecodeDemand = .whole
    ) {
        if request.isLocal { return }
        // The policy may hold a closure of the user's, which must not be called under the lock.
        let lifetime = policy.lifetime(of: error, url: request.shown, retryAfter: retryAfter)
        // A failure that says nothing about the URL does not change its entry: it is not a success either.
        guard lifetime > .zero else { return }
        let now = clock.now
        state.withLock { state in
            guard state.table.follow(settings: settings) else { return }
            state.table.failed(
                request.key, url: request.shown, error, demand, lifetime: lifetime, at: now)
            state.statistics.remembered += 1
        }
    }

    /// Records that a request was sent and succeeded.
    package func succeeded(_ request: ResolvedRequest) { remove(request) }

    // MARK: For the user

    /// Lists all URLs that are blocked now, the longest remaining time first.
    public func list() -> [FailedURL] {
        let now = clock.now
        return state.withLock { $0.table.list(at: now) }
    }

    /// - Returns: whether there was an entry.
    @discardableResult
    package func remove(_ request: ResolvedRequest) -> Bool {
        state.withLock { $0.table.remove(request.key) }
    }

    /// Forgets a URL, for all requests and users (SDWebImage's `removeFailedURL:`).
    ///
    /// - Parameter url: the URL of the request; user, password and fragment are ignored.
    /// - Returns: whether it was remembered.
    @discardableResult
    public func remove(_ url: String) -> Bool {
        let normal = (try? DownloadSource(url))?.text ?? url
        return state.withLock { $0.table.remove(url: normal) }
    }

    /// Forgets all failures.
    public func removeAll() { state.withLock { $0.table.removeAll() } }
}
