/// Users may write `www.example.com/a.jpg` as in a browser. Such a text is not a URL here, and may be taken for a path,
/// so messages point out the missing scheme.
enum MissingScheme {
    /// A hint for messages about a text that may be a web address without its scheme; nil if it does not look like one.
    static func hint(for text: String) -> String? {
        let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || isPort(parts[1]), isHost(host) else { return nil }
        // `a.jpg` alone is a file; a host is followed by a path or a port, or has a name that only hosts have.
        guard parts.count == 2 || authority.endIndex != text.endIndex || host.lowercased().hasPrefix("www.") else {
            return nil
        }
        return "for a web address, write https:// before it"
    }

    private static func isPort(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 5 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isHost(_ text: Substring) -> Bool {
        if text.lowercased() == "localhost" { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isWord = labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
        }
        guard labels.count > 1, isWord, let last = labels.last else { return false }
        let isAddress = labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
        return isAddress || (last.count > 1 && last.allSatisfy(\.isLetter))
    }
}
