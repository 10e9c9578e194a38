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
    /// Seconds that are left of the origin's `Expires`.
    public var expiresIn: Int?

    public init(freshUntil: Int) { self.freshUntil = freshUntil }

    /// - Parameters:
    ///   - headers: of the origin's answer.
    ///   - now: seconds since 1970.
    ///   - fallback: seconds for answers that say nothing of it.
    ///   - guesses: whether what has not changed for long counts as fresh for longer (section 4.2.2).
    public init(_ headers: HTTPFields, now: Int, fallback: Int, guesses: Bool = true) {
        self.init(freshUntil: now)
        eTag = headers[.eTag]
        lastModified = headers[.lastModified]
        cacheControl = headers[.cacheControl]
        var directives: [String: String] = [:]
        for part in (cacheControl ?? "").split(separator: ",") {
            let halves = part.lowercased().filter { !$0.isWhitespace }.split(separator: "=", maxSplits: 1)
            if let name = halves.first { directives[String(name)] = halves.count > 1 ? String(halves[1]) : "" }
        }
        let date = headers[.date].flatMap { HTTPDateText.seconds($0) } ?? now
        let age = max(headers[.age].flatMap { Int($0) } ?? 0, now - date, 0)
        mustRevalidate = ["no-cache", "no-store", "must-revalidate", "private"].contains { directives[$0] != nil }
        forbidsStoring = directives["no-store"] != nil || directives["private"] != nil
        let expires = headers[.expires].map { HTTPDateText.seconds($0) ?? date }
        expiresIn = expires.map { max($0 - now, 0) }
        let lifetime: Int
        if directives["no-cache"] != nil || forbidsStoring {
            lifetime = 0
        } else if let seconds = (directives["s-maxage"] ?? directives["max-age"]).flatMap({ Int($0) }) {
            lifetime = max(seconds, 0)
        } else if let expires {
            lifetime = max(expires - date, 0)
        } else if guesses, let modified = lastModified.flatMap({ HTTPDateText.seconds($0) }), modified < date {
            lifetime = min((date - modified) / 10, 86_400)
        } else {
            lifetime = fallback
        }
        freshUntil = now + max(min(lifetime, 31_536_000) - age, 0)
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
