/// A position in an XML text, and movements from mark to mark.
struct XMLCursor {
    let text: UnsafeRawBufferPointer
    var at = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { at >= text.count }

    /// The byte that comes next; 0 at the end.
    var next: UInt8 { at < text.count ? text[at] : 0 }

    func find(_ mark: StaticString, in range: Range<Int>) -> Int? {
        let first = mark.utf8Start[0]
        var index = range.lowerBound
        while index <= range.upperBound - mark.utf8CodeUnitCount {
            if text[index] == first, has(mark, at: index) { return index }
            index += 1
        }
        return nil
    }

    private func has(_ mark: StaticString, at offset: Int) -> Bool {
        guard offset <= text.count - mark.utf8CodeUnitCount else { return false }
        for index in 0..<mark.utf8CodeUnitCount where text[offset + index] != mark.utf8Start[index] { return false }
        return true
    }

    /// Skips `mark` and returns true if it comes next.
    mutating func skips(_ mark: StaticString) -> Bool {
        guard has(mark, at: at) else { return false }
        at += mark.utf8CodeUnitCount
        return true
    }

    /// Moves after the next `mark`.
    ///
    /// - Returns: whether there is one; if not, moves to the end.
    @discardableResult mutating func pass(_ mark: StaticString) -> Bool {
        guard let found = find(mark, in: at..<max(at, text.count)) else {
            at = text.count
            return false
        }
        at = found + mark.utf8CodeUnitCount
        return true
    }

    /// Moves after `>`, or another byte that ends a tag, outside of quotes.
    ///
    /// - Returns: whether there is one; if not, moves to the end.
    @discardableResult mutating func passTag(endingAt other: Unicode.Scalar = ">") -> Bool {
        var quote: UInt8?
        while at < text.count {
            let byte = text[at]
            at += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if Self.isQuote(byte) {
                quote = byte
            } else if byte == UInt8(ascii: ">") || byte == UInt8(ascii: other) {
                return true
            }
        }
        return false
    }

    mutating func skipSpace() {
        while at < text.count, Self.isSpace(text[at]) { at += 1 }
    }

    /// The bytes up to one that is not allowed in names; may be empty.
    mutating func name() -> UnsafeRawBufferPointer {
        let start = at
        while at < text.count, Self.isOfName(text[at]) { at += 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<at])
    }

    /// The next quoted text; nil if there are no quotes, or only one.
    mutating func literal() -> UnsafeRawBufferPointer? {
        let quote = next
        guard Self.isQuote(quote), let end = text[(at + 1)...].firstIndex(of: quote) else { return nil }
        defer { at = end + 1 }
        return UnsafeRawBufferPointer(rebasing: text[(at + 1)..<end])
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

    /// XML 1.0, section 2.3. Exact for ASCII; all other characters are accepted.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }
}
