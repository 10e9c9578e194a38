package import HTTPTypes

/// Normalizes header fields for comparisons: equivalent values become the same text, as far as this is possible without
/// knowing the field (RFC 9111 section 4.1).
package enum FieldIdentity {
    /// Removes blanks at the ends and around the elements of a list; in fields of content negotiation, whose elements
    /// are tokens, all blanks outside quoted strings. Secrets are not treated as lists.
    package static func value(_ value: String, of name: HTTPField.Name) -> String {
        if name == .authorization || name == .cookie { return String(value.trimmingBlanks()) }
        let list = VaryRule.normalised(value)
        return name.canonicalName.hasPrefix("accept") ? withoutBlanks(list) : list
    }

    private static func withoutBlanks(_ list: String) -> String {
        guard list.utf8.contains(where: { $0 == 32 || $0 == 9 }) else { return list }
        var isQuoted = false
        var isEscaped = false
        let bytes = list.utf8.filter { byte in
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isQuoted
            }
            return isQuoted || (byte != 32 && byte != 9)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Names and values, sorted by name. Several fields of one name are joined to a list (RFC 9110 section 5.3).
    package static func all(_ fields: HTTPFields) -> [(name: HTTPField.Name, value: String)] {
        if fields.isEmpty { return [] }
        return Set(fields.map(\.name)).sorted { $0.canonicalName < $1.canonicalName }
            .map { ($0, value(fields[$0] ?? "", of: $0)) }
    }

    /// Whether a field only controls caches (RFC 9111 sections 5.2.1 and 5.4), and so is not a part of a picture's
    /// identity.
    package static func isDirective(_ name: HTTPField.Name) -> Bool {
        name == .cacheControl || name.canonicalName == "pragma"
    }
}
