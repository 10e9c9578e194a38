import Synchronization
package import WebImageCore
import WebImageSystem

/// A store for cookies in memory, by RFC 6265: it obeys domain, path, `Secure`, `Max-Age` and `Expires`, and holds at
/// most 50 cookies for a domain and 3000 in all. A cookie for a whole top-level domain is rejected.
public final class MemoryCookieJar: CookieJar {
    private let clock: any LoadClock
    private let cookies = Guarded<[Cookie]>([])
    private let changed = Atomic(0)

    public convenience init() { self.init(clock: SystemClock.shared) }

    package init(clock: any LoadClock) { self.clock = clock }

    /// The number of cookies, including expired ones.
    public var count: Int { cookies.withLock { $0.count } }

    public func removeAll() {
        cookies.withLock { $0 = [] }
        changed.add(1, ordering: .relaxed)
    }

    public var changes: Int? { changed.load(ordering: .relaxed) }

    public func cookies(for url: String) -> String? {
        guard let url = try? WebURL(url) else { return nil }
        let now = clock.wallTime
        let found = cookies.withLock { $0.filter { $0.goes(to: url, at: now) } }
        // Section 5.4: longer paths first, then the older ones; the sort is stable by the index.
        let sorted = found.enumerated().sorted { left, right in
            let (first, second) = (left.element.path.utf8.count, right.element.path.utf8.count)
            return first == second ? left.offset < right.offset : first > second
        }
        return sorted.isEmpty ? nil : sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    public func store(_ fields: [String], from url: String) {
        guard let url = try? WebURL(url) else { return }
        let now = clock.wallTime
        let fresh = fields.compactMap { Cookie($0, from: url, at: now) }
        cookies.withLock { cookies in
            for cookie in fresh {
                if let place = cookies.firstIndex(where: { $0.identity == cookie.identity }) {
                    if cookies[place].value != cookie.value || cookie.isExpired(at: now) { noteChange() }
                    cookies[place] = cookie
                } else {
                    noteChange()
                    cookies.append(cookie)
                }
                let sameDomain = cookies.indices.filter { cookies[$0].domain == cookie.domain }
                if sameDomain.count > 50 { cookies.remove(at: sameDomain[0]) }
            }
            cookies.removeAll { $0.isExpired(at: now) }
            if cookies.count > 3000 { cookies.removeFirst(cookies.count - 3000) }
        }
    }

    private func noteChange() { changed.add(1, ordering: .relaxed) }
}

/// One cookie as RFC 6265 section 5.3 keeps it.
struct Cookie: Sendable {
    struct Identity: Equatable {
        let name: String
        let domain: String
        let path: String
    }

    let name: String
    let value: String
    private(set) var domain: String
    private(set) var path: String
    private var isHostOnly = true
    private var isSecure = false
    /// Seconds since 1970; nil: the cookie lives as long as the jar.
    private var expiry: Int64?

    var identity: Identity { Identity(name: name, domain: domain, path: path) }

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
            case ("max-age", let text?): maxAge = Int64(text)
            case ("expires", let text?): expiry = CookieDate.seconds(text)
            default: continue
            }
        }
        if let maxAge { expiry = maxAge <= 0 ? 0 : now + min(maxAge, 1 << 40) }
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
