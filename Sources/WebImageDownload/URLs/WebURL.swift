package import WebImageCore

/// An `http` or `https` URL, in normal form: scheme and host in lower case, no default port, no dot segments, what may
/// not stand in a URL percent-encoded. Made from any text without Foundation; RFC 3986 and RFC 9110 section 4.2.
package struct WebURL: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https

        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// As it goes into a URL: IPv6 addresses in brackets.
    package let host: String
    package let port: Int
    /// Begins with a slash.
    package let path: String
    package let query: String?
    /// From the text, percent-decoded. Never part of ``text``.
    package let credentials: BasicCredentials?

    /// - Throws: `invalidURL`; `unsupportedScheme` for a scheme other than `http` and `https`.
    package init(_ text: String) throws(WebImageError) {
        let trimmed = Self.trimmed(text)
        let reference = URLReference(trimmed)
        guard let scheme = reference.scheme else {
            throw Self.invalid("the URL has no scheme; it should begin with https://", trimmed)
        }
        try self.init(reference, scheme: scheme.lowercased(), text: trimmed)
    }

    private init(_ reference: URLReference, scheme: String, text: Substring) throws(WebImageError) {
        guard let known = Scheme(rawValue: scheme) else {
            let name = String(scheme.prefix(32))
            throw WebImageError(
                .unsupportedScheme, "\(name): URLs cannot be loaded; http, https, file and data can",
                location: redactedURL(String(text)))
        }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Self.invalid("the URL holds a control character", text)
        }
        guard let authority = reference.authority, let parts = Authority(authority) else {
            throw Self.invalid("the URL has no host, or one that cannot be, or a port that is no number", text)
        }
        self.scheme = known
        host = parts.host
        port = parts.port ?? known.defaultPort
        credentials = parts.credentials
        let encoded = PercentEncoding.normalised(reference.path)
        path = encoded.isEmpty ? "/" : URLReference.removingDotSegments(encoded)
        query = reference.query.map(PercentEncoding.normalised)
    }

    private init(
        scheme: Scheme, host: String, port: Int, path: String, query: String?, credentials: BasicCredentials?
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        self.credentials = credentials
    }

    /// The URL without fragment, user and password: what is asked for, and what a cache key is made of.
    package var text: String { origin + path + (query.map { "?" + $0 } ?? "") }

    /// RFC 6454: whom credentials belong to.
    package var origin: String {
        "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
    }

    /// What limits per host count by.
    package var hostAndPort: String { "\(host):\(port)" }

    /// RFC 3986 section 5.2: where `reference` leads from here. Its own user and password count, ours do not.
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

    /// Without blanks around it, as they come along when a URL is copied.
    private static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        return text
    }
}
