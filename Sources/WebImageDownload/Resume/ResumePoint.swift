import HTTPTypes

/// The information that is needed to resume a body (RFC 9110 sections 14.2 and 13.1.5): it identifies the body with
/// certainty.
struct ResumePoint: Hashable, Sendable {
    /// Identifies the body's bytes exactly, which weak validators do not.
    enum Validator: Hashable, Sendable {
        case tag(EntityTag)
        /// A `Last-Modified`, unchanged.
        case date(String)

        var text: String {
            switch self {
            case .tag(let tag): tag.text
            case .date(let text): text
            }
        }
    }

    let validator: Validator
    /// The length of the whole body, if it is known.
    private(set) var total: Int?
    /// The digest of the answering URL without query, since it is written to disk; nil if it is not known.
    let place: String?
    /// The stored part of the answer.
    private(set) var response: StoredResponse

    /// A date that is so much older than the answer cannot belong to two bodies (RFC 9110 section 8.8.2.2), in seconds.
    private static let certainty: Int64 = 60

    /// Nil for a body that cannot be resumed: an incomplete or encoded one, one without a strong validator, or one from
    /// a server that does not support ranges.
    ///
    /// - Parameter scope: the digest of the user to whom the beginning belongs.
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
        total = try? head.announcedLength()
        place = arrival.place.map { CredentialScope.digest($0.utf8) }
    }

    private static func validator(of response: StoredResponse) -> Validator? {
        if response["etag"] != nil {
            // If there is a tag, even an invalid one, the date must not be used (RFC 9110 section 13.1.5).
            guard let tag = response.entityTag, !tag.isWeak else { return nil }
            return .tag(tag)
        }
        // With `Vary`, several variants of a picture may have the same date.
        guard let text = response["last-modified"], let changed = response.lastModified, response["vary"] == nil,
            response["date"] != nil, response.date.subtracting(changed.seconds) >= certainty
        else { return nil }
        return .date(text)
    }

    static func isCoded(_ head: ResponseHead) -> Bool {
        head[.contentEncoding].map { $0.trimmingBlanks().lowercased() != "identity" } ?? false
    }

    /// Whether the bytes may be written to disk at all.
    ///
    /// - Parameter isShared: whether the store serves many users (RFC 9111 section 3).
    func mayBeKept(isShared: Bool) -> Bool {
        let control = response.control
        return !control.noStore && !(isShared && control.isPrivate)
    }

    func requestFields(from offset: Int) -> HTTPFields {
        [.range: "bytes=\(offset)-", .ifRange: validator.text]
    }

    /// Whether a status may be due to the range, which the server or a proxy may not support. The whole body is then
    /// requested once; if the status has another reason, the server repeats it.
    static func mayRefuseTheRange(_ status: Int) -> Bool {
        (400..<500).contains(status) && ![401, 404, 407, 408, 410, 429].contains(status)
    }

    // MARK: The answer to a request for the rest

    /// Takes the head of a 206, or returns why the rest does not belong to the beginning.
    mutating func accept(
        _ head: ResponseHead, _ arrival: CacheExchange.Arrival, offset: Int, keeping kept: KeptHeaders = .standard
    ) -> Mismatch? {
        if let place, let other = arrival.place, place != CredentialScope.digest(other.utf8) { return .place }
        if head[.contentType]?.trimmingBlanks().lowercased().hasPrefix("multipart/") ?? false { return .multipart }
        if Self.isCoded(head) { return .coding }
        guard let content = ContentRange(head[.contentRange]), let range = content.range, range.lowerBound == offset
        else { return .range }
        if head[.contentLength] != nil, (try? head.announcedLength()) != range.count { return .range }
        // Without a total it is not known whether the part reaches the end.
        guard let whole = total ?? content.total, content.total ?? whole == whole, range.upperBound <= whole else {
            return .total
        }
        switch validator {
        // A server that compared the tag must also send it (RFC 9110 section 15.3.7).
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

    /// The fields of the 206 replace those of the first answer (RFC 9110 section 15.3.7.3).
    private mutating func merge(_ head: ResponseHead, _ arrival: CacheExchange.Arrival, _ kept: KeptHeaders) {
        response.requestTime = arrival.requestTime
        response.responseTime = arrival.responseTime
        response.fields.removeAll { $0.name == "age" || $0.name == "date" }
        for field in kept.fields(of: head) where field.name != "content-type" {
            response.fields.removeAll { $0.name == field.name }
            response.fields.append(field)
        }
    }

    /// The head of the whole body, as if it had come in one piece.
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

    /// The resume point in compact form, with a version.
    func encoded() -> [UInt8] {
        var entry = response
        entry.place = place
        if let total { entry.fields.append(.init(name: Self.totalName, value: String(total))) }
        return entry.encoded()
    }

    /// Nil if the bytes were not made by ``encoded()``.
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
