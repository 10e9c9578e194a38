/// People type `www.example.com/a.jpg` as into a browser. Here that is a path, and messages say what is missing.
enum MissingScheme {
    /// What to add to a message about a text that is perhaps a web address without its scheme; nil for what looks like none.
    static func hint(for text: String) -> String? {
        let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || isPort(parts[1]), isHost(host) else { return nil }
        // `a.jpg` alone is a file; a host has a path behind it, a port, or the name that only hosts have.
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
