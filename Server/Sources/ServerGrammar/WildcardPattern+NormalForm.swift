extension WildcardPattern {
    /// The pattern for URLs in normal form, as the library requests them: scheme and host in lower case, no user, password and default
    /// port, and percent-encoded what a URL may not contain. A host in another script must be written in its `xn--` form.
    var inNormalForm: WildcardPattern {
        guard let colon = text.firstRange(of: "://") else { return self }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return self }
        let rest = text[colon.upperBound...]
        var authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        if let end = authority.lastIndex(of: "@") { authority = authority[authority.index(after: end)...] }
        let port = scheme == "http" ? ":80" : ":443"
        // Otherwise the text may go on: `:80` is also the beginning of `:8080`.
        if !path.isEmpty, authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
        return WildcardPattern("\(scheme)://\(authority.lowercased())\(Self.encoded(path))")
    }

    private static func encoded(_ path: Substring) -> String {
        let literal = Set("!$%&'()*+,-./:;=?@_~".utf8)
        return path.utf8.reduce(into: "") { encoded, byte in
            let character = Character(Unicode.Scalar(byte))
            if literal.contains(byte) || byte < 0x80 && (character.isLetter || character.isNumber) {
                encoded.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
