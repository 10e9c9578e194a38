import HTTPTypes

/// RFC 9111 section 4.2.
extension HTTPCacheRules {
    /// How far the clock may go back before it counts as having been set back.
    private static let clockSlack: Int64 = 60

    /// For how many seconds the answer is still fresh; if negative, for how long it has been stale.
    func remaining(_ stored: StoredResponse, now: Int64) -> Int64 {
        // The clock was set back, so the age is unknown.
        if stored.responseTime.subtracting(now) > Self.clockSlack { return -DeltaSeconds.most }
        let own = lifetime(of: stored).subtracting(age(of: stored, now: now))
        // The lifetime of the redirects counts from the time when they were followed.
        guard let redirects = stored.redirectLifetime else { return own }
        return min(own, redirects.subtracting(residence(of: stored, now: now)))
    }

    /// How long the redirects that led to a stored answer may still be reused; as ``StoredResponse/redirectLifetime``.
    package func redirectLifetime(of stored: StoredResponse, now: Int64) -> Int64? {
        guard let lifetime = stored.redirectLifetime, lifetime > 0 else { return stored.redirectLifetime }
        let left = lifetime.subtracting(residence(of: stored, now: now))
        return left > 0 ? left : StoredResponse.mustFollowRedirects
    }

    /// How long the answer has been stored here.
    private func residence(of stored: StoredResponse, now: Int64) -> Int64 {
        max(0, now.subtracting(stored.responseTime))
    }

    private func staleness(of stored: StoredResponse, now: Int64) -> Int64 {
        Int64(0).subtracting(remaining(stored, now: now))
    }

    /// The age by section 4.2.3, in seconds.
    package func age(of stored: StoredResponse, now: Int64) -> Int64 {
        let apparent = max(0, stored.responseTime.subtracting(stored.date))
        let delay = max(0, stored.responseTime.subtracting(stored.requestTime))
        let corrected = (DeltaSeconds.age(stored["age"]) ?? 0).adding(delay)
        return max(apparent, corrected).adding(residence(of: stored, now: now))
    }

    /// The lifetime by section 4.2.1, in seconds.
    func lifetime(of stored: StoredResponse) -> Int64 {
        statedLifetime(of: stored) ?? heuristicLifetime(of: stored)
    }

    /// The lifetime that the origin states; nil if it states none.
    func statedLifetime(of stored: StoredResponse) -> Int64? {
        (isShared ? stored.control.sharedMaxAge : nil) ?? stored.control.maxAge ?? expiry(of: stored)
    }

    /// The time in `Expires`; an invalid date is in the past (section 5.3).
    private func expiry(of stored: StoredResponse) -> Int64? {
        guard let expires = stored["expires"] else { return nil }
        guard let moment = HTTPTimestamp(expires, now: stored.responseTime) else { return 0 }
        return max(0, moment.seconds.subtracting(stored.date))
    }

    func heuristicLifetime(of stored: StoredResponse) -> Int64 {
        guard Self.understood.contains(stored.status) || stored.control.isPublic, let changed = stored.lastModified
        else { return 0 }
        let unchanged = min(max(0, stored.date.subtracting(changed.seconds)), DeltaSeconds.most)
        // Multiplies first: a tenth of a minute is 6 s. 68 years by 100 % and more do not overflow.
        return min(unchanged * min(max(heuristicPercent, 0), 1_000_000) / 100, max(heuristicLimit, 0))
    }

    /// Whether the redirects that led to the answer must be followed again. The answer's own permission to be served
    /// stale does not extend to them.
    func mustFollowAgain(_ stored: StoredResponse, now: Int64) -> Bool {
        stored.redirectLifetime.map { $0 <= residence(of: stored, now: now) } ?? false
    }

    /// Whether the origin must be asked before the answer is used, fresh or not (section 5.2.2.4).
    func mustBeAsked(_ stored: StoredResponse) -> Bool {
        switch stored.control.noCache {
        case .nothing: false
        case .everything: true
        // The fields that the directive names, such as Set-Cookie, may not be stored.
        case .fields(let names): names.contains { stored[$0] != nil }
        }
    }

    /// Whether the entry may be served if the origin fails (RFC 5861 section 4).
    func mayStandIn(_ stored: StoredResponse, for request: CacheRequest, now: Int64) -> Bool {
        let control = stored.control
        guard !forbidsStaleness(control), !mustBeAsked(stored), !mustFollowAgain(stored, now: now),
            request.control.noCache == .nothing
        else { return false }
        let grace = max(control.staleIfError ?? 0, request.control.staleIfError ?? 0, staleIfError)
        return grace > 0 && staleness(of: stored, now: now) <= grace
    }

    /// How long the head of an answer with an error status lets the answer be reused; nil: it does not say.
    ///
    /// - Parameter now: seconds since 1970.
    static func lifetime(ofFailure head: ResponseHead, now: Int64) -> Duration? {
        let rules = HTTPCacheRules(digest: { $0 })
        let stored = StoredResponse(head, requestTime: now, responseTime: now)
        if stored.control.noStore || rules.mustBeAsked(stored) { return .zero }
        return rules.statedLifetime(of: stored).map {
            .seconds(max($0.subtracting(rules.age(of: stored, now: now)), 0))
        }
    }

    /// How long the redirects on the way to an answer may be reused, in seconds; nil if without limit, 0 if one of them
    /// states no lifetime, ``StoredResponse/mustFollowRedirects`` if one of them may not be reused at all.
    ///
    /// - Parameters:
    ///   - heads: the redirects in order.
    ///   - requestTime: when the first request was sent, in seconds since 1970.
    package func redirectLifetime(_ heads: [ResponseHead], requestTime: Int64, responseTime: Int64) -> Int64? {
        var shortest: Int64?
        for head in heads {
            let stored = StoredResponse(head, requestTime: requestTime, responseTime: responseTime)
            shortest = min(shortest ?? .max, redirectLifetime(stored) ?? .max)
        }
        return shortest == .max ? nil : shortest
    }

    private func redirectLifetime(_ redirect: StoredResponse) -> Int64? {
        let isForNobodyElse = VaryRule(redirect["vary"]) == .never
        if isForNobodyElse || forbidsStoring(redirect.control, status: redirect.status) || mustBeAsked(redirect) {
            return StoredResponse.mustFollowRedirects
        }
        let stated = statedLifetime(of: redirect)
        if stated == nil, redirect.status == 301 || redirect.status == 308 { return nil }
        let age = age(of: redirect, now: redirect.responseTime)
        let left = (stated ?? heuristicLifetime(of: redirect)).subtracting(age)
        return left > 0 ? left : stated == nil ? 0 : StoredResponse.mustFollowRedirects
    }
}

extension StoredResponse {
    /// The part of a head that is stored, without anything of the request.
    init(_ head: ResponseHead, keeping kept: KeptHeaders = .standard, requestTime: Int64, responseTime: Int64) {
        self.init(
            status: head.status, fields: kept.fields(of: head), requestTime: requestTime, responseTime: responseTime)
    }
}
