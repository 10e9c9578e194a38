/// Finds the root element of an SVG document after what may precede it: a byte order mark, white space, the XML
/// declaration, comments, processing instructions and a document type.
enum SVGProlog {
    /// - Parameter isCut: whether `bytes` are only the beginning of the document.
    static func leadsToSVG(_ bytes: UnsafeRawBufferPointer, isCut: Bool) -> Bool {
        if bytes.starts(with: [0xFF, 0xFE]) { return leadsToSVG(utf16: bytes, highByte: 1, isCut: isCut) }
        if bytes.starts(with: [0xFE, 0xFF]) { return leadsToSVG(utf16: bytes, highByte: 0, isCut: isCut) }
        var at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while at < bytes.count {
            if isSpace(bytes[at]) {
                at += 1
            } else if bytes.has("<?", at: at) {
                // If the instruction ends beyond `bytes`, the root element is unknown; no other format begins like
                // this.
                guard let next = end(of: "?>", in: bytes, from: at + 2) else { return isCut }
                at = next
            } else if bytes.has("<!--", at: at) {
                guard let next = end(of: "-->", in: bytes, from: at + 4) else { return isCut }
                at = next
            } else if bytes.has("<!DOCTYPE", at: at) {
                guard let next = endOfDocumentType(in: bytes, from: at + 9) else { return saysSVG(bytes, from: at + 9) }
                at = next
            } else {
                return isSVGElement(bytes, at: at, isCut: isCut)
            }
        }
        return false
    }

    /// `<svg` or `<prefix:svg`, followed by the end of the name.
    private static func isSVGElement(_ bytes: UnsafeRawBufferPointer, at start: Int, isCut: Bool) -> Bool {
        guard bytes[start] == UInt8(ascii: "<") else { return false }
        var at = start + 1
        var nameStart = at
        while at < bytes.count, !isSpace(bytes[at]), bytes[at] != UInt8(ascii: ">"), bytes[at] != UInt8(ascii: "/") {
            if bytes[at] == UInt8(ascii: ":") { nameStart = at + 1 }
            at += 1
        }
        if at == bytes.count, at - start < 8 { return isCut }
        return at - nameStart == 3 && bytes.has("svg", at: nameStart) && at < bytes.count
    }

    private static func end(of mark: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var at = start
        while at < bytes.count {
            if bytes.has(mark, at: at) { return at + mark.utf8CodeUnitCount }
            at += 1
        }
        return nil
    }

    /// The index after the `>` that ends a document type, whose internal subset in brackets may contain further `>`.
    private static func endOfDocumentType(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var depth = 0
        var quote: UInt8?
        for at in min(start, bytes.count)..<bytes.count {
            let byte = bytes[at]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "]") {
                depth -= 1
            } else if byte == UInt8(ascii: ">"), depth <= 0 {
                return at + 1
            }
        }
        return nil
    }

    /// Whether a document type names `svg` as the root element. The name comes first, so that it is known even if the
    /// document type ends beyond `bytes`.
    private static func saysSVG(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        var at = start
        while at < bytes.count, isSpace(bytes[at]) { at += 1 }
        return bytes.has("svg", at: at) && at + 3 < bytes.count && isSpace(bytes[at + 3])
    }

    private static func leadsToSVG(utf16 bytes: UnsafeRawBufferPointer, highByte: Int, isCut: Bool) -> Bool {
        var narrow: [UInt8] = []
        narrow.reserveCapacity(bytes.count / 2)
        var at = 2
        while at + 1 < bytes.count {
            narrow.append(bytes[at + highByte] == 0 ? bytes[at + 1 - highByte] : 0x3F)
            at += 2
        }
        return narrow.withUnsafeBytes { leadsToSVG($0, isCut: isCut) }
    }
}
