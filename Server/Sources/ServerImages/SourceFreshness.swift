import ServerGrammar
public import WebImage

/// How long a source is fresh, and its validators (RFC 9111, section 4.2).
public struct SourceFreshness: Hashable, Sendable {
    /// Seconds since 1970.
    public var freshUntil: Int
    /// Whether a stale result must never be served without asking (`no-cache`, `must-revalidate`, `no-store`).
    public var mustRevalidate = false
    /// Whether nothing may be stored (`no-store`).
    public var forbidsStoring = false
    public var eTag: String?
    public var lastModified: String?
    /// The origin's own `Cache-Control`.
    public var cacheControl: String?
    /// The time in the origin's `Expires`; seconds since 1970.
    public var expires: Int?
    /// When the origin made its answer, according to `Date` and `Age`; seconds since 1970.
    public var madeAt: Int

    public init(freshUntil: Int, madeAt: Int = 0) { (self.freshUntil, self.madeAt) = (freshUntil, madeAt) }

    /// - Parameters:
    ///   - head: the head of the origin's answer.
    ///   - now: seconds since 1970.
    ///   - fallback: the lifetime in seconds for answers and redirects that state none.
    ///   - guesses: whether the lifetime is estimated from `Last-Modified` (section 4.2.2).
    public init(_ head: ResponseHead, now: Int, fallback: Int, guesses: Bool = true) {
        let said = SharedFreshness(head, now: now)
        let stated = said.lifetime ?? (guesses ? said.heuristicLifetime : nil) ?? fallback
        let lifetime = said.mustBeAsked || said.forbidsStoring ? 0 : min(stated, 31_536_000)
        var remaining = max(lifetime - said.age, 0)
        switch said.redirects {
        case .unlimited: break
        case .unstated: remaining = min(remaining, fallback)
        case .limited(let seconds): remaining = min(remaining, seconds)
        }
        self.init(freshUntil: now + remaining, madeAt: now - said.age)
        eTag = head[.eTag]
        lastModified = head[.lastModified].flatMap { HTTPFieldText.date($0, now: now) == nil ? nil : $0 }
        cacheControl = head[.cacheControl]
        mustRevalidate = said.forbidsStaleness
        forbidsStoring = said.forbidsStoring
        expires = said.expires
    }

    /// Why a stale result is served.
    enum StaleUse {
        /// It is renewed meanwhile.
        case renewal
        /// The origin fails.
        case failure
    }

    /// Whether a stale result may be served.
    ///
    /// - Parameter most: for how many seconds at most; less if the origin says so.
    func mayBeServed(for use: StaleUse, now: Int, most: Int) -> Bool {
        if mustRevalidate { return false }
        guard let cacheControl else { return now - freshUntil < most }
        let said = SharedFreshness([.cacheControl: cacheControl], arrivedAt: now)
        let stated = use == .renewal ? said.staleWhileRevalidate : said.staleIfError
        return now - freshUntil < min(most, stated ?? most)
    }

    /// Whether both are the same version of the source. False without validators.
    ///
    /// - Parameter isSentAgain: whether the origin has sent the whole source again instead of confirming it. Only a
    ///   strong tag then proves that nothing has changed (RFC 9111, section 4.3.3).
    func isSameVersion(as other: SourceFreshness, isSentAgain: Bool) -> Bool {
        if let eTag, let theirs = other.eTag { return eTag == theirs && !(isSentAgain && eTag.hasPrefix("W/")) }
        if let lastModified, let theirs = other.lastModified, eTag == nil, other.eTag == nil {
            return lastModified == theirs && !isSentAgain
        }
        return false
    }
}
