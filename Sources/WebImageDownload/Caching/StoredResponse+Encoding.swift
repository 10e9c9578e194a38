/// Maps an answer to the parts of an entry on disk: header fields, the request fields of `Vary`, and two times.
/// Everything else becomes fields whose names begin with a colon, which names of header fields cannot.
extension StoredResponse {
    private static let scopeName = ":scope"
    private static let cookiesName = ":cookies "
    private static let placeName = ":place"
    private static let redirectName = ":redirect-lifetime"

    /// The answer's fields, and fields with our own names for the other properties.
    package var storedFields: [Field] {
        var all = fields
        if let scope { all.append(Field(name: Self.scopeName, value: scope)) }
        all += cookies.map { Field(name: Self.cookiesName + $0.name, value: $0.value) }
        if let place { all.append(Field(name: Self.placeName, value: place)) }
        if let redirectLifetime { all.append(Field(name: Self.redirectName, value: String(redirectLifetime))) }
        return all
    }

    /// Decodes the parts of an entry on disk.
    ///
    /// - Parameters:
    ///   - status: nil for an entry that did not come by HTTP: it is used where any entry is, and is never fresh.
    ///   - storedFields: as returned by ``storedFields``; names in any case.
    ///   - storedAt: replaces missing times.
    package init(
        status: Int?, storedFields: [Field], vary: [Field], requestTime: Int64?, responseTime: Int64?, storedAt: Int64
    ) {
        let responseTime = responseTime ?? storedAt
        self.init(
            status: status ?? 200, fields: [], vary: vary, requestTime: requestTime ?? responseTime,
            responseTime: responseTime)
        for field in storedFields {
            switch field.name {
            case Self.scopeName: scope = field.value
            case Self.placeName: place = field.value
            case let name where name.hasPrefix(Self.cookiesName):
                cookies.append(Field(name: String(name.dropFirst(Self.cookiesName.count)), value: field.value))
            case Self.redirectName: redirectLifetime = DeltaSeconds.parse(field.value) ?? Self.mustFollowRedirects
            // Fields that a later version added are ignored.
            case let name where name.hasPrefix(":"): break
            default: fields.append(Field(name: field.name.lowercased(), value: field.value))
            }
        }
    }

    /// All properties in compact form, with a version.
    package func encoded() -> [UInt8] {
        let own = [
            Field(name: ":status", value: String(status)), Field(name: ":sent", value: String(requestTime)),
            Field(name: ":came", value: String(responseTime)),
        ]
        let vary = vary.map { Field(name: ":vary " + $0.name, value: $0.value) }
        return FieldCoding.encode(own + vary + storedFields)
    }

    /// Nil if the bytes were not made by ``encoded()``.
    package init?(encoded bytes: [UInt8]) {
        guard let all = FieldCoding.decode(bytes) else { return nil }
        var (status, sent, came): (Int?, Int64?, Int64?)
        var (vary, rest): ([Field], [Field]) = ([], [])
        for field in all {
            switch field.name {
            case ":status": status = Int(field.value)
            case ":sent": sent = Int64(field.value)
            case ":came": came = Int64(field.value)
            case let name where name.hasPrefix(":vary "):
                vary.append(Field(name: String(name.dropFirst(6)), value: field.value))
            default: rest.append(field)
            }
        }
        guard let status, let sent, let came else { return nil }
        self.init(
            status: status, storedFields: rest, vary: vary, requestTime: sent, responseTime: came, storedAt: came)
    }
}
