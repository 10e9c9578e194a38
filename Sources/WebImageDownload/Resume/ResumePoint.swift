import HTTPTypes

/// What must be known of a body to go on with it where it broke off (RFC 9110 sections 14.2 and 13.1.5): which one it
/// was, surely.
struct ResumePoint: Hashable, Sendable {
    /// What stands for the body's bytes, and for no others: weak validators do not.
    enum Validator: Hashable, Sendable {
        case tag(EntityTag)
        /// A `Last-Modified`, as it was written.
        case date(String)

        var text: String {
            switch self {
            case .tag(let tag): tag.text
            case .date(let text): text
            }
        }
    }

    let validator: Validator
    /// Of the whole body, when it is known.
    private(set) var total: Int?
    /// The digest of the URL that answered, without query: it is written to disk; nil when it is not known.
    let place: String?
    /// The answer as far as it is kept.
    private(set) var response: StoredResponse

    /// A date that is so much older than the answer cannot stand for two bodies (RFC 9110 section 8.8.2.2), in seconds.
    private static let certainty: Int64 = 60

    /// Nil for a body that cannot be gone on with: not the whole, coded on the way, without a strong validator, or
    /// from a server that sends no parts.
    ///
    /// - Parameter scope: the digest of who asks: whose beginning it is.
    init?(
        _ head: ResponseHead, _ arrival: CacheExchange.Arrival, keeping kept: KeptHeaders = .standard,
        scope: String? = nil
    ) {
        guard head.status == 200, !Self.isCoded(head), head[.acceptRanges]?.trimmingBlanks().lowercased() != "none"
        else { return nil }
        response = StoredResponse(
            head, keeping: kept, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
        response.scope = scope
        guard let validator = Self.validator(of: response) else { return nil }
        self.validator = validator
        total = head[.contentLength].flatMap { DeltaSeconds.parse($0) == nil ? nil : Int($0) }
        place = arrival.place.map { CredentialScope.digest($0.utf8) }
    }

    private static func validator(of response: StoredResponse) -> Validator? {
        if response["etag"] != nil {
            // Beside a tag, whatever is wrong with it, a date is not to be used (RFC 9110 section 13.1.5).
            guard let tag = response.entityTag, !tag.isWeak else { return nil }
            return .tag(tag)
        }
        // One date may stand for several forms of a picture that was changed once.
        guard let text = response["last-modified"], let changed = response.lastModified, response["vary"] == nil,
            response["date"] != nil, response.date.subtracting(changed.seconds) >= certainty
        else { return nil }
        return .date(text)
    }

    static func isCoded(_ head: ResponseHead) -> Bool {
        head[.contentEncoding].map { $0.trimmingBlanks().lowercased() != "identity" } ?? false
    }

    /// Whether the bytes may be written to disk at all.
    var mayBeKept: Bool { !response.control.noStore }

    func requestFields(from offset: Int) -> HTTPFields {
        [.range: "bytes=\(offset)-", .ifRange: validator.text]
    }

    /// Whether a status may be about the range, which a server, or what stands before it, does not like: then all is asked
    /// for, once. What is wrong with the picture or with who asks says so again.
    static func mayRefuseTheRange(_ status: Int) -> Bool {
        (400..<500).contains(status) && ![401, 404, 407, 408, 410, 429].contains(status)
    }

    // MARK: The answer to a request for the rest

    /// Takes in the head of a 206, or says why the rest does not belong to the beginning.
    mutating func accept(
        _ head: ResponseHead, _ arrival: CacheExchange.Arrival, offset: Int, keeping kept: KeptHeaders = .standard
    ) -> Mismatch? {
        if let place, let other = arrival.place, place != CredentialScope.digest(other.utf8) { return .place }
        if head[.contentType]?.trimmingBlanks().lowercased().hasPrefix("multipart/") ?? false { return .multipart }
        if Self.isCoded(head) { return .coding }
        guard let content = ContentRange(head[.contentRange]), let range = content.range, range.lowerBound == offset
        else { return .range }
        if let length = head[.contentLength], Int(length) != range.count { return .range }
        // Without a total nobody knows whether the part goes to the end.
        guard let whole = total ?? content.total, content.total ?? whole == whole, range.upperBound <= whole else {
            return .total
        }
        switch validator {
        // A server that must know the tag to answer so must also tell it (RFC 9110 section 15.3.7).
        case .tag(let tag): if EntityTag(head[.eTag])?.stronglyMatches(tag) != true { return .validator }
        case .date(let text): if head[.lastModified] != text { return .validator }
        }
        total = whole
        merge(head, arrival, kept)
        return nil
    }

    enum Mismatch: String, Hashable, Sendable {
        case place, multipart, coding, range, total, validator
    }

    /// What the 206 says replaces what the first answer said (RFC 9110 section 15.3.7.3).
    private mutating func merge(_ head: ResponseHead, _ arrival: CacheExchange.Arrival, _ kept: KeptHeaders) {
        response.requestTime = arrival.requestTime
        response.responseTime = arrival.responseTime
        response.fields.removeAll { $0.name == "age" || $0.name == "date" }
        for field in kept.fields(of: head) where field.name != "content-type" {
            response.fields.removeAll { $0.name == field.name }
            response.fields.append(field)
        }
    }

    /// The head of the whole, as if it had come in one piece.
    func wholeHead(like head: ResponseHead) -> ResponseHead {
        var fields = HTTPFields()
        for field in response.fields {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        if let total { fields[.contentLength] = String(total) }
        return ResponseHead(status: 200, headers: fields, version: head.version, remoteAddress: head.remoteAddress)
    }
}

extension ResumePoint {
    private static let totalName = ":total"

    /// In a few bytes, with a version.
    func encoded() -> [UInt8] {
        var entry = response
        entry.place = place
        if let total { entry.fields.append(.init(name: Self.totalName, value: String(total))) }
        return entry.encoded()
    }

    /// Nil for bytes that ``encoded()`` did not make.
    init?(encoded bytes: [UInt8]) {
        guard let fields = FieldCoding.decode(bytes), let entry = StoredResponse(encoded: bytes),
            let validator = Self.validator(of: entry)
        else { return nil }
        response = entry
        self.validator = validator
        place = entry.place
        response.place = nil
        total = fields.first { $0.name == Self.totalName }.flatMap { Int($0.value) }
        if let total, total < 0 { return nil }
    }
}
