/// The hosts of sources.
public enum SourceHost {
    /// - Returns: the host of a URL in lower case, without user, password and port; nil if there is none.
    public static func name(of url: String) -> String? {
        guard let start = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first
        else { return nil }
        let authority = start.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // IPv6 addresses contain colons.
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end].lowercased() }
        return host.prefix { $0 != ":" }.lowercased()
    }
}
