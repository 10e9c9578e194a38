public import HTTPTypes

/// The caching rules of an origin's answer for a cache that serves many users, such as a server's (RFC 9111 sections 3,
/// 4.2 and 5.2).
public struct SharedFreshness: Hashable, Sendable {
    /// Whether the answer must not be stored: `no-store`, `private`, or `Vary: *`.
    public let forbidsStoring: Bool
    /// Whether the origin must be asked before each use: `no-cache`.
    public let mustBeAsked: Bool
    /// Whether the answer must never be served stale, not even if the origin cannot be reached: `must-revalidate`,
    /// `proxy-revalidate`, `s-maxage`, if ``mustBeAsked`` is true, and if its redirects must be followed again each time.
    public let forbidsStaleness: Bool
    /// For how many seconds the answer is fresh after it was generated: `s-maxage`, otherwise `max-age`, otherwise
    /// `Expires`; an `Expires` that is not a date counts as past. Nil: the origin sets no lifetime.
    public let lifetime: Int?
    /// A tenth of the time since the last modification, at most a day, in seconds; nil if that is not known.
    public let heuristicLifetime: Int?
    /// The age of the answer, in seconds.
    public let age: Int
    /// The time of `Expires` in seconds since 1970; nil if the header is missing or not a date.
    public let expires: Int?
    /// For how many seconds the answer may be served stale while it is renewed (RFC 5861 section 3); nil: the origin does
    /// not say.
    public let staleWhileRevalidate: Int?
    /// For how many seconds the answer may be served stale if the origin fails (RFC 5861 section 4); nil: the origin
    /// does not say.
    public let staleIfError: Int?
    /// How long the redirects that led to the answer may be reused. The answer itself must not be reused for longer.
    public let redirects: Redirects

    /// How long redirects may be reused.
    public enum Redirects: Hashable, Sendable {
        /// There were none, or only permanent ones without a lifetime.
        case unlimited
        /// One of them is temporary and states no lifetime.
        case unstated
        /// They may be reused for that many more seconds; if 0, they must be followed again each time.
        case limited(Int)
    }

    /// - Parameters:
    ///   - fields: the headers of an answer with status 200 that has just arrived.
    ///   - time: when the answer arrived, in seconds since 1970.
    public init(_ fields: HTTPFields, arrivedAt time: Int) {
        self.init(ResponseHead(status: 200, headers: fields), now: time)
    }

    /// - Parameters:
    ///   - head: the head of an answer that has just arrived or was read from a cache, as in a response: it records how
    ///     long the origin took and which redirects led to it. A head that a program made itself records neither.
    ///   - now: seconds since 1970.
    public init(_ head: ResponseHead, now: Int) {
        var rules = HTTPCacheRules(digest: { $0 })
        rules.isShared = true
        let now = Int64(now)
        let arrival = head.arrival
        let delay = arrival.map { max($0.responseTime.subtracting($0.requestTime), 0) } ?? 0
        let stored = StoredResponse(head, requestTime: now.subtracting(delay), responseTime: now)
        forbidsStoring =
            rules.forbidsStoring(stored.control, status: stored.status) || VaryRule(head[.vary]) == .never
        mustBeAsked = rules.mustBeAsked(stored)
        switch arrival?.redirectLifetime {
        case nil: redirects = .unlimited
        case 0?: redirects = .unstated
        case let seconds?: redirects = .limited(Int(max(seconds, 0)))
        }
        forbidsStaleness =
            mustBeAsked || forbidsStoring || redirects == .limited(0) || rules.forbidsStaleness(stored.control)
        lifetime = rules.statedLifetime(of: stored).map { Int($0) }
        heuristicLifetime = stored.lastModified == nil ? nil : Int(rules.heuristicLifetime(of: stored))
        staleWhileRevalidate = stored.control.staleWhileRevalidate.map { Int($0) }
        staleIfError = stored.control.staleIfError.map { Int($0) }
        age = Int(min(rules.age(of: stored, now: now), DeltaSeconds.most))
        expires = head[.expires].flatMap { HTTPTimestamp($0, now: now) }.map { Int($0.seconds) }
    }
}

/// Parsers for header values, for programs that answer HTTP requests themselves.
public enum HTTPFieldText {
    /// - Parameters:
    ///   - text: an HTTP date in any of its three forms (RFC 9110 section 5.6.7).
    ///   - now: seconds since 1970; determines the century of a year with two digits.
    /// - Returns: seconds since 1970; nil if the text is not a date.
    public static func date(_ text: String, now: Int) -> Int? {
        HTTPTimestamp(text, now: Int64(now)).map { Int($0.seconds) }
    }

    /// Whether an `If-None-Match` header contains a tag, by weak comparison (RFC 9110 section 13.1.2).
    public static func ifNoneMatch(_ text: String, names tag: String) -> Bool {
        guard let list = EntityTag.List(text), let tag = EntityTag(tag) else { return false }
        return list.weaklyMatches(tag)
    }
}
