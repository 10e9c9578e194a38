import HTTPTypes
import ServerConfiguration
import ServerGrammar

/// Selects the cookies of a client that are sent to the origin of a source. A `Cookie` field does not say where its
/// cookies belong, so they are assumed to belong to `IMGPROXY_COOKIE_BASE_URL`, or to the host that the client
/// requested.
struct PassedCookies {
    let settings: ServerSettings.Cookies

    /// Whether cookies of some clients are sent to the origin of a source.
    func concern(_ source: String) -> Bool {
        guard settings.arePassedOn, source.hasPrefix("http://") || source.hasPrefix("https://") else { return false }
        return settings.goToAll || settings.base.map { belongs(source, to: $0) } ?? true
    }

    /// - Parameters:
    ///   - forwardedHost: the host that the client requested, as reported by a trusted proxy.
    /// - Returns: nil if no cookies are sent there.
    func value(_ request: HTTPRequest, forwardedHost: String?, source: String) -> String? {
        guard settings.arePassedOn, source.hasPrefix("http://") || source.hasPrefix("https://"),
            let cookies = request.headerFields[.cookie], !cookies.isEmpty
        else { return nil }
        if settings.goToAll { return cookies }
        let base = settings.base ?? (forwardedHost ?? request.authority).map { "http://\($0)/" }
        guard let base, belongs(source, to: base) else { return nil }
        return cookies
    }

    private func belongs(_ source: String, to base: String) -> Bool {
        guard let host = SourceHost.name(of: base), host == SourceHost.name(of: source) else { return false }
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
