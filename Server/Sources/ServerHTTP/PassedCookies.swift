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
        guard settings.arePassedOn, let target = SourceURL(source), target.isWeb else { return false }
        if settings.goToAll { return true }
        let base = settings.base ?? (forwardedHost ?? request.authority).map { "http://\($0)/" }
        guard let base = base.flatMap({ SourceURL($0) }), base.host == target.host, Self.isPlain(target.host) else {
            return false
        }
        let folder = Self.folder(of: base)
        return folder == "/" || (!target.hasDotSegments && target.path.utf8.starts(with: folder.utf8))
    }

    /// Whether the library surely connects to the host of this name: it takes other scripts for other names, and
    /// refuses other characters.
    private static func isPlain(_ host: String) -> Bool {
        !host.isEmpty
            && host.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || "-._:[]".utf8.contains(byte)
            }
    }

    /// The default path of cookies (RFC 6265, section 5.1.4), with a trailing slash.
    private static func folder(of url: SourceURL) -> Substring {
        let path = url.path
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "/"
    }
}
