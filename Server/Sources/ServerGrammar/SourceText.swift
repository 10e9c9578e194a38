/// Reads the part of a path that names the source.
struct SourceText {
    private let grammar: URLGrammar
    /// Whether the source is passed on as it is, so that the text after it names no format.
    private let isRaw: Bool

    init(_ grammar: URLGrammar, isRaw: Bool = false) { (self.grammar, self.isRaw) = (grammar, isRaw) }

    /// - Returns: the URL, and the extension after it, which is the format of the result.
    func read(_ segments: [Substring]) throws(RequestRefusal) -> (url: String, format: String?) {
        guard let first = segments.first else { throw .invalidURL("the URL of the source is missing") }
        guard first != "enc" || segments.count == 1 else {
            throw .invalidURL("encrypted sources (enc) are a part of imgproxy Pro")
        }
        let (url, format) =
            first == "plain" && segments.count > 1
            ? try plain(segments.dropFirst().joined(separator: "/")[...]) : try encoded(segments)
        guard !url.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
            throw .invalidURL("the URL of the source has control characters")
        }
        return (whole(url), format)
    }

    private func plain(_ text: Substring) throws(RequestRefusal) -> (String, String?) {
        let parts = try halves(text, at: "@")
        guard let url = PercentEncoding.decodedBytes(parts.url) else {
            throw .invalidURL("the URL of the source has a percent sign without two hex digits")
        }
        return (PercentEncoding.text(url), parts.format)
    }

    private func encoded(_ segments: [Substring]) throws(RequestRefusal) -> (String, String?) {
        let used = grammar.base64IncludesFilename && segments.count > 1 ? segments.dropLast() : segments[...]
        let parts = try halves(used.joined()[...], at: ".")
        guard let url = Base64URL.decode(parts.url) else {
            throw .invalidURL("the URL of the source is not base64")
        }
        return (PercentEncoding.text(url), parts.format)
    }

    private func halves(
        _ text: Substring, at mark: Character
    ) throws(RequestRefusal) -> (url: Substring, format: String?) {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .invalidURL("there are several formats after the source") }
        guard let url = parts.first, !url.isEmpty else { throw .invalidURL("the URL of the source is empty") }
        guard parts.count == 2, !parts[1].isEmpty, !isRaw else { return (url, nil) }
        // The extension may be the rest of a URL with credentials, so errors do not repeat it.
        guard parts[1].utf8.count <= 20, parts[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw .invalidURL("the text after the last \(mark) of the source is not the name of a format")
        }
        return (url, String(parts[1]))
    }

    /// The URL that a decoded text of a path stands for: with replacements, the base URL and a scheme in lower case.
    func whole(_ url: String) -> String {
        var url = url
        for replacement in grammar.replacements { url = replacement.applied(to: url) }
        return Self.withPlainScheme(url.hasPrefix(grammar.baseURL) ? url : grammar.baseURL + url)
    }

    /// The URL with its scheme in lower case.
    private static func withPlainScheme(_ url: String) -> String {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://"),
            url[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return url }
        return url[..<colon].lowercased() + url[colon...]
    }
}
