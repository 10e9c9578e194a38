/// The five parts of a URI reference (RFC 3986 section 3 and appendix B), split without validation: any text has them.
struct URLReference: Hashable {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: Substring) {
        var rest = text
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = Self.endOfScheme(rest) {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// The colon after a scheme: a letter, then letters, digits, `+`, `-`, `.`.
    private static func endOfScheme(_ text: Substring) -> Substring.Index? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex else { return nil }
        for (place, byte) in text[..<colon].utf8.enumerated() {
            let isLetter = lowercased(byte) &- UInt8(ascii: "a") < 26
            let isOther = byte &- UInt8(ascii: "0") < 10 || "+-.".utf8.contains(byte)
            guard isLetter || (place > 0 && isOther) else { return nil }
        }
        return colon
    }

    /// RFC 3986 section 5.2.3: replaces what follows the last slash of `base` with `path`.
    static func merged(_ path: Substring, onto base: String) -> String {
        guard let slash = base.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" + path }
        return String(base[...slash]) + path
    }

    /// RFC 3986 section 5.2.4, for a path that begins with a slash: resolves `.` and `..`.
    static func removingDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        var endsInSlash = false
        for segment in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            endsInSlash = false
            switch segment {
            case ".": endsInSlash = true
            case "..":
                _ = kept.popLast()
                endsInSlash = true
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + (endsInSlash && !kept.isEmpty ? "/" : "")
    }
}
