import HTTPTypes
import WebImageCache
import WebImageCore
import WebImageDownload

extension DiskMetadata {
    /// The entry as the HTTP rules see it. An entry that did not come by HTTP is never fresh for them.
    var storedResponse: StoredResponse {
        StoredResponse(
            status: status, storedFields: headers.map(StoredResponse.Field.init),
            vary: varyRequestHeaders.map(StoredResponse.Field.init), requestTime: requestTime,
            responseTime: responseTime, storedAt: storedAt ?? 0)
    }

    /// Sets the fields that the HTTP rules need; the others stay, as they should when a 304 renews an entry.
    mutating func set(_ response: StoredResponse) {
        status = response.status
        headers = response.storedFields.map { Field(name: $0.name, value: $0.value) }
        varyRequestHeaders = response.vary.map { Field(name: $0.name, value: $0.value) }
        requestTime = response.requestTime
        responseTime = response.responseTime
    }
}

extension StoredResponse {
    /// The stored part of the answer's head, with the current age in place of the one with which it arrived (RFC 9111
    /// sections 4 and 5.1).
    func head(by rules: HTTPCacheRules, now: Int64) -> ResponseHead {
        var all = HTTPFields()
        for field in fields {
            if let name = HTTPField.Name(field.name) { all.append(HTTPField(name: name, value: field.value)) }
        }
        all[.age] = String(min(max(rules.age(of: self, now: now), 0), 2_147_483_648))
        var head = ResponseHead(status: status, headers: all)
        // As if it had arrived now, as its age is the current one.
        head.arrival = ResponseHead.Arrival(
            requestTime: now, responseTime: now, redirectLifetime: rules.redirectLifetime(of: self, now: now))
        return head
    }
}

extension StoredResponse.Field {
    fileprivate init(_ field: DiskMetadata.Field) { self.init(name: field.name, value: field.value) }
}

extension HTTPCacheRules {
    /// The rules with the digest that cache keys use, too.
    static let standard = HTTPCacheRules(digest: { String(KeyDigest.hex($0).prefix(32)) })

    static func standard(keeping fields: KeptHeaders, isShared: Bool) -> HTTPCacheRules {
        var rules = standard
        rules.keptHeaders = fields
        rules.isShared = isShared
        return rules
    }
}
