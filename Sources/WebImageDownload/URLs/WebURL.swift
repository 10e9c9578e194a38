package import WebImageCore

/// An `http` or `https` URL, in normal form: scheme and host in lower case, no default port, no dot segments,
/// characters that are not allowed in a URL percent-encoded, hosts in other scripts in their `xn--` form. Made from any
/// text without Foundation; RFC 3986 and RFC 9110 section 4.2.
package struct WebURL: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https

        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// One object, so that copying a URL costs one reference.
    private final class Parts: Sendable {
        let text: String
        let hostAndPort: String
        let scheme: Scheme
        let port: Int
        let credentials: BasicCredentials?
        /// The positions of host and path, in bytes of the text.
        let hostRange: Range<Int>
        let pathRange: Range<Int>

        /// - Parameter hostRange: the position of the host in `text`; the port or the path must follow it.
        init(
            text: String, scheme: Scheme, port: Int, hostRange: Range<Int>, pathRange: Range<Int>,
            credentials: BasicCredentials? = nil
        ) {
            self.text = text
            self.scheme = scheme
            self.port = port
            self.hostRange = hostRange
            self.pathRange = pathRange
            self.credentials = credentials
            let hasPort = pathRange.lowerBound > hostRange.upperBound
            let authority = text.bytes(hostRange.lowerBound..<pathRange.lowerBound)
            hostAndPort = hasPort ? authority : "\(authority):\(port)"
        }
    }

    private let parts: Parts

    /// - Throws: `invalidURL`; `unsupportedScheme` for a scheme other than `http` and `https`.
    package init(_ text: String) throws(WebImageError) {
        if let plain = WebURL(plain: text) {
            self = plain
            return
        }
        let trimmed = Self.trimmed(text)
        let reference = URLReference(trimmed)
        guard let scheme = reference.scheme else {
            throw Self.invalid("the URL has no scheme; it should begin with https://", trimmed)
        }
        try self.init(reference, scheme: scheme.lowercased(), text: trimmed)
    }

    /// Takes a text that is a URL in normal form already; nil for all others, valid or not.
    init?(plain text: String) {
        guard let found = text.utf8.withContiguousStorageIfAvailable(PlainURL.init), let plain = found else {
            return nil
        }
        let scheme: Scheme = plain.isSecure ? .https : .http
        parts = Parts(
            text: text, scheme: scheme, port: plain.port ?? scheme.defaultPort,
            hostRange: plain.hostStart..<plain.hostEnd, pathRange: plain.pathStart..<plain.pathEnd)
    }

    private init(_ reference: URLReference, scheme: String, text: Substring) throws(WebImageError) {
        guard let known = Scheme(rawValue: scheme) else {
            throw WebImageError(
                .unsupportedScheme, Self.refusal(of: scheme, String(text)), location: redactedURL(String(text)))
        }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Self.invalid("the URL holds a control character", text)
        }
        guard let authority = reference.authority.flatMap(Authority.init) else {
            throw Self.invalid("the URL has no host, an invalid host, or an invalid port", text)
        }
        let encoded = PercentEncoding.normalised(reference.path)
        self.init(
            scheme: known, host: authority.host, port: authority.port ?? known.defaultPort,
            path: encoded.isEmpty ? "/" : URLReference.removingDotSegments(encoded),
            query: reference.query.map(PercentEncoding.normalised), credentials: authority.credentials)
    }

    private init(
        scheme: Scheme, host: String, port: Int, path: String, query: String?, credentials: BasicCredentials?
    ) {
        var text = "\(scheme.rawValue)://"
        let hostStart = text.utf8.count
        text += host
        let hostEnd = text.utf8.count
        if port != scheme.defaultPort { text += ":\(port)" }
        let pathStart = text.utf8.count
        text += path
        let pathEnd = text.utf8.count
        if let query { text += "?" + query }
        parts = Parts(
            text: text, scheme: scheme, port: port, hostRange: hostStart..<hostEnd, pathRange: pathStart..<pathEnd,
            credentials: credentials)
    }

    private static func refusal(of scheme: String, _ text: String) -> String {
        let name = String(scheme.prefix(32))
        // A caller's file and data URLs do not come here, so a redirect or a hook leads there.
        if scheme == "file" || scheme == "data" {
            return "\(name): URLs cannot be loaded from here; http and https can"
        }
        let known = "\(name): URLs cannot be loaded; http, https, file and data can"
        return MissingScheme.hint(for: text).map { "\(known); \($0)" } ?? known
    }

    /// The URL without fragment, user and password: it is requested, and cache keys are made from it.
    package var text: String { parts.text }
    package var scheme: Scheme { parts.scheme }
    package var port: Int { parts.port }
    /// The host as it is written in a URL: IPv6 addresses in brackets.
    package var host: String { parts.text.bytes(parts.hostRange) }
    /// The path, which begins with a slash.
    package var path: String { parts.text.bytes(parts.pathRange) }
    package var query: String? {
        let (start, end) = (parts.pathRange.upperBound, parts.text.utf8.count)
        return start < end ? parts.text.bytes(start + 1..<end) : nil
    }
    /// User and password of the text, percent-decoded. Never a part of ``text``.
    package var credentials: BasicCredentials? { parts.credentials }

    /// The origin by RFC 6454, to which credentials belong.
    package var origin: String { parts.text.bytes(0..<parts.pathRange.lowerBound) }

    /// The key for limits per host.
    package var hostAndPort: String { parts.hostAndPort }

    package static func == (left: WebURL, right: WebURL) -> Bool {
        left.parts === right.parts || (left.text == right.text && left.credentials == right.credentials)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Resolves `reference` against this URL (RFC 3986 section 5.2). The result has the user and password of
    /// `reference`, not those of this URL.
    ///
    /// - Throws: as ``init(_:)``.
    package func resolving(_ reference: String) throws(WebImageError) -> WebURL {
        let reference = Self.trimmed(reference)
        let parts = URLReference(reference)
        if let other = parts.scheme { return try WebURL(parts, scheme: other.lowercased(), text: reference) }
        if parts.authority != nil { return try WebURL(parts, scheme: scheme.rawValue, text: reference) }
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Self.invalid("the URL holds a control character", reference)
        }
        var (path, query) = (self.path, self.query)
        if parts.path.isEmpty {
            if let other = parts.query { query = PercentEncoding.normalised(other) }
        } else {
            let isRooted = parts.path.utf8.first == UInt8(ascii: "/")
            let whole = isRooted ? String(parts.path) : URLReference.merged(parts.path, onto: self.path)
            path = URLReference.removingDotSegments(PercentEncoding.normalised(whole[...]))
            query = parts.query.map(PercentEncoding.normalised)
        }
        return WebURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: nil)
    }
}

extension WebURL {
    private static func invalid(_ message: String, _ text: Substring) -> WebImageError {
        WebImageError(.invalidURL, message, location: redactedURL(String(text)))
    }

    /// Without surrounding blanks, which may be copied along with a URL.
    private static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        return text
    }
}

extension String {
    /// This URL up to its query. It is cut by bytes, not characters, because several of these are made for each load.
    var withoutQuery: String {
        guard let end = utf8.firstIndex(of: UInt8(ascii: "?")) else { return self }
        return String(self[..<end])
    }

    /// The text of a byte range, which must begin and end with whole characters.
    fileprivate func bytes(_ range: Range<Int>) -> String {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        return String(self[start..<utf8.index(start, offsetBy: range.count)])
    }
}
