import HTTPTypes

/// Determines the user of a request, to whom an answer is bound unless it is public.
struct AskerScope: Sendable {
    private static let usualSecrets: [HTTPField.Name] = [.authorization, .cookie]

    /// The declared user, whatever is sent; nil: the user follows from the other properties.
    var declared: String?
    /// The properties that are known before sending: user, provider, certificate, the modifier's name.
    var parts: [String] = []
    /// The fields whose values identify the user.
    var secretHeaders = Self.usualSecrets
    /// The other fields that a modifier has changed: they may identify the user, too.
    var changedHeaders: [HTTPField.Name] = []
    /// The user that a modifier declares: neither the secrets that it sets nor the URL that it sends the request to
    /// count then.
    var ofModifier: String?
    /// Whether the request is sent to servers whose certificates are not verified. Nobody else gets such an answer, even if it
    /// is public.
    var isUnverified = false

    /// A text that identifies the user; nil if there is no particular user.
    ///
    /// - Parameter target: the URL that a modifier has substituted for the requested one; nil: none.
    func text(sending fields: HTTPFields, to target: String?) -> String? {
        if let declared { return declared }
        var all = parts
        if let ofModifier {
            all.append("as:" + ofModifier)
        } else {
            if let target { all.append("url:" + target) }
            if !fields.isEmpty { all += secrets(in: fields) }
            all += changedHeaders.map { "\($0.canonicalName):\(fields[$0] ?? "")" }
        }
        return all.isEmpty ? nil : all.joined(separator: "\n")
    }

    /// The values of the secret fields; those of other than the usual names with their names, since two may have equal values.
    func secrets(in fields: HTTPFields) -> [String] {
        secretHeaders.compactMap { name in
            fields[name].map { Self.usualSecrets.contains(name) ? $0 : "\(name.canonicalName):\($0)" }
        }
    }

    /// Whether the user is known before sending.
    var isFixed: Bool { declared != nil || ofModifier != nil }
}
