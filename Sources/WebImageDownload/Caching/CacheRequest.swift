package import HTTPTypes

/// What the HTTP rules must know of a request, as it will be sent but for what the rules themselves add.
package struct CacheRequest: Sendable {
    package let method: HTTPRequest.Method
    /// All fields, the configuration's and the modifier's included: `Vary` may name any of them. Without the jar's cookies,
    /// and without what credentials other than fields become.
    package let fields: HTTPFields
    /// The user to whom an answer for this request is bound. Nil if there is no particular user.
    package let credentialScope: String?
    /// False while a modifier has yet to say what is sent: then only what is good for everybody is good for this request, and
    /// what is bound to a scope that was declared.
    package private(set) var knowsFields = true
    /// Whether it stays what it is for as long as the downloader's settings do.
    package private(set) var isSteady = true
    /// The cookies that would be sent to a URL now, as ``SentHop/place`` has it; nil for a request without a jar.
    private(set) var cookies: (@Sendable (_ place: String) -> String?)?
    let control: CacheControl
    private let scope: AskerScope

    /// - Parameter credentialScope: nil takes what the fields say of who asks.
    package init(method: HTTPRequest.Method = .get, fields: HTTPFields = [:], credentialScope: String? = nil) {
        self.init(method: method, fields: fields, scope: AskerScope(declared: credentialScope))
    }

    /// - Parameter target: as ``AskerScope/text(sending:to:)`` has it.
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
        // Pragma counts where there is no Cache-Control (RFC 9111 section 5.4).
        let isOldNoCache = value == nil && Self.pragma.flatMap { fields[$0] }?.lowercased() == "no-cache"
        control = CacheControl(isOldNoCache ? "no-cache" : value)
    }

    private static let pragma = HTTPField.Name("Pragma")

    /// The same request as it was really sent. What it says of caching stays.
    func sent(as hop: SentHop) -> CacheRequest { CacheRequest(self, sentAs: hop) }

    private init(_ request: CacheRequest, sentAs hop: SentHop) {
        (method, scope, control, cookies) = (request.method, request.scope, request.control, request.cookies)
        fields = hop.fields
        credentialScope = scope.text(sending: fields, to: hop.target)
    }

    /// Whether it can be told who asks.
    var knowsScope: Bool { knowsFields || scope.isFixed }

    /// Whether the request itself says who asks: the jar's cookies do not count then.
    var declaresScope: Bool { scope.declared != nil }

    /// The fields whose values say who asks, in lower case.
    var secretNames: Set<String> { Set(scope.isFixed ? [] : scope.secretHeaders.map(\.canonicalName)) }

    /// False for a request that the caller has made conditional or partial itself, and for methods other than GET: its
    /// answer is the caller's business, not ours.
    var isPlainGet: Bool { method == .get && !isPartial && !isConditional }

    /// Whether its method is none of the safe ones (RFC 9110 section 9.2.1).
    var changesSomething: Bool { ![HTTPRequest.Method.get, .head, .options, .trace].contains(method) }

    var isPartial: Bool { fields[.range] != nil }

    private var isConditional: Bool {
        [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange]
            .contains { fields[$0] != nil }
    }
}

/// What one request of a download said, so that it can be told later who may have its answer.
package struct SentHop: Sendable {
    /// The URL without query; empty for the URL that was asked for.
    var place: String
    /// Where a modifier sent the request in place of the URL that was asked for; nil: nowhere else.
    var target: String?
    /// As ``CacheRequest/fields``.
    var fields: HTTPFields
    /// Those that the jar added.
    var cookies: String?

    package init(place: String = "", target: String? = nil, fields: HTTPFields, cookies: String? = nil) {
        self.place = place
        self.target = target
        self.fields = fields
        self.cookies = cookies
    }
}
