import HTTPTypes

/// RFC 9111 sections 3 and 4.3.4.
extension HTTPCacheRules {
    /// What to store of an answer; nil if it may not be stored.
    func storing(
        _ head: ResponseHead, of exchange: CacheExchange, _ arrival: CacheExchange.Arrival
    ) -> StoredResponse? {
        let request = exchange.request
        guard exchange.mode.stores, request.method == .get, !request.isPartial, !request.control.noStore else {
            return nil
        }
        var stored = StoredResponse(
            head, keeping: keptHeaders, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
        guard isStorable(stored, exchange.mode),
            stored.fields.allSatisfy({ $0.value.utf8.count <= KeptHeaders.longestValue }),
            bind(&stored, to: request, arrival)
        else { return nil }
        stored.place = arrival.place
        stored.redirectLifetime = redirectLifetime(
            arrival.redirects, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
        return stored
    }

    /// Section 3. In modes with a lifetime of our own, an answer without a lifetime may be stored, too.
    private func isStorable(_ answer: StoredResponse, _ mode: CacheMode) -> Bool {
        let control = answer.control
        guard (200..<600).contains(answer.status), answer.status != 206, answer.status != 304,
            !forbidsStoring(control, status: answer.status),
            !control.mustUnderstand || Self.understood.contains(answer.status)
        else { return false }
        if mode != .httpRules, answer.status < 300 { return true }
        return control.isPublic || control.isPrivate || control.maxAge != nil || answer["expires"] != nil
            || Self.understood.contains(answer.status)
    }

    /// Whether a 304 refers to this entry (section 4.3.4): its validators must be the entry's, and it must come from
    /// the same place.
    func confirms(_ head: ResponseHead, _ arrival: CacheExchange.Arrival, _ stored: StoredResponse) -> Bool {
        if let place = arrival.place, let known = stored.place, place != known { return false }
        let tag = EntityTag(head[.eTag])
        if let tag, let known = stored.entityTag { return known.weaklyMatches(tag) }
        guard let changed = head[.lastModified], let known = stored["last-modified"] else {
            // A strong tag that the entry does not have belongs to another body.
            return tag?.isWeak ?? true
        }
        return HTTPTimestamp(changed, now: arrival.responseTime) == HTTPTimestamp(known, now: arrival.responseTime)
    }

    /// The entry with its fields replaced by those of a 304 (section 3.2). Age and date are those of the 304, so that
    /// old ones do not remain.
    func merged(
        _ stored: StoredResponse, with head: ResponseHead, _ arrival: CacheExchange.Arrival
    ) -> StoredResponse {
        var merged = stored
        merged.requestTime = arrival.requestTime
        merged.responseTime = arrival.responseTime
        merged.redirectLifetime = redirectLifetime(
            arrival.redirects, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
        merged.fields.removeAll { $0.name == "age" || $0.name == "date" }
        for field in keptHeaders.fields(of: head) where field.value.utf8.count <= KeptHeaders.longestValue {
            // The body is the old one, so its validators stay: some servers send the same tag in another form here.
            // `Vary` stays, too: see `narrow`.
            if ["content-type", "etag", "last-modified", "vary"].contains(field.name) { continue }
            merged.fields.removeAll { $0.name == field.name }
            merged.fields.append(field)
        }
        return merged
    }

    /// Adds the names in the `Vary` of a 304 to those of the entry. Names that the 304 leaves out stay: the entry's
    /// answer had them, and some servers send no `Vary` with a 304.
    ///
    /// - Returns: false if it cannot be determined what the entry varies by.
    func narrow(
        _ stored: inout StoredResponse, by head: ResponseHead, of request: CacheRequest,
        _ arrival: CacheExchange.Arrival
    ) -> Bool {
        guard let value = head[.vary], value != stored["vary"] else { return true }
        guard case .fields(let names) = VaryRule(value), case .fields(let known) = VaryRule(stored["vary"]) else {
            return false
        }
        let added = names.filter { !known.contains($0) }
        if added.isEmpty { return true }
        stored.fields.removeAll { $0.name == "vary" }
        stored.fields.append(.init(name: "vary", value: (known + added).joined(separator: ", ")))
        return bind(&stored, to: request, arrival)
    }
}
