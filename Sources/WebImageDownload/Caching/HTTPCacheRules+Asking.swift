import HTTPTypes

/// Determines who may use an answer.
///
/// An answer is bound to the request that it was for: by `Vary` to the fields that it names and, unless it is `public`,
/// to the user and to the cookies that the jar sent to each URL on the way. A look-up compares these with those that
/// would be sent now. If this cannot be determined before a request is sent, because only a later hop sent them, the
/// answer is not stored.
extension HTTPCacheRules {
    /// Whether an answer is valid for a request, regardless of its age: by `Vary` and by user.
    package func isFor(_ request: CacheRequest, _ stored: StoredResponse) -> Bool {
        // An entry that says no-store was not stored by these rules, and is not served by them.
        guard !forbidsStoring(stored.control, status: stored.status), matchesVary(request, stored) else { return false }
        guard stored.isUnverified == request.isUnverified else { return false }
        if stored.control.isPublic, !namesSecrets(stored, of: request) { return true }
        guard request.knowsScope, stored.scope == scope(of: request) else { return false }
        return request.declaresScope || matchesCookies(request, stored)
    }

    /// Whether an answer is valid for everybody, whatever they send.
    package func isForAll(_ stored: StoredResponse) -> Bool {
        guard stored.control.isPublic, !stored.isUnverified, stored.vary.isEmpty,
            case .fields([]) = VaryRule(stored["vary"])
        else {
            return false
        }
        return true
    }

    func scope(of request: CacheRequest) -> String? {
        let user = request.credentialScope.map { digest("scope " + $0) }
        return request.isUnverified ? StoredResponse.unverified + (user ?? "") : user
    }

    private func matchesVary(_ request: CacheRequest, _ stored: StoredResponse) -> Bool {
        guard case .fields(let names) = VaryRule(stored["vary"]) else { return false }
        // An entry that was stored before these rules has no digests, so that its request is unknown.
        guard names.allSatisfy({ name in stored.vary.contains { $0.name == name } }) else { return false }
        if stored.vary.isEmpty { return true }
        return request.knowsFields && stored.vary.allSatisfy { $0.value == varyDigest($0.name, request) }
            && (!stored.vary.contains { $0.name == "cookie" } || matchesCookies(request, stored))
    }

    /// Whether an answer varies by a secret field. If it is also `public`, it contradicts itself, and is treated as one
    /// for this user.
    private func namesSecrets(_ stored: StoredResponse, of request: CacheRequest) -> Bool {
        if stored.vary.isEmpty { return false }
        let secrets = request.secretNames.union(["authorization", "cookie"])
        return stored.vary.contains { secrets.contains($0.name) }
    }

    /// Whether the jar would send the same cookies now, to each place on the way.
    private func matchesCookies(_ request: CacheRequest, _ stored: StoredResponse) -> Bool {
        guard let cookies = request.cookies else { return stored.cookies.allSatisfy { $0.value.isEmpty } }
        return !stored.cookies.isEmpty
            && stored.cookies.allSatisfy { $0.value == cookieDigest(cookies($0.name)) }
    }

    private func cookieDigest(_ cookies: String?) -> String { cookies.map { digest("cookies " + $0) } ?? "" }

    private func varyDigest(_ name: String, _ request: CacheRequest) -> String {
        guard let name = HTTPField.Name(name), let value = request.fields[name] else { return "" }
        return digest(FieldIdentity.value(value, of: name))
    }

    /// Records for which requests and which user an answer is valid.
    ///
    /// - Returns: false if this could not be determined later; the answer must then not be stored.
    func bind(_ stored: inout StoredResponse, to request: CacheRequest, _ arrival: CacheExchange.Arrival) -> Bool {
        var names: Set<String> = []
        guard addVaryNames(of: stored["vary"], to: &names) else { return false }
        // The targets of redirects may vary as well.
        for redirect in arrival.redirects {
            guard addVaryNames(of: redirect[.vary], to: &names) else { return false }
        }
        let asked = arrival.hops.first.map { request.sent(as: $0) } ?? request
        if arrival.hops.count > 1 {
            let decisive = stored.control.isPublic ? names : names.union(asked.secretNames)
            for name in decisive.compactMap({ HTTPField.Name($0) }) {
                let value = asked.fields[name]
                for hop in arrival.hops.dropFirst() {
                    if let later = hop.fields[name], later != value { return false }
                }
            }
        }
        stored.vary = names.sorted().map { .init(name: $0, value: varyDigest($0, asked)) }
        stored.scope = scope(of: asked)
        if request.cookies != nil {
            stored.cookies = arrival.hops.map { .init(name: $0.place, value: cookieDigest($0.cookies)) }
        }
        return true
    }

    /// Adds the names in a `Vary` field. Returns false if it cannot be determined by which fields the answer varies.
    private func addVaryNames(of value: String?, to names: inout Set<String>) -> Bool {
        guard let value else { return true }
        guard case .fields(let some) = VaryRule(value) else { return false }
        names.formUnion(some)
        return true
    }
}
