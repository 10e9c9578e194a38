import ServerGrammar
public import WebImage

/// How long a source counts as unchanged, and how it is told that it is (RFC 9111, section 4.2).
public struct SourceFreshness: Hashable, Sendable {
    /// Seconds since 1970.
    public var freshUntil: Int
    /// Whether an older result must never be served without asking (`no-cache`, `must-revalidate`, `no-store`).
    public var mustRevalidate = false
    /// Whether nothing may be kept.
    public var forbidsStoring = false
    public var eTag: String?
    public var lastModified: String?
    /// The origin's own `Cache-Control`.
    public var cacheControl: String?
    /// When the origin's `Expires` says that it ends; seconds since 1970.
    public var expires: Int?
    /// When the origin made its answer, by its `Date` and `Age`; seconds since 1970.
    public var madeAt: Int

    public init(freshUntil: Int, madeAt: Int = 0) { (self.freshUntil, self.madeAt) = (freshUntil, madeAt) }

    /// - Parameters:
    ///   - headers: of the origin's answer.
    ///   - now: seconds since 1970.
    ///   - fallback: seconds for answers that say nothing of it.
    ///   - guesses: whether what has not changed for long counts as fresh for longer (section 4.2.2).
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

    /// Whether both are the same version of the source. False where nothing tells.
    func isSameVersion(as other: SourceFreshness) -> Bool {
        if let eTag, let theirs = other.eTag { return eTag == theirs }
        if let lastModified, let theirs = other.lastModified, eTag == nil, other.eTag == nil {
            return lastModified == theirs
        }
        return false
    }
}
