/// What an entry on disk has places for: header fields, the request fields of `Vary`, and two times. All else becomes
/// fields whose names begin with a colon, which no header field's does.
extension StoredResponse {
    private static let scopeName = ":scope"
    private static let cookiesName = ":cookies "
    private static let placeName = ":place"
    private static let redirectName = ":redirect-lifetime"

    /// The answer's fields and, under names of our own, what there are no fields for.
    package var storedFields: [Field] {
        var all = fields
        if let scope { all.append(Field(name: Self.scopeName, value: scope)) }
        all += cookies.map { Field(name: Self.cookiesName + $0.name, value: $0.value) }
        if let place { all.append(Field(name: Self.placeName, value: place)) }
        if let redirectLifetime { all.append(Field(name: Self.redirectName, value: String(redirectLifetime))) }
        return all
    }

    /// From what an entry on disk says.
    ///
    /// - Parameters:
    ///   - status: nil for an entry that did not come by HTTP: it is served where any entry is, and is never fresh.
    ///   - storedFields: as ``storedFields`` gave them; names in any case.
    ///   - storedAt: stands for times that are missing.
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
            case Self.redirectName: redirectLifetime = DeltaSeconds.parse(field.value) ?? 0
            // What a later version added means nothing to this one.
            case let name where name.hasPrefix(":"): break
            default: fields.append(Field(name: field.name.lowercased(), value: field.value))
            }
        }
    }

    /// All of it in a few bytes, with a version.
    package func encoded() -> [UInt8] {
        let own = [
            Field(name: ":status", value: String(status)), Field(name: ":sent", value: String(requestTime)),
            Field(name: ":came", value: String(responseTime)),
        ]
        let vary = vary.map { Field(name: ":vary " + $0.name, value: $0.value) }
        return FieldCoding.encode(own + vary + storedFields)
    }

    /// Nil for bytes that ``encoded()`` did not make.
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
