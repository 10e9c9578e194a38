import Synchronization
package import WebImageCore
import WebImageSystem

/// A store for cookies in memory, by RFC 6265: it obeys domain, path, `Secure`, `Max-Age` and `Expires`, and holds at
/// most 50 cookies for a domain and 3000 in all. Of one answer it takes 50 at most. A cookie for a whole top-level domain is
/// rejected.
public final class MemoryCookieJar: CookieJar {
    fileprivate struct State {
        /// The cookies by domain, the oldest first.
        var cookies: [String: [Cookie]] = [:]
        var count = 0
        /// How many cookies have been added.
        var added = 0
    }

    private static let maxPerResponse = 50
    fileprivate static let maxPerDomain = 50
    private static let most = 3000

    private let clock: any LoadClock
    private let state = Guarded(State())
    private let changed = Atomic(0)

    public convenience init() { self.init(clock: SystemClock.shared) }

    package init(clock: any LoadClock) { self.clock = clock }

    /// The number of cookies, including expired ones.
    public var count: Int { state.withLock { $0.count } }

    /// Removes all cookies.
    public func removeAll() {
        state.withLock { $0 = State() }
        changed.add(1, ordering: .relaxed)
    }

    public var changes: Int? { changed.load(ordering: .relaxed) }

    public func cookies(for url: String) -> String? {
        guard let url = try? WebURL(url) else { return nil }
        let now = clock.wallTime
        let found = state.withLock { state in
            Self.domains(of: url.host).flatMap { state.cookies[$0] ?? [] }.filter { $0.goes(to: url, at: now) }
        }
        // Section 5.4: longer paths first, then the older ones.
        let sorted = found.sorted { left, right in
            let (first, second) = (left.path.utf8.count, right.path.utf8.count)
            return first == second ? left.number < right.number : first > second
        }
        return sorted.isEmpty ? nil : sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    public func store(_ fields: [String], from url: String) {
        guard let url = try? WebURL(url) else { return }
        let now = clock.wallTime
        let fresh = fields.prefix(Self.maxPerResponse).compactMap { Cookie($0, from: url, at: now) }
        state.withLock { state in
            for cookie in fresh { state.put(cookie, at: now) { noteChange() } }
            if state.count > Self.most { state.makeRoom(for: Self.most, at: now) }
        }
    }

    private func noteChange() { changed.add(1, ordering: .relaxed) }

    /// A host and the domains that it is in.
    private static func domains(of host: String) -> [String] {
        var domains = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}

extension MemoryCookieJar.State {
    fileprivate mutating func put(_ cookie: Cookie, at now: Int64, noteChange: () -> Void) {
        var same = cookies[cookie.domain] ?? []
        count -= same.count
        let place = same.firstIndex { $0.name == cookie.name && $0.path == cookie.path }
        if place.map({ same[$0].value != cookie.value || cookie.isExpired(at: now) }) ?? true { noteChange() }
        var cookie = cookie
        if let place {
            cookie.number = same[place].number
            same[place] = cookie
        } else {
            added += 1
            cookie.number = added
            same.append(cookie)
        }
        same.removeAll { $0.isExpired(at: now) }
        if same.count > MemoryCookieJar.maxPerDomain { same.removeFirst(same.count - MemoryCookieJar.maxPerDomain) }
        count += same.count
        cookies[cookie.domain] = same.isEmpty ? nil : same
    }

    /// Removes expired cookies, then the oldest ones.
    fileprivate mutating func makeRoom(for most: Int, at now: Int64) {
        var left = cookies.values.flatMap { $0 }.filter { !$0.isExpired(at: now) }.sorted { $0.number < $1.number }
        if left.count > most { left.removeFirst(left.count - most) }
        cookies = Dictionary(grouping: left, by: \.domain)
        count = left.count
    }
}

/// One cookie as RFC 6265 section 5.3 keeps it.
struct Cookie: Sendable {
    let name: String
    let value: String
    private(set) var domain: String
    private(set) var path: String
    /// The order in which cookies were set first.
    fileprivate(set) var number = 0
    private var isHostOnly = true
    private var isSecure = false
    /// Seconds since 1970; nil: the cookie lives as long as the jar.
    private var expiry: Int64?

    /// Nil if the field is not a cookie, or not one that `url` may set.
    init?(_ field: String, from url: WebURL, at now: Int64) {
        guard field.utf8.count <= 8192 else { return nil }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let value = pair.value, !pair.name.isEmpty else { return nil }
        guard !(pair.name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        name = pair.name
        self.value = value
        domain = url.host
        path = Self.defaultPath(url.path)
        var maxAge: Int64?
        for part in parts.dropFirst() {
            let (key, text) = Self.pair(part)
            switch (key.lowercased(), text) {
            case ("domain", let text?):
                let wanted = (text.first == "." ? text.dropFirst() : text[...]).lowercased()
                if wanted.isEmpty { continue }
                guard Self.host(url.host, isIn: wanted) else { return nil }
                // There is no list of public suffixes: the domain must contain a dot, or be the host itself.
                guard wanted.contains(".") || wanted == url.host else { return nil }
                domain = wanted
                isHostOnly = false
            case ("path", let text?) where text.first == "/": path = text
            case ("secure", _): isSecure = true
            case ("max-age", let text?): maxAge = Self.seconds(text) ?? maxAge
            case ("expires", let text?): expiry = CookieDate.seconds(text) ?? expiry
            default: continue
            }
        }
        if let maxAge { expiry = maxAge == 0 ? 0 : now + maxAge }
        if isSecure, url.scheme == .http { return nil }
    }

    func isExpired(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }

    func goes(to url: WebURL, at now: Int64) -> Bool {
        let fitsHost = isHostOnly ? url.host == domain : Self.host(url.host, isIn: domain)
        let fitsPath =
            url.path == path
            || (url.path.hasPrefix(path) && (path.hasSuffix("/") || url.path.dropFirst(path.count).first == "/"))
        return fitsHost && fitsPath && (!isSecure || url.scheme == .https) && !isExpired(at: now)
    }

    /// A `Max-Age` (section 5.2.2): 0 for a negative one, 68 years at most; nil if it is no number.
    private static func seconds(_ text: String) -> Int64? {
        text.hasPrefix("-") ? DeltaSeconds.parse(text.dropFirst()).map { _ in 0 } : DeltaSeconds.parse(text)
    }

    private static func pair(_ text: Substring) -> (name: String, value: String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        func trimmed(_ text: Substring) -> String {
            String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
        }
        return (trimmed(parts[0]), parts.count > 1 ? trimmed(parts[1]) : nil)
    }

    private static func host(_ host: String, isIn domain: String) -> Bool {
        host == domain || (host.hasSuffix("." + domain) && IPAddress(host) == nil)
    }

    /// Section 5.1.4: the path up to its last slash.
    private static func defaultPath(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
