/// Scans the value of a header field (RFC 9110 section 5.6). It accepts any bytes, never reads beyond their end, and
/// reads each at most twice.
struct FieldScanner {
    private let bytes: [UInt8]
    private var offset = 0
    /// Set when a quoted string has no end. From then on, quotes are ordinary bytes: the string must not hide what
    /// follows, such as a `no-store`.
    private(set) var ignoresQuotes = false

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { offset == bytes.count }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Skips spaces and tabs.
    mutating func skipBlanks() {
        while let byte = next, byte == 32 || byte == 9 { offset += 1 }
    }

    /// Skips blanks and commas: a list may have empty elements (RFC 9110 section 5.6.1.2).
    mutating func skipToElement() {
        while let byte = next, byte == 32 || byte == 9 || byte == UInt8(ascii: ",") { offset += 1 }
    }

    /// Skips the next byte if it is the given one, and returns true then.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    /// Reads a token; nil if the next byte does not begin one.
    mutating func token() -> String? {
        let start = offset
        while let byte = next, Self.isTokenByte(byte) { offset += 1 }
        return offset == start ? nil : String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Reads a quoted string, and returns its content; nil if none begins here or it is not terminated. Of an
    /// unterminated one, only the quote is skipped.
    mutating func quotedString() -> String? {
        guard skip(UInt8(ascii: "\"")), !ignoresQuotes else { return nil }
        let start = offset
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
        (offset, ignoresQuotes) = (start, true)
        return nil
    }

    /// Moves to the next comma outside quoted strings, or to the end.
    mutating func skipToComma() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { offset += 1 }
        }
    }

    /// The rest of the current element unchanged, without trailing blanks.
    mutating func element() -> String {
        let start = offset
        skipToComma()
        var end = offset
        while end > start, bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads up to and including the next quote; nil if there is none. For entity tags, in which quotes cannot be
    /// escaped.
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

    /// Whether a text is a valid field name.
    static func isToken(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    /// The elements of a comma-separated list, unchanged.
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
