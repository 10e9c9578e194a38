/// The properties of an answer that are stored with its body for the HTTP rules.
package struct StoredResponse: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        /// In lower case.
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var status: Int
    /// The fields of the answer that are stored, see ``HTTPCacheRules/keptHeaders``.
    package internal(set) var fields: [Field]
    /// For each field that `Vary` names, the digest of its value in the request; empty if the request had none.
    package var vary: [Field]
    /// The digest of the user; nil if there was no particular user. It begins with ``unverified`` if the certificates of
    /// servers were not verified.
    package var scope: String?
    /// For each request on the way, its place, in the form of ``SentHop/place``, and the digest of the jar's cookies;
    /// empty if there were none. No elements for a request without a jar.
    package var cookies: [Field] = []
    /// The URL that answered, without query; after redirects it may differ from the requested one. Nil: not known.
    package var place: String?
    /// How long the redirects on the way may be reused, in seconds; nil if there were none, or only permanent ones; 0 if
    /// they state no lifetime.
    package var redirectLifetime: Int64?
    /// When the request was sent and when the head of the answer arrived, in seconds since 1970.
    package var requestTime: Int64
    package var responseTime: Int64

    /// The ``redirectLifetime`` of redirects that must be followed again each time: they forbid storing, or their
    /// lifetime is over.
    static let mustFollowRedirects: Int64 = -1

    static let unverified = "unverified:"

    /// Whether the answer may come from anybody, because certificates were not verified.
    var isUnverified: Bool { scope?.hasPrefix(Self.unverified) ?? false }
    /// Whether the answer is for one user.
    package var isOfUser: Bool { scope != nil && scope != Self.unverified }

    package init(
        status: Int, fields: [Field], vary: [Field] = [], scope: String? = nil, place: String? = nil,
        redirectLifetime: Int64? = nil, requestTime: Int64, responseTime: Int64
    ) {
        self.status = status
        self.fields = fields
        self.vary = vary
        self.scope = scope
        self.place = place
        self.redirectLifetime = redirectLifetime
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// The value of the first field with a name, which is given in lower case.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    package var control: CacheControl { CacheControl(self["cache-control"]) }
    var entityTag: EntityTag? { EntityTag(self["etag"]) }
    var lastModified: HTTPTimestamp? { self["last-modified"].flatMap { HTTPTimestamp($0, now: responseTime) } }
    /// When the origin made the answer; if it has no clock, when the answer arrived (RFC 9110 section 6.6.1).
    var date: Int64 { self["date"].flatMap { HTTPTimestamp($0, now: responseTime) }?.seconds ?? responseTime }

    /// Whether the answer has a strong entity tag: one that identifies the exact bytes of the body.
    package var hasStrongTag: Bool { entityTag.map { !$0.isWeak } ?? false }

    /// Whether the origin can be asked to confirm the answer.
    package var hasValidator: Bool { entityTag != nil || lastModified != nil }
}
