import HTTPTypes

/// How it follows from a request who asks: what an answer is bound to, unless it is public.
struct AskerScope: Sendable {
    private static let usualSecrets: [HTTPField.Name] = [.authorization, .cookie]

    /// Says it whatever is sent; nil: it follows from the rest.
    var declared: String?
    /// What is known before anything is sent: user, provider, certificate, the modifier's name.
    var parts: [String] = []
    /// The fields whose values say who asks.
    var secretHeaders = Self.usualSecrets
    /// For whom a modifier says that it speaks: neither the secrets that it sets nor where it sends the request count then.
    var ofModifier: String?

    /// Nil for nobody in particular.
    ///
    /// - Parameter target: the URL that a modifier put in place of the one that was asked for; nil: none.
    func text(sending fields: HTTPFields, to target: String?) -> String? {
        if let declared { return declared }
        var all = parts
        if let ofModifier {
            all.append("as:" + ofModifier)
        } else {
            if let target { all.append("url:" + target) }
            if !fields.isEmpty { all += secretHeaders.compactMap { fields[$0] } }
        }
        return all.isEmpty ? nil : all.joined(separator: "\n")
    }

    /// Whether it holds whatever is sent.
    var isFixed: Bool { declared != nil || ofModifier != nil }
}
