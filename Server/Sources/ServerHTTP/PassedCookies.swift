import HTTPTypes
import ServerConfiguration
import ServerGrammar

/// Selects the cookies of a client that are sent to the origin of a source. A `Cookie` field does not say where its
/// cookies belong, so they are assumed to belong to `IMGPROXY_COOKIE_BASE_URL`, or to the host that the client
/// requested.
struct PassedCookies {
    let settings: ServerSettings.Cookies

    /// Whether the cookies of a client are sent to the origin of a source.
    ///
    /// - Parameters:
    ///   - forwardedHost: the host that the client requested, as reported by a trusted proxy.
    func go(to source: String, from request: HTTPRequest, forwardedHost: String?) -> Bool {
        guard settings.arePassedOn, source.hasPrefix("http://") || source.hasPrefix("https://") else { return false }
        if settings.goToAll { return true }
        let base = settings.base ?? (forwardedHost ?? request.authority).map { "http://\($0)/" }
        guard let base, let host = SourceHost.name(of: base), host == SourceHost.name(of: source) else { return false }
        return Self.path(of: source).hasPrefix(Self.folder(of: base))
    }

    private static func path(of url: String) -> Substring {
        let rest = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first ?? ""
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        return path.firstIndex(of: "/").map { path[$0...] } ?? "/"
    }

    /// The default path of cookies (RFC 6265, section 5.1.4), with a trailing slash.
    private static func folder(of url: String) -> Substring {
        let path = path(of: url)
        return path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    }
}
