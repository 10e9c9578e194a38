package import HTTPTypes

/// The properties of a request that the HTTP rules need: the request as it will be sent, without the fields that the
/// rules add. Immutable, and a class, since every stage of a load passes it on.
package final class CacheRequest: Sendable {
    package let method: HTTPRequest.Method
    /// All fields, including those of the configuration and the modifier, since `Vary` may name any of them. Without
    /// the jar's cookies, and without credentials that are not given as fields.
    package let fields: HTTPFields
    /// The user to whom an answer for this request is bound. Nil if there is no particular user.
    package let credentialScope: String?
    /// False until a modifier has determined what is sent. Until then the request can only use answers that are valid
    /// for everybody, or that are bound to a declared scope.
    package let knowsFields: Bool
    /// Whether the request stays the same as long as the downloader's settings do.
    package let isSteady: Bool
    /// Returns the cookies that would be sent to a URL now, in the form of ``SentHop/place``; nil for a request without
    /// a jar.
    let cookies: (@Sendable (_ place: String) -> String?)?
    let control: CacheControl
    let isPartial: Bool
    /// Whether the caller's own fields make it conditional.
    let isConditional: Bool
    private let scope: AskerScope

    /// - Parameter credentialScope: nil derives the user from the fields.
    package convenience init(
        method: HTTPRequest.Method = .get, fields: HTTPFields = [:], credentialScope: String? = nil
    ) {
        self.init(method: method, fields: fields, scope: AskerScope(declared: credentialScope))
    }

    /// - Parameter target: as for ``AskerScope/text(sending:to:)``.
    init(
        method: HTTPRequest.Method, fields: HTTPFields, scope: AskerScope, target: String? = nil,
        knowsFields: Bool = true, isSteady: Bool = true, cookies: (@Sendable (_ place: String) -> String?)? = nil
    ) {
        self.method = method
        self.fields = fields
        self.scope = scope
        self.knowsFields = knowsFields
        self.isSteady = isSteady
        self.cookies = cookies
        credentialScope = scope.text(sending: fields, to: target)
        let value = fields[.cacheControl]
        // Pragma counts if there is no Cache-Control (RFC 9111 section 5.4).
        let isOldNoCache = value == nil && Self.pragma.flatMap { fields[$0] }?.lowercased() == "no-cache"
        control = CacheControl(isOldNoCache ? "no-cache" : value)
        isPartial = fields[.range] != nil
        isConditional = !fields.isEmpty && Self.conditions.contains { fields[$0] != nil }
    }

    private static let conditions = [
        HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]
    private static let pragma = HTTPField.Name("Pragma")

    /// Returns the request as it was actually sent, with unchanged cache directives.
    func sent(as hop: SentHop) -> CacheRequest { CacheRequest(self, sentAs: hop) }

    private init(_ request: CacheRequest, sentAs hop: SentHop) {
        (method, scope, control, cookies) = (request.method, request.scope, request.control, request.cookies)
        (knowsFields, isSteady) = (true, true)
        (isPartial, isConditional) = (request.isPartial, request.isConditional)
        fields = hop.fields
        credentialScope = scope.text(sending: fields, to: hop.target)
    }

    /// Whether the user of the request is known.
    var knowsScope: Bool { knowsFields || scope.isFixed }

    /// Whether the request itself declares its user: the jar's cookies are then ignored.
    var declaresScope: Bool { scope.declared != nil }

    /// Whether the request is sent to servers whose certificates are not verified.
    var isUnverified: Bool { scope.isUnverified }

    /// The names of the fields that identify the user, in lower case.
    var secretNames: Set<String> { Set(scope.isFixed ? [] : scope.secretHeaders.map(\.canonicalName)) }

    /// False for a request that the caller has made conditional or partial, and for methods other than GET: the cache
    /// then leaves the answer to the caller.
    var isPlainGet: Bool { method == .get && !isPartial && !isConditional }

    /// Whether its method is unsafe (RFC 9110 section 9.2.1).
    var changesSomething: Bool { ![HTTPRequest.Method.get, .head, .options, .trace].contains(method) }
}

/// What one request of a download sent, to determine later for whom its answer is valid.
package struct SentHop: Sendable {
    /// The URL without query; empty for the requested URL.
    var place: String
    /// The URL to which a modifier redirected the request; nil: the requested URL.
    var target: String?
    /// As in ``CacheRequest/fields``.
    var fields: HTTPFields
    /// The cookies that the jar added.
    var cookies: String?

    package init(place: String = "", target: String? = nil, fields: HTTPFields, cookies: String? = nil) {
        self.place = place
        self.target = target
        self.fields = fields
        self.cookies = cookies
    }
}
