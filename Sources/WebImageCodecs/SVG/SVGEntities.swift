import WebImageCore

/// The declared entities of a document, which replace their references.
///
/// libxml2 2.9 under librsvg 2.54 leaks the memory of every entity that it reads, so it gets none.
struct SVGEntities {
    /// Where the value of an entity is inserted.
    private enum Place { case content, attribute }

    /// libxml2's own limit.
    private static let maxLevels = 40

    private var values: [[UInt8]: [UInt8]] = [:]
    /// The text so far.
    private(set) var output: [UInt8] = []
    /// How many bytes of values were processed; nested empty values cause more work than output.
    private var work = 0
    /// The maximum length of the text, in bytes.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { values.isEmpty }

    /// Keeps the first value of a name (XML 1.0, section 4.2), with its character references resolved (4.4.5).
    ///
    /// - Throws: `corruptData`.
    mutating func declare(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(WebImageError) {
        var resolved: [UInt8] = []
        resolved.reserveCapacity(value.count)
        var cursor = XMLCursor(value)
        while !cursor.isAtEnd {
            let (start, byte) = (cursor.at, cursor.next)
            guard byte != UInt8(ascii: "%") else { throw Self.damaged("a % stands in an entity") }
            cursor.at += 1
            guard byte == UInt8(ascii: "&") else {
                resolved.append(byte)
                continue
            }
            if cursor.next == UInt8(ascii: "#") {
                try resolved += Self.character(&cursor, from: start)
            } else {
                guard !cursor.name().isEmpty, cursor.skips(";") else {
                    throw Self.damaged("a reference in an entity does not end")
                }
                resolved += value[start..<cursor.at]
            }
        }
        let key = Array(name)
        if values[key] == nil, !Self.predefined.contains(String(decoding: key, as: UTF8.self)) {
            values[key] = resolved
        }
    }

    private static let predefined: Set = ["lt", "gt", "amp", "quot", "apos"]

    /// The ASCII character for a character reference; other references are kept, whatever the encoding is.
    private static func character(
        _ cursor: inout XMLCursor, from start: Int
    ) throws(WebImageError) -> [UInt8] {
        cursor.at += 1
        let isHex = cursor.skips("x")
        let digits = String(decoding: cursor.name(), as: UTF8.self)
        guard let code = UInt32(digits, radix: isHex ? 16 : 10), Unicode.Scalar(code) != nil, cursor.skips(";"),
            code >= 0x20 || [9, 10, 13].contains(code)
        else { throw damaged("a character reference in an entity is none") }
        return code < 0x80 ? [UInt8(code)] : Array(cursor.text[start..<cursor.at])
    }

    /// Appends text as it is; references in it are not replaced.
    mutating func append(raw text: some Collection<UInt8>) throws(WebImageError) {
        guard text.count <= limit - output.count else {
            throw WebImageError(
                .limitExceeded, "the document's entities grow to more than \(limit) bytes; is this a bomb?",
                format: .svg)
        }
        output.append(contentsOf: text)
    }

    /// Appends elements and text, with references replaced.
    ///
    /// - Throws: `limitExceeded`; `corruptData` for entities that refer to themselves.
    mutating func append(content text: UnsafeRawBufferPointer) throws(WebImageError) {
        try append(text, .content, level: 0)
    }

    /// Appends the value of an attribute, with references replaced.
    mutating func append(attribute text: UnsafeRawBufferPointer) throws(WebImageError) {
        try append(text, .attribute, level: 0)
    }

    private mutating func append(
        _ text: UnsafeRawBufferPointer, _ place: Place, level: Int
    ) throws(WebImageError) {
        guard level <= Self.maxLevels else { throw Self.damaged("an entity refers to itself") }
        var cursor = XMLCursor(text)
        while !cursor.isAtEnd {
            let start = cursor.at
            while !cursor.isAtEnd, !Self.isMark(cursor.next, place, level) { cursor.at += 1 }
            try append(raw: text[start..<cursor.at])
            guard !cursor.isAtEnd else { return }
            switch cursor.next {
            case UInt8(ascii: "&"): try appendReference(&cursor, place, level: level)
            case UInt8(ascii: "<"):
                guard place == .content else { throw Self.damaged("a < stands in an attribute") }
                try appendMarkup(&cursor, level: level)
            default: try appendQuote(&cursor)
            }
        }
    }

    private static func isMark(_ byte: UInt8, _ place: Place, _ level: Int) -> Bool {
        byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<")
            || place == .attribute && level > 0 && XMLCursor.isQuote(byte)
    }

    /// Quotes in a value do not end the attribute that contains it (XML 1.0, section 4.4.5).
    private mutating func appendQuote(_ cursor: inout XMLCursor) throws(WebImageError) {
        try append(raw: (cursor.next == UInt8(ascii: "'") ? "&#39;" : "&#34;").utf8)
        cursor.at += 1
    }

    private mutating func appendReference(
        _ cursor: inout XMLCursor, _ place: Place, level: Int
    ) throws(WebImageError) {
        let start = cursor.at
        cursor.at += 1
        guard let value = values[Array(cursor.name())], cursor.skips(";") else {
            // A reference to a character, or to a name that libxml2 knows or reports as an error.
            return try append(raw: cursor.text[start..<cursor.at])
        }
        work += value.count + 1
        guard work <= limit else { return try append(raw: repeatElement(0, count: limit + 1)) }
        try value.withUnsafeBufferPointer { buffer throws(WebImageError) in
            try append(UnsafeRawBufferPointer(buffer), place, level: level + 1)
        }
    }

    /// Appends a tag with its attributes resolved, or markup without references.
    private mutating func appendMarkup(_ cursor: inout XMLCursor, level: Int) throws(WebImageError) {
        let start = cursor.at
        if cursor.skips("<!--") {
            cursor.pass("-->")
        } else if cursor.skips("<![CDATA[") {
            cursor.pass("]]>")
        } else if cursor.skips("<?") {
            cursor.pass("?>")
        } else {
            return try appendTag(&cursor, level: level)
        }
        try append(raw: cursor.text[start..<cursor.at])
    }

    private mutating func appendTag(_ cursor: inout XMLCursor, level: Int) throws(WebImageError) {
        var start = cursor.at
        while !cursor.isAtEnd {
            let byte = cursor.next
            if let value = cursor.literal() {
                let quote = [byte]
                try append(raw: cursor.text[start..<(cursor.at - value.count - 2)])
                try append(raw: quote)
                try append(value, .attribute, level: 0)
                try append(raw: quote)
                start = cursor.at
            } else {
                cursor.at += 1
                if byte == UInt8(ascii: ">") { break }
            }
        }
        try append(raw: cursor.text[start..<cursor.at])
    }

    private static func damaged(_ message: String) -> WebImageError {
        WebImageError(.corruptData, message, format: .svg)
    }
}
