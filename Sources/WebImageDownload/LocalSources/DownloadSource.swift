import WebImageCore

/// The source of the bytes, determined by the form of the text.
enum DownloadSource: Sendable {
    case web(WebURL)
    case file(path: String)
    case data(String)
    case loader(any ImageLoader, url: String)

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    init(_ request: borrowing DownloadRequest) throws(WebImageError) {
        if let loader = request.changedOptions?.value.loader {
            self = .loader(loader, url: request.url)
        } else if request.isPath {
            self = .file(path: try Self.checked(path: request.url))
        } else {
            self = try DownloadSource(request.url)
        }
    }

    /// A text without a scheme is not treated as a path: otherwise a program that passes on untrusted text would read
    /// its own files for strangers.
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
            // Blanks before a URL hide its scheme.
            if text.first?.isWhitespace == true, let url = try? WebURL(text) {
                self = .web(url)
                return
            }
            throw WebImageError(.invalidURL, Self.missingSchemeMessage(text), location: redactedURL(text))
        case "file": self = .file(path: try Self.path(of: reference, text))
        case "data": self = .data(text)
        default: self = .web(try WebURL(text))
        }
    }

    private static func missingSchemeMessage(_ text: String) -> String {
        if text.isEmpty { return "the URL is empty" }
        return "the URL has no scheme; "
            + (MissingScheme.hint(for: text) ?? "a path is given with ImageRequest(path:)")
    }

    private static func checked(path: String) throws(WebImageError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw WebImageError(.invalidURL, "the path is empty or holds a zero byte", location: path)
        }
        return path
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

    /// The source's URL in normal form, without fragment, user and password.
    var text: String {
        switch self {
        case .web(let url): url.text
        case .file(let path): "file:" + path
        case .data(let text): text
        case .loader(_, let url): url
        }
    }

    /// The source in the form for messages.
    var shown: String {
        switch self {
        case .web(let url): redactedURL(url.text)
        case .file(let path): path
        case .data(let text): redactedURL(text)
        case .loader(_, let url): redactedURL(url)
        }
    }
}
