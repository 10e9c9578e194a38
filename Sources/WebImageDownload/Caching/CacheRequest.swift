package import HTTPTypes

/// What the HTTP rules must know of a request, as it will be sent but for what the rules themselves add.
package struct CacheRequest: Sendable {
    package let method: HTTPRequest.Method
    /// All fields, the configuration's included: `Vary` may name any of them.
    package let fields: HTTPFields
    /// Who asks: what an answer for this request is bound to. Nil for nobody in particular.
    package let credentialScope: String?
    let control: CacheControl

    /// - Parameter credentialScope: nil takes what the fields say of who asks.
    package init(method: HTTPRequest.Method = .get, fields: HTTPFields = [:], credentialScope: String? = nil) {
        self.method = method
        self.fields = fields
        let own = [HTTPField.Name.authorization, .cookie].compactMap { fields[$0] }
        self.credentialScope = credentialScope ?? (own.isEmpty ? nil : own.joined(separator: "\n"))
        let value = fields[.cacheControl]
        // Pragma counts where there is no Cache-Control (RFC 9111 section 5.4).
        let isOldNoCache = value == nil && Self.pragma.flatMap { fields[$0] }?.lowercased() == "no-cache"
        control = CacheControl(isOldNoCache ? "no-cache" : value)
    }

    private static let pragma = HTTPField.Name("Pragma")

    /// False for a request that the caller has made conditional or partial itself, and for methods other than GET: its
    /// answer is the caller's business, not ours.
    var isPlainGet: Bool { method == .get && !isPartial && !isConditional }

    var isPartial: Bool { fields[.range] != nil }

    private var isConditional: Bool {
        [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange]
            .contains { fields[$0] != nil }
    }
}
