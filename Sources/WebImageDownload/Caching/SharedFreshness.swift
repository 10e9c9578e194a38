public import HTTPTypes

/// What an origin's answer says to a cache that serves many users, such as a server's (RFC 9111 sections 3, 4.2 and 5.2).
public struct SharedFreshness: Hashable, Sendable {
    /// Whether nothing may be kept: `no-store`, `private`, or `Vary: *`.
    public let forbidsStoring: Bool
    /// Whether the origin must be asked before each use: `no-cache`.
    public let mustBeAsked: Bool
    /// Whether it may never be served once it is stale, also not where the origin cannot be reached: `must-revalidate`,
    /// `proxy-revalidate`, `s-maxage`, and where it must be asked in any case.
    public let forbidsStaleness: Bool
    /// For how many seconds it is fresh from when it was made: `s-maxage`, else `max-age`, else `Expires`, of which one that is
    /// no date is in the past. Nil: the origin says nothing.
    public let lifetime: Int?
    /// A tenth of the time for which it has not changed, at most a day, in seconds; nil where that is not known.
    public let heuristicLifetime: Int?
    /// How old it was when it came, in seconds.
    public let age: Int
    /// When `Expires` says that it ends, in seconds since 1970; nil where that is not said, or is no date.
    public let expires: Int?

    /// - Parameters:
    ///   - fields: of an answer with status 200.
    ///   - time: when it came, in seconds since 1970.
    public init(_ fields: HTTPFields, arrivedAt time: Int) {
        var rules = HTTPCacheRules(digest: { $0 })
        rules.isShared = true
        let now = Int64(time)
        let stored = StoredResponse(ResponseHead(status: 200, headers: fields), requestTime: now, responseTime: now)
        forbidsStoring =
            rules.forbidsStoring(stored.control, status: 200) || VaryRule(fields[.vary]) == .never
        mustBeAsked = rules.mustBeAsked(stored)
        forbidsStaleness = mustBeAsked || forbidsStoring || rules.forbidsStaleness(stored.control)
        lifetime = rules.statedLifetime(of: stored).map { Int($0) }
        heuristicLifetime = stored.lastModified == nil ? nil : Int(rules.heuristicLifetime(of: stored))
        age = Int(min(rules.age(of: stored, now: now), DeltaSeconds.most))
        expires = fields[.expires].flatMap { HTTPTimestamp($0, now: now) }.map { Int($0.seconds) }
    }
}

/// What fields of requests and answers mean, for those who answer requests themselves.
public enum HTTPFieldText {
    /// - Parameters:
    ///   - text: an HTTP date in any of its three forms (RFC 9110 section 5.6.7).
    ///   - now: seconds since 1970; says which century a year of two digits belongs to.
    /// - Returns: seconds since 1970; nil for what is no date.
    public static func date(_ text: String, now: Int) -> Int? {
        HTTPTimestamp(text, now: Int64(now)).map { Int($0.seconds) }
    }

    /// Whether an `If-None-Match` names a tag, by the weak comparison (RFC 9110 section 13.1.2).
    public static func ifNoneMatch(_ text: String, names tag: String) -> Bool {
        guard let list = EntityTag.List(text), let tag = EntityTag(tag) else { return false }
        return list.weaklyMatches(tag)
    }
}
