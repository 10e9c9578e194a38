import WebImageCore

/// Processes a document type, so that librsvg need not: entities replace their references, and of other declarations
/// the default values of attributes are kept.
///
/// With librsvg 2.54, libxml2 2.9 leaks the memory of every entity, and a token that is repeated in an enumeration
/// (`<!ATTLIST a b (c|c) 'c'>`) crashes the process.
struct SVGDocumentType {
    private var cursor: XMLCursor
    private var entities: SVGEntities

    /// The document without its type; nil when it has none.
    ///
    /// - Parameter limit: how many bytes it may grow to.
    /// - Throws: `corruptData`, `truncatedData`, `limitExceeded`; `unsupportedFeature` for parameter entities.
    static func resolved(
        _ text: UnsafeRawBufferPointer, limit: Int
    ) throws(WebImageError) -> [UInt8]? {
        var type = Self(text, limit: limit)
        guard let start = try type.start() else { return nil }
        try type.entities.append(raw: text[..<start])
        try type.entities.append(raw: "<!DOCTYPE svg [".utf8)
        try type.read()
        try type.entities.append(raw: "]>".utf8)
        let rest = UnsafeRawBufferPointer(rebasing: text[type.cursor.at...])
        if type.entities.isEmpty {
            try type.entities.append(raw: rest)
        } else {
            try type.entities.append(content: rest)
        }
        return type.entities.output
    }

    private init(_ text: UnsafeRawBufferPointer, limit: Int) {
        cursor = XMLCursor(text)
        entities = SVGEntities(limit: limit)
    }

    /// Moves the cursor behind `<!DOCTYPE`.
    ///
    /// - Returns: the position of `<!DOCTYPE`; nil if there is none.
    private mutating func start() throws(WebImageError) -> Int? {
        _ = cursor.skips("\u{FEFF}")
        while true {
            cursor.skipSpace()
            let start = cursor.at
            if cursor.skips("<!--") {
                guard cursor.pass("-->") else { return nil }
            } else if cursor.skips("<?") {
                let hasTarget = !cursor.name().isEmpty
                cursor.pass("?>")
                // libxml2 ends a damaged instruction earlier.
                guard hasTarget || cursor.isAtEnd, cursor.find("<!DOCTYPE", in: start..<cursor.at) == nil else {
                    throw Self.error(.corruptData, "a processing instruction is damaged")
                }
            } else if cursor.skips("<!DOCTYPE") {
                return start
            } else {
                // libxml2 would take the text for another encoding.
                guard cursor.next == UInt8(ascii: "<") || cursor.isAtEnd else {
                    throw Self.error(.corruptData, "the document does not begin with an element")
                }
                return nil
            }
        }
    }

    private mutating func read() throws(WebImageError) {
        guard cursor.passTag(endingAt: "[") else { throw Self.cut }
        guard cursor.text[cursor.at - 1] == UInt8(ascii: "[") else { return }
        try readDeclarations()
        cursor.skipSpace()
        try expect(">")
    }

    private mutating func readDeclarations() throws(WebImageError) {
        while true {
            cursor.skipSpace()
            if cursor.skips("]") {
                return
            } else if cursor.skips("<!--") {
                guard cursor.pass("-->") else { throw Self.cut }
            } else if cursor.skips("<?") {
                guard cursor.pass("?>") else { throw Self.cut }
            } else if cursor.skips("<!ENTITY") {
                try readEntity()
            } else if cursor.skips("<!ATTLIST") {
                try readAttributes()
            } else if cursor.skips("<!ELEMENT") || cursor.skips("<!NOTATION") {
                guard cursor.passTag() else { throw Self.cut }
            } else {
                try refuseParameterEntity()
                try expect("]")
            }
        }
    }

    private func refuseParameterEntity() throws(WebImageError) {
        if cursor.next == UInt8(ascii: "%") {
            throw Self.error(.unsupportedFeature, "parameter entities are not read")
        }
    }

    private mutating func readEntity() throws(WebImageError) {
        cursor.skipSpace()
        try refuseParameterEntity()
        let name = try self.name()
        cursor.skipSpace()
        if XMLCursor.isQuote(cursor.next) {
            try entities.declare(name, try literal())
            cursor.skipSpace()
            try expect(">")
        } else {
            // The entity is in another file, which is not read, so references to it count as unknown.
            guard cursor.skips("SYSTEM") || cursor.skips("PUBLIC") else { throw damage }
            guard cursor.passTag() else { throw Self.cut }
        }
    }

    /// XML 1.0, section 3.3. The types of attributes do not matter for pictures; all are treated as text.
    private mutating func readAttributes() throws(WebImageError) {
        cursor.skipSpace()
        let element = try name()
        while true {
            cursor.skipSpace()
            if cursor.skips(">") { return }
            let attribute = try name()
            cursor.skipSpace()
            if cursor.skips("NOTATION") { cursor.skipSpace() }
            if cursor.next == UInt8(ascii: "(") {
                guard cursor.pass(")") else { throw Self.cut }
            } else {
                _ = try name()
            }
            cursor.skipSpace()
            if cursor.skips("#REQUIRED") || cursor.skips("#IMPLIED") { continue }
            if cursor.skips("#FIXED") { cursor.skipSpace() }
            try keep(try literal(), of: attribute, of: element)
        }
    }

    private mutating func keep(
        _ value: UnsafeRawBufferPointer, of attribute: UnsafeRawBufferPointer, of element: UnsafeRawBufferPointer
    ) throws(WebImageError) {
        let quote = value.contains(UInt8(ascii: "\"")) ? "'" : "\""
        try entities.append(raw: Array("<!ATTLIST ".utf8) + element + [0x20] + attribute)
        try entities.append(raw: " CDATA \(quote)".utf8)
        try entities.append(attribute: value)
        try entities.append(raw: "\(quote)>".utf8)
    }

    private mutating func name() throws(WebImageError) -> UnsafeRawBufferPointer {
        let name = cursor.name()
        guard !name.isEmpty else { throw damage }
        return name
    }

    private mutating func literal() throws(WebImageError) -> UnsafeRawBufferPointer {
        if let literal = cursor.literal() { return literal }
        throw XMLCursor.isQuote(cursor.next) ? Self.cut : damage
    }

    private mutating func expect(_ mark: StaticString) throws(WebImageError) {
        guard cursor.skips(mark) else { throw damage }
    }

    /// The error for unexpected content.
    private var damage: WebImageError {
        let ends = cursor.find(">", in: cursor.at..<cursor.text.count) != nil
        return ends ? Self.error(.corruptData, "the document's type is damaged") : Self.cut
    }

    private static var cut: WebImageError { error(.truncatedData, "the document's type ends early") }

    private static func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
        WebImageError(code, message, format: .svg)
    }
}
