public import WebImageCore

/// Removes everything from an SVG that browsers would run, so that it can be passed on to them, as a file or within an
/// HTML page.
///
/// Nothing is drawn, and no library is used. The document is parsed strictly, and refused unless it is well-formed up
/// to its last byte, since browsers run scripts before they come to an error.
public enum SVGSanitizer {
    /// Returns the document without scripts.
    ///
    /// This removes elements that run or embed something (`script`, `handler`, `listener`, `iframe`, `object`, `embed`,
    /// `meta`, `link` and others), event handlers (`onload` and all other attributes that begin with `on`),
    /// `javascript:` and `vbscript:` URLs in any place, links with other schemes than `http` and `https`, apart from
    /// `data:` URLs of pictures, links of `use` to other documents, instructions such as `xml-stylesheet`, comments,
    /// and the document type, whose entities are expanded. The rest stays byte for byte, except that CDATA becomes
    /// ordinary text and UTF-16 becomes UTF-8.
    ///
    /// - Parameters:
    ///   - file: an SVG that is not compressed.
    ///   - limits: the limits for the size of expanded entities.
    /// - Throws: `corruptData` if the document is not well-formed or refers to an entity that it does not declare,
    ///   `unsupportedFeature` for documents within it and encodings that hide markup, `limitExceeded` for entities that
    ///   grow too large.
    /// - Complexity: O(*n*) in the length of the document; memory for two copies.
    public static func withoutScripts(
        in file: [UInt8], limits: DecodeLimits = .default
    ) throws(WebImageError) -> [UInt8] {
        try file.withUnsafeBufferPointer { buffer throws(WebImageError) in
            let text = UnsafeRawBufferPointer(buffer)
            guard let resolved = try SVGText.resolved(text, limits) else { return try SVGFilter.filtered(text) }
            return try resolved.withUnsafeBufferPointer { buffer throws(WebImageError) in
                try SVGFilter.filtered(UnsafeRawBufferPointer(buffer))
            }
        }
    }
}

/// One pass over a document.
private struct SVGFilter {
    /// In lower case. XML is case-sensitive, but the reader may not be an XML parser.
    private static let removedElements: Set = [
        "script", "handler", "listener", "iframe", "frame", "frameset", "object", "embed", "applet", "meta", "base",
        "link", "form",
    ]

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static let animatedValues: Set = ["to", "from", "by", "values"]

    private var cursor: XMLCursor
    private var output: [UInt8] = []
    /// The names of the elements that are open, as they are written.
    private var open: [UnsafeRawBufferPointer] = []
    /// The number of open elements where a removed one began; nil: none is being removed.
    private var removedFrom: Int?
    private var hasRoot = false

    static func filtered(_ text: UnsafeRawBufferPointer) throws(WebImageError) -> [UInt8] {
        // The scanner refuses encodings that hide markup, and documents that include others.
        var scanner = SVGTagScanner(text)
        try scanner.scan()
        var filter = SVGFilter(text)
        try filter.run()
        return filter.output
    }

    private init(_ text: UnsafeRawBufferPointer) {
        cursor = XMLCursor(text)
        output.reserveCapacity(text.count)
    }

    private mutating func run() throws(WebImageError) {
        while !cursor.isAtEnd {
            let start = cursor.at
            cursor.at = cursor.find("<", in: start..<cursor.text.count) ?? cursor.text.count
            try copyText(from: start)
            guard !cursor.isAtEnd else { break }
            try readMark()
        }
        guard hasRoot, open.isEmpty else { throw Self.damaged("an element does not end") }
    }

    private mutating func copyText(from start: Int) throws(WebImageError) {
        let text = cursor.text[start..<cursor.at]
        let isBlank = text.allSatisfy { XMLCursor.isSpace($0) || Self.byteOrderMark.contains($0) }
        guard isBlank || !open.isEmpty else { throw Self.damaged("text stands outside of the document") }
        try Self.checkReferences(in: UnsafeRawBufferPointer(rebasing: text))
        copy(from: start)
    }

    private mutating func copy(from start: Int) {
        if removedFrom == nil { output += cursor.text[start..<cursor.at] }
    }

    /// Writes characters that are not markup.
    private mutating func writeText(_ text: Slice<UnsafeRawBufferPointer>) {
        guard removedFrom == nil else { return }
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): output += "&amp;".utf8
            case UInt8(ascii: "<"): output += "&lt;".utf8
            case UInt8(ascii: ">"): output += "&gt;".utf8
            default: output.append(byte)
            }
        }
    }

    /// Refuses references that XML does not have. HTML has thousands of them, such as `&colon;`, and some need no
    /// semicolon.
    private static func checkReferences(in text: UnsafeRawBufferPointer) throws(WebImageError) {
        var cursor = XMLCursor(text)
        while let place = cursor.find("&", in: cursor.at..<text.count) {
            cursor.at = place + 1
            let end = cursor.find(";", in: cursor.at..<min(cursor.at + longestReference, text.count))
            guard let end, isKnown(UnsafeRawBufferPointer(rebasing: text[cursor.at..<end])) else {
                throw damaged("it refers to an entity that it does not declare")
            }
        }
    }

    /// Long enough for a number with some zeros in front.
    private static let longestReference = 20

    private static func isKnown(_ reference: UnsafeRawBufferPointer) -> Bool {
        guard reference.first == UInt8(ascii: "#") else {
            return ["lt", "gt", "amp", "quot", "apos"].contains { reference.elementsEqual($0.utf8) }
        }
        let isHex = reference.dropFirst().first == UInt8(ascii: "x")
        let digits = String(decoding: reference.dropFirst(isHex ? 2 : 1), as: UTF8.self)
        guard digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return false }
        return UInt32(digits, radix: isHex ? 16 : 10).flatMap { Unicode.Scalar($0) } != nil
    }

    private mutating func readMark() throws(WebImageError) {
        let start = cursor.at
        if cursor.skips("<!--") {
            // Comments are removed, because in HTML they may end earlier.
            guard cursor.pass("-->") else { throw Self.damaged("a comment does not end") }
        } else if cursor.skips("<![CDATA[") {
            let text = cursor.at
            guard !open.isEmpty, cursor.pass("]]>") else { throw Self.damaged("CDATA does not end") }
            writeText(cursor.text[text..<cursor.at - 3])
        } else if cursor.skips("<?") {
            let name = String(decoding: cursor.name(), as: UTF8.self)
            guard cursor.pass("?>") else { throw Self.damaged("an instruction does not end") }
            // The XML declaration is kept, because it states the encoding. In HTML an instruction ends with the first
            // ">".
            let isDeclaration = name == "xml" && output.allSatisfy { Self.byteOrderMark.contains($0) }
            let marks = cursor.text[start + 1..<cursor.at - 1].filter { "<>".utf8.contains($0) }
            if isDeclaration, marks.isEmpty { copy(from: start) }
        } else if cursor.skips("<!DOCTYPE") {
            try skipType()
        } else if cursor.skips("</") {
            try readEnd(start)
        } else {
            cursor.at += 1
            try readStart()
        }
    }

    private mutating func skipType() throws(WebImageError) {
        guard !hasRoot, cursor.passTag(endingAt: "[") else { throw Self.damaged("the document type does not end") }
        guard cursor.text[cursor.at - 1] == UInt8(ascii: "[") else { return }
        while true {
            cursor.skipSpace()
            if cursor.skips("]") {
                cursor.skipSpace()
                guard cursor.skips(">") else { break }
                return
            }
            let isWhole =
                if cursor.skips("<!--") { cursor.pass("-->") } else if cursor.skips("<?") { cursor.pass("?>") } else {
                    cursor.skips("<!") && cursor.passTag()
                }
            guard isWhole else { break }
        }
        throw Self.damaged("the document type does not end")
    }

    private mutating func readEnd(_ start: Int) throws(WebImageError) {
        let name = cursor.name()
        cursor.skipSpace()
        guard cursor.skips(">"), let last = open.popLast(), last.elementsEqual(name) else {
            throw Self.damaged("an element ends that has not begun")
        }
        guard let from = removedFrom else { return copy(from: start) }
        if open.count == from { removedFrom = nil }
    }

    private mutating func readStart() throws(WebImageError) {
        let name = cursor.name()
        guard !name.isEmpty, !open.isEmpty || !hasRoot else {
            throw Self.damaged("an element has no name or place")
        }
        hasRoot = true
        let local = SVGTag.local(name).lowercased()
        var kept: [Range<Int>] = []
        while true {
            let before = cursor.at
            cursor.skipSpace()
            if cursor.skips(">") || cursor.skips("/>") { break }
            guard cursor.at > before, let attribute = try readAttribute() else {
                throw Self.damaged("an attribute is damaged")
            }
            if isHarmless(attribute.name, attribute.value, of: local) { kept.append(before..<cursor.at) }
        }
        let isEmpty = cursor.text[cursor.at - 2] == UInt8(ascii: "/")
        if removedFrom == nil {
            if Self.removedElements.contains(local) {
                if !isEmpty { removedFrom = open.count }
            } else {
                output.append(UInt8(ascii: "<"))
                output += name
                for range in kept { output += cursor.text[range] }
                output += (isEmpty ? "/>" : ">").utf8
            }
        }
        if !isEmpty { open.append(name) }
    }

    private mutating func readAttribute() throws(WebImageError) -> (name: String, value: String)? {
        let name = cursor.name()
        guard !name.isEmpty else { return nil }
        cursor.skipSpace()
        guard cursor.skips("=") else { return nil }
        cursor.skipSpace()
        guard let value = cursor.literal(), !value.contains(UInt8(ascii: "<")) else { return nil }
        try Self.checkReferences(in: value)
        return (SVGTag.local(name).lowercased(), SVGTag.decoded(value))
    }

    /// - Parameters:
    ///   - name: without prefix, in lower case.
    ///   - element: likewise.
    private func isHarmless(_ name: String, _ value: String, of element: String) -> Bool {
        if name.hasPrefix("on") { return false }
        // Browsers ignore blanks and control characters in a scheme.
        let text = String(
            String.UnicodeScalarView(value.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7F })
        )
        .lowercased()
        if name == "attributename", text.split(separator: ":").last?.hasPrefix("on") == true { return false }
        if text.contains("javascript:") || text.contains("vbscript:") { return false }
        // The value that an animation assigns to a link later.
        if Self.animatedValues.contains(name) { return !text.contains("data:") }
        guard name == "href" || name == "src" else { return true }
        // It would embed a part of another document.
        if element == "use" { return text.hasPrefix("#") }
        switch Self.scheme(of: text) {
        case nil, "http", "https": return true
        case "data":
            // A picture runs no scripts; an SVG as the content of another does.
            return text.hasPrefix("data:image/")
                && (["image", "feimage", "img"].contains(element) || !text.hasPrefix("data:image/svg"))
        default: return false
        }
    }

    /// The scheme of a link in lower case; nil for a relative one.
    private static func scheme(of link: String) -> Substring? {
        guard let colon = link.firstIndex(where: { ":/?#".contains($0) }), link[colon] == ":" else { return nil }
        return link[..<colon]
    }

    private static func damaged(_ what: String) -> WebImageError {
        WebImageError(.corruptData, "the document is not well-formed: \(what)", format: .svg)
    }
}
