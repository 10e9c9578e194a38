import HTTPTypes
import WebImageCore

/// The rules for storing, serving and revalidating answers: RFC 9111 for a private or a shared cache, RFC 5861 and RFC
/// 8246. They map values to decisions, and use neither clock nor cache.
///
/// Three rules hold in every mode: an answer with `no-store` is not stored, an answer that `Vary` binds to another
/// request is not served, and an answer for one user is not served to another, unless it is `public`. The user and the
/// values for `Vary` are those that were actually sent.
package struct HTTPCacheRules: Sendable {
    /// If the origin states no lifetime, an answer is fresh for this percentage of the time since its last change (RFC
    /// 9111 section 4.2.2). Default 10 %.
    package var heuristicPercent: Int64 = 10
    /// The maximum of that lifetime in seconds. Default a day.
    package var heuristicLimit: Int64 = 86_400
    /// For how many seconds a stale entry may be served if the origin fails, unless request or answer state it. Default
    /// 0.
    package var staleIfError: Int64 = 0
    /// Whether the cache serves many users: `private` answers are then not stored, and directives for shared caches are
    /// obeyed.
    package var isShared = false
    /// Replaces values that may be secret (users, and the values of fields that `Vary` names) where they are stored.
    package var digest: @Sendable (String) -> String

    /// The fields of an answer that are stored with its body.
    package var keptHeaders = KeptHeaders.standard

    package init(digest: @escaping @Sendable (String) -> String) { self.digest = digest }

    // MARK: Before the network

    /// Decides how to get the answer to a request.
    ///
    /// - Parameters:
    ///   - stored: the cached entry for the request's key; not needed in modes that read no cache.
    ///   - now: seconds since 1970.
    package func decide(
        _ mode: CacheMode, _ request: CacheRequest, stored: StoredResponse?, now: Int64
    ) -> CacheDecision {
        guard request.isPlainGet else {
            return mode == .cacheOnly ? .fail(Self.miss) : .fetch(exchange(mode, request))
        }
        let usable = mode.readsCache ? stored.flatMap { isFor(request, $0) ? $0 : nil } : nil
        if let usable { return decide(mode, request, usable: usable, now: now) }
        let isCacheOnly = mode == .cacheOnly || (mode.readsCache && request.control.onlyIfCached)
        return isCacheOnly ? .fail(Self.miss) : .fetch(exchange(mode, request))
    }

    private func decide(
        _ mode: CacheMode, _ request: CacheRequest, usable: StoredResponse, now: Int64
    ) -> CacheDecision {
        switch mode {
        case .cacheFirst, .cacheOnly: return .serve(usable)
        case .refresh:
            // RFC 8246: an answer that the origin declared immutable need not be revalidated.
            let isSettled = usable.control.immutable && remaining(usable, now: now) > 0
            if isSettled || request.control.onlyIfCached { return .serve(usable) }
            return .serveAndRevalidate(usable, exchange(mode, request, base: usable, isBackground: true))
        case .revalidate:
            if request.control.onlyIfCached { return .fail(Self.miss) }
            return makeExchange(mode, request, usable)
        case .httpRules: return decideByHTTP(request, usable, now: now)
        case .reload, .reloadFromOrigin, .noStore: return .fetch(exchange(mode, request))
        }
    }

    /// RFC 9111 section 4, with the directives of the request (section 5.2.1).
    private func decideByHTTP(_ request: CacheRequest, _ stored: StoredResponse, now: Int64) -> CacheDecision {
        let wishes = request.control
        let remaining = remaining(stored, now: now)
        let isTooOld = wishes.maxAge.map { age(of: stored, now: now) > $0 } ?? false
        let mustAsk =
            mustBeAsked(stored) || mustFollowAgain(stored, now: now) || wishes.noCache != .nothing || isTooOld
        if !mustAsk, remaining > 0, remaining >= wishes.minFresh ?? 0 { return .serve(stored) }
        let staleness = Int64(0).subtracting(remaining)
        let mayBeStale = !mustAsk && !forbidsStaleness(stored.control) && wishes.minFresh == nil
        if mayBeStale, let most = wishes.maxStale, staleness <= most { return .serve(stored) }
        let mayBeServed = mayBeStale && wishes.maxAge == nil && staleness < stored.control.staleWhileRevalidate ?? 0
        if wishes.onlyIfCached { return mayBeServed ? .serve(stored) : .fail(Self.miss) }
        if mayBeServed {
            return .serveAndRevalidate(stored, exchange(.httpRules, request, base: stored, isBackground: true))
        }
        return makeExchange(.httpRules, request, stored)
    }

    private func makeExchange(_ mode: CacheMode, _ request: CacheRequest, _ stored: StoredResponse) -> CacheDecision {
        let exchange = exchange(mode, request, base: stored)
        return exchange.isConditional ? .revalidate(exchange) : .fetch(exchange)
    }

    private func exchange(
        _ mode: CacheMode, _ request: CacheRequest, base: StoredResponse? = nil, isBackground: Bool = false
    ) -> CacheExchange {
        CacheExchange(
            rules: self, mode: mode, request: request, base: base, isBackground: isBackground,
            asksConditionally: base?.hasValidator ?? false)
    }

    static let miss = WebImageError(
        .cacheMiss, "the request allows only cached answers, and the cache has no entry that fits it")
}

// MARK: - What may be stored at all

extension HTTPCacheRules {
    /// Whether storing is forbidden: by `no-store`, unless the origin means it only for caches that do not understand
    /// the status (RFC 9111 section 5.2.2.3), and in a shared cache by `private`.
    func forbidsStoring(_ control: CacheControl, status: Int) -> Bool {
        if isShared, control.isPrivate { return true }
        return control.noStore && !(control.mustUnderstand && Self.understood.contains(status))
    }

    /// Whether an answer may never be served once it is stale (sections 5.2.2.2, 5.2.2.8 and 5.2.2.10).
    func forbidsStaleness(_ control: CacheControl) -> Bool {
        control.mustRevalidate || isShared && (control.proxyRevalidate || control.sharedMaxAge != nil)
    }

    /// The statuses that may be stored by default (RFC 9110 section 15.1), without 206, which the code for resuming
    /// handles.
    static let understood: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
}
