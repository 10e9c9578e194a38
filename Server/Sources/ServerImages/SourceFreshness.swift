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
    public init(_ headers: HTTPFields, now: Int, fallback: Int) {
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
        } else if let modified = lastModified.flatMap({ HTTPDateText.seconds($0) }), modified < date {
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

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
public enum HTTPDateText {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// - Returns: seconds since 1970; nil for what is no such date.
    public static func seconds(_ text: String) -> Int? {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "," })
        guard parts.count == 8, parts[7] == "GMT", let day = Int(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3]), let hour = Int(parts[4]),
            let minute = Int(parts[5]), let second = Int(parts[6]), (1...31).contains(day), (1...9999).contains(year),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return dayNumber(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    public static func text(_ seconds: Int) -> String {
        let number = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - number * 86_400
        // Days since 1 March of the year 0, in eras of 400 years.
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        let day = two(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        let weekday = days[((number + 4) % 7 + 7) % 7]
        return "\(weekday), \(day) \(months[month - 1]) \(year) "
            + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
    }

    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
