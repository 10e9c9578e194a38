import HTTPTypes
import WebImageCache
import WebImageCore
import WebImageDownload

extension DiskMetadata {
    /// What the HTTP rules know of the entry. Also for one that did not come by HTTP, which is never fresh for them.
    var storedResponse: StoredResponse {
        StoredResponse(
            status: status, storedFields: headers.map(StoredResponse.Field.init),
            vary: varyRequestHeaders.map(StoredResponse.Field.init), requestTime: requestTime,
            responseTime: responseTime, storedAt: storedAt ?? 0)
    }

    /// Puts in what the HTTP rules want kept; all else stays, as it should when a 304 renews an entry.
    mutating func set(_ response: StoredResponse) {
        status = response.status
        headers = response.storedFields.map { Field(name: $0.name, value: $0.value) }
        varyRequestHeaders = response.vary.map { Field(name: $0.name, value: $0.value) }
        requestTime = response.requestTime
        responseTime = response.responseTime
    }
}

extension StoredResponse {
    /// The answer's head as far as it is kept, with its age of now in place of the one that it came with (RFC 9111 sections 4
    /// and 5.1).
    func head(by rules: HTTPCacheRules, now: Int64) -> ResponseHead {
        var all = HTTPFields()
        for field in fields {
            if let name = HTTPField.Name(field.name) { all.append(HTTPField(name: name, value: field.value)) }
        }
        all[.age] = String(min(max(rules.age(of: self, now: now), 0), 2_147_483_648))
        return ResponseHead(status: status, headers: all)
    }
}

extension StoredResponse.Field {
    fileprivate init(_ field: DiskMetadata.Field) { self.init(name: field.name, value: field.value) }
}

extension HTTPCacheRules {
    /// With the digest that stands in cache keys, too.
    static let standard = HTTPCacheRules(digest: { String(KeyDigest.hex($0).prefix(32)) })

    static func standard(keeping fields: KeptHeaders, isShared: Bool) -> HTTPCacheRules {
        var rules = standard
        rules.keptHeaders = fields
        rules.isShared = isShared
        return rules
    }
}
