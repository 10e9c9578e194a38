package import HTTPTypes

/// Header fields as identities know them: two values that mean the same are the same text, as far as that is known without
/// knowing the field (RFC 9111 section 4.1).
package enum FieldIdentity {
    /// Without blanks at the ends and around the elements of a list; in the fields of content negotiation, whose elements
    /// are known to be tokens, without any outside of quoted strings. Secrets are no lists.
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

    /// Names and values in the order of the names. Several fields of one name are one list (RFC 9110 section 5.3).
    package static func all(_ fields: HTTPFields) -> [(name: HTTPField.Name, value: String)] {
        if fields.isEmpty { return [] }
        return Set(fields.map(\.name)).sorted { $0.canonicalName < $1.canonicalName }
            .map { ($0, value(fields[$0] ?? "", of: $0)) }
    }

    /// Whether a field only says what a cache is to do (RFC 9111 sections 5.2.1 and 5.4): no part of a picture's identity.
    package static func isDirective(_ name: HTTPField.Name) -> Bool {
        name == .cacheControl || name.canonicalName == "pragma"
    }
}
