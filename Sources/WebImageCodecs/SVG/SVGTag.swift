/// The name and the attributes of an element's start.
struct SVGTag {
    private var cursor: XMLCursor
    /// Without a prefix.
    let name: String

    /// - Parameter text: from `<` to `>`.
    init(_ text: UnsafeRawBufferPointer) {
        cursor = XMLCursor(text)
        cursor.at = 1
        name = Self.local(cursor.name())
    }

    struct Attribute {
        /// Without a prefix.
        let name: String
        /// The value as it is written, with references.
        let value: UnsafeRawBufferPointer
        /// The position of the name in the tag.
        let place: Int
    }

    mutating func next() -> Attribute? {
        while !cursor.isAtEnd {
            cursor.skipSpace()
            let name = cursor.name()
            let end = cursor.at
            guard !name.isEmpty else {
                cursor.at += 1
                continue
            }
            cursor.skipSpace()
            guard cursor.skips("=") else { continue }
            cursor.skipSpace()
            guard let value = cursor.literal() else { continue }
            let local = Self.local(name)
            return Attribute(name: local, value: value, place: end - local.utf8.count)
        }
        return nil
    }

    /// A name without its prefix.
    static func local(_ name: UnsafeRawBufferPointer) -> String {
        let start = name.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? name.startIndex
        return String(decoding: name[start...], as: UTF8.self)
    }

    /// A value as libxml2 reads it: with characters instead of references to them, and spaces instead of other blanks.
    static func decoded(_ value: UnsafeRawBufferPointer) -> String {
        guard value.contains(where: { $0 == UInt8(ascii: "&") || $0 < 0x20 }) else {
            return String(decoding: value, as: UTF8.self)
        }
        var text: [UInt8] = []
        var cursor = XMLCursor(value)
        while !cursor.isAtEnd {
            let byte = cursor.next
            let start = cursor.at
            cursor.at += 1
            if byte == UInt8(ascii: "&"), let character = reference(&cursor) {
                text += Array(String(character).utf8)
            } else {
                if byte == UInt8(ascii: "&") { cursor.at = start + 1 }
                text.append(byte < 0x20 ? 0x20 : byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func reference(_ cursor: inout XMLCursor) -> Character? {
        if cursor.skips("#") {
            let isHex = cursor.skips("x")
            let digits = String(decoding: cursor.name(), as: UTF8.self)
            guard cursor.skips(";"), let code = UInt32(digits, radix: isHex ? 16 : 10) else { return nil }
            return Unicode.Scalar(code).map { Character($0) }
        }
        let name = String(decoding: cursor.name(), as: UTF8.self)
        guard cursor.skips(";") else { return nil }
        return ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"][name]
    }
}
