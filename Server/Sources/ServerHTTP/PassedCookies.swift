import HTTPTypes
import ServerConfiguration
import ServerGrammar

/// Which cookies of a client go to the origin of a source. A `Cookie` field does not tell where its cookies belong: they are taken
/// to belong to `IMGPROXY_COOKIE_BASE_URL`, or to the host that the client asked.
struct PassedCookies {
    let settings: ServerSettings.Cookies

    /// - Parameters:
    ///   - forwardedHost: what a proxy that is trusted says the client asked for.
    /// - Returns: nil where none go there.
    func value(_ request: HTTPRequest, forwardedHost: String?, source: String) -> String? {
        guard settings.arePassedOn, source.hasPrefix("http://") || source.hasPrefix("https://"),
            let cookies = request.headerFields[.cookie], !cookies.isEmpty
        else { return nil }
        if settings.goToAll { return cookies }
        let base = settings.base ?? (forwardedHost ?? request.authority).map { "http://\($0)/" }
        guard let base, let host = SourceHost.name(of: base), host == SourceHost.name(of: source),
            Self.path(of: source).hasPrefix(Self.folder(of: base))
        else { return nil }
        return cookies
    }

    private static func path(of url: String) -> Substring {
        let rest = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first ?? ""
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        return path.firstIndex(of: "/").map { path[$0...] } ?? "/"
    }

    /// The path that cookies have which say none (RFC 6265, section 5.1.4), with a slash at its end.
    private static func folder(of url: String) -> Substring {
        let path = path(of: url)
        return path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    }
}
