/// Reads a header field's value piece by piece (RFC 9110 section 5.6): any bytes, never beyond their end, each looked at
/// once.
struct FieldScanner {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { offset == bytes.count }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Spaces and tabs.
    mutating func skipBlanks() {
        while let byte = next, byte == 32 || byte == 9 { offset += 1 }
    }

    /// Blanks and commas: a list may have empty elements (RFC 9110 section 5.6.1.2).
    mutating func skipToElement() {
        while let byte = next, byte == 32 || byte == 9 || byte == UInt8(ascii: ",") { offset += 1 }
    }

    /// True when the next byte is this one, which is then behind us.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    /// A token, or nil when the next byte does not begin one.
    mutating func token() -> String? {
        let start = offset
        while let byte = next, Self.isTokenByte(byte) { offset += 1 }
        return offset == start ? nil : String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// What a quoted string stands for, or nil when none begins here or it does not end. One that does not end takes
    /// the rest of the value with it.
    mutating func quotedString() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            offset += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), let escaped = next {
                content.append(escaped)
                offset += 1
            } else {
                content.append(byte)
            }
        }
        return nil
    }

    /// Moves on to the next comma that stands in no quoted string, or to the end.
    mutating func skipToComma() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { offset += 1 }
        }
    }

    /// The rest of the element at hand as it stands, without blanks at its end.
    mutating func element() -> String {
        let start = offset
        skipToComma()
        var end = offset
        while end > start, bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Bytes up to and with the next quote, which is passed; nil when there is none. For entity tags, whose quotes know
    /// no escapes.
    mutating func untilQuote() -> String? {
        let start = offset
        while let byte = next {
            offset += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: bytes[start..<offset - 1], as: UTF8.self) }
        }
        return nil
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || lowercased(byte) &- UInt8(ascii: "a") < 26
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Whether a text is a field's name.
    static func isToken(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    /// The elements of a comma list, as they stand.
    static func elements(of text: String) -> [String] {
        var scanner = FieldScanner(text)
        var elements: [String] = []
        scanner.skipToElement()
        while !scanner.isAtEnd {
            elements.append(scanner.element())
            scanner.skipToElement()
        }
        return elements
    }
}
