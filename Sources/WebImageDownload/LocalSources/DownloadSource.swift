import WebImageCore

/// Where bytes come from, by the form of the text.
enum DownloadSource: Sendable {
    case web(WebURL)
    case file(path: String)
    case data(String)
    case loader(any ImageLoader, url: String)

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    init(_ text: String, loader: (any ImageLoader)?) throws(WebImageError) {
        if let loader { self = .loader(loader, url: text) } else { self = try DownloadSource(text) }
    }

    /// A text without a scheme is a path.
    ///
    /// - Throws: `invalidURL`, `unsupportedScheme`.
    init(_ text: String) throws(WebImageError) {
        if let url = WebURL(plain: text) {
            self = .web(url)
            return
        }
        let reference = URLReference(text[...])
        switch reference.scheme?.lowercased() {
        case nil:
            // Blanks before a URL hide its scheme; a path may begin with one.
            if text.first?.isWhitespace == true, let url = try? WebURL(text) {
                self = .web(url)
                return
            }
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw WebImageError(.invalidURL, "the URL is empty or holds a zero byte", location: redactedURL(text))
            }
            self = .file(path: text)
        case "file": self = .file(path: try Self.path(of: reference, text))
        case "data": self = .data(text)
        default: self = .web(try WebURL(text))
        }
    }

    /// RFC 8089: `file:///path`, `file://localhost/path`, `file:/path`.
    private static func path(of reference: URLReference, _ text: String) throws(WebImageError) -> String {
        let host = reference.authority?.lowercased() ?? ""
        guard host.isEmpty || host == "localhost" else {
            throw WebImageError(
                .invalidURL, "a file: URL names a file of this machine, not of \(host.prefix(255))",
                location: redactedURL(text))
        }
        let bytes = PercentEncoding.decoded(reference.path.utf8)
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw WebImageError(.invalidURL, "a file: URL needs an absolute path", location: redactedURL(text))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The normal form, without fragment, user and password.
    var text: String {
        switch self {
        case .web(let url): url.text
        case .file(let path): "file:" + path
        case .data(let text): text
        case .loader(_, let url): url
        }
    }

    /// As messages show it.
    var shown: String {
        switch self {
        case .web(let url): redactedURL(url.text)
        case .file(let path): path
        case .data(let text): redactedURL(text)
        case .loader(_, let url): redactedURL(url)
        }
    }
}
