import WebImage

extension URLGrammar {
    private static let longestLogged = 2048

    /// A path as it may be logged: without its signature, which is a secret where it grants access, without what grants access to the
    /// source, and without what is too long.
    public func logged(_ path: String) -> String {
        var rest = path[...]
        var kept = ""
        for start in [pathPrefix, "/info", "/srcset"] where !start.isEmpty && rest.hasPrefix(start + "/") {
            kept += start
            rest = rest.dropFirst(start.count)
        }
        let parts = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return String(path.prefix(Self.longestLogged)) }
        return kept + "/-/" + withoutSecrets(parts[2]).prefix(Self.longestLogged)
    }

    /// - Parameter path: options and source.
    private func withoutSecrets(_ path: Substring) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let count = segments.prefix { $0.components(of: argumentsSeparator).count > 1 }.count
        let (options, source) = (segments[..<count], Array(segments[count...]))
        guard let shown = source.first == "plain" ? shown(plain: source) : shown(encoded: source) else {
            return String(path)
        }
        return (options + ["plain", shown[...]]).joined(separator: "/")
    }

    /// - Returns: nil where there is nothing to leave out.
    private func shown(plain source: [Substring]) -> String? {
        let text = source.dropFirst().joined(separator: "/")
        // The `@` of a format is no user's, and stays.
        let whole = PercentEncoding.decode(text[...]) ?? text
        let shown = ImageRequest(whole).redactedURL
        return shown == whole ? nil : shown
    }

    private func shown(encoded source: [Substring]) -> String? {
        guard let (url, format) = try? SourceText(self).read(source) else { return nil }
        let shown = ImageRequest(url).redactedURL
        return shown == url ? nil : shown + (format.map { "@" + $0 } ?? "")
    }
}
