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
    ///   - headers: the fields of the origin's answer.
    ///   - now: seconds since 1970.
    ///   - fallback: the lifetime in seconds for answers that state none.
    ///   - guesses: whether the lifetime is estimated from `Last-Modified` (section 4.2.2).
    public init(_ headers: HTTPFields, now: Int, fallback: Int, guesses: Bool = true) {
        let said = SharedFreshness(headers, arrivedAt: now)
        let stated = said.lifetime ?? (guesses ? said.heuristicLifetime : nil) ?? fallback
        let lifetime = said.mustBeAsked || said.forbidsStoring ? 0 : min(stated, 31_536_000)
        self.init(freshUntil: now + max(lifetime - said.age, 0), madeAt: now - said.age)
        eTag = headers[.eTag]
        lastModified = headers[.lastModified].flatMap { HTTPFieldText.date($0, now: now) == nil ? nil : $0 }
        cacheControl = headers[.cacheControl]
        mustRevalidate = said.forbidsStaleness
        forbidsStoring = said.forbidsStoring
        expires = said.expires
    }

    /// Whether both are the same version of the source. False without validators.
    func isSameVersion(as other: SourceFreshness) -> Bool {
        if let eTag, let theirs = other.eTag { return eTag == theirs }
        if let lastModified, let theirs = other.lastModified, eTag == nil, other.eTag == nil {
            return lastModified == theirs
        }
        return false
    }
}
