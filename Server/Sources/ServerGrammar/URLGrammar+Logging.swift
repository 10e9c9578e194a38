import WebImage

extension URLGrammar {
    private static let longestLogged = 2048
    /// Paths of one part that are not signatures.
    private static let known: Set<Substring> = ["health", "ready", "favicon.ico", "robots.txt", "sign"]

    /// Returns a path in a form that may be logged: without its signature, which grants access, without credentials for
    /// the source, and shortened. A source that cannot be parsed is not shown.
    ///
    /// - Parameter target: the request target as received.
    public func logged(_ target: String) -> String {
        var rest = target.prefix { $0 != "?" }
        var kept = ""
        for start in [pathPrefix, Self.infoPath, Self.setsPath] where !start.isEmpty && rest.hasPrefix(start + "/") {
            kept += start
            rest = rest.dropFirst(start.count)
        }
        // The signature may follow several slashes.
        rest = rest.drop { $0 == "/" }
        guard let slash = rest.firstIndex(of: "/") else {
            return kept + "/" + (rest.isEmpty || Self.known.contains(rest) ? rest : "-")
        }
        guard let signed = try? SignedPath(target: "-" + rest[slash...]) else { return kept + "/-/" }
        return kept + "/-/" + withoutSecrets(signedText(signed)[...]).prefix(Self.longestLogged)
    }

    /// - Parameter path: options and source.
    private func withoutSecrets(_ path: Substring) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let count = onlyPresets ? 1 : segments.prefix { $0.components(of: argumentsSeparator).count > 1 }.count
        let (options, source) = (segments.prefix(count), Array(segments.dropFirst(count)))
        return (options + [shown(source, isPlain: source.first == "plain")]).joined(separator: "/")
    }

    private func shown(_ source: [Substring], isPlain: Bool) -> Substring {
        let text = source.joined(separator: "/")
        guard let whole = isPlain ? plainText(source) : try? SourceText(self).read(source).url else { return "-" }
        let shown = Self.redacted(whole)
        if shown == whole { return text[...] }
        let format = isPlain ? nil : (try? SourceText(self).read(source))?.format
        return "plain/\(shown)\(format.map { "@" + $0 } ?? "")"
    }

    /// Redacts the credentials in a source. The library finds no user name after an invalid scheme, which ``SourceURL``
    /// does, nor without a scheme: `IMGPROXY_BASE_URL` may add that, so such a source is redacted as if it began with
    /// `http://`.
    private static func redacted(_ source: String) -> String {
        if let url = SourceURL(source) { return ImageRequest(url.withoutUser).redactedURL }
        if ["data:", "http:", "https:"].contains(where: source.hasPrefix) { return ImageRequest(source).redactedURL }
        let scheme = "http://"
        return String(redacted(scheme + source).dropFirst(scheme.count))
    }

    /// Includes the extension: its `@` does not end a user name, and is kept.
    private func plainText(_ source: [Substring]) -> String? {
        let text = source.dropFirst().joined(separator: "/")
        return PercentEncoding.decodedBytes(text).map(PercentEncoding.text)
    }
}
