import WebImageCore

/// Counts the elements of a document, and their depth.
///
/// Correct for well-formed documents; libxml2 refuses all others, so their result does not matter.
struct SVGTagScanner {
    private(set) var elements = 0
    private(set) var depth = 0
    private var openElements = 0
    /// Whether something is not terminated.
    private var isCut = false
    private var cursor: XMLCursor

    init(_ text: UnsafeRawBufferPointer) { cursor = XMLCursor(text) }

    /// Whether the root element is complete.
    var isWhole: Bool { elements > 0 && openElements == 0 && !isCut }

    /// - Throws: `unsupportedFeature` for documents in this one, and encodings that may hide elements.
    mutating func scan() throws(WebImageError) {
        while let start = cursor.find("<", in: cursor.at..<cursor.text.count) {
            cursor.at = start + 1
            if cursor.skips("!--") {
                note(isWhole: cursor.pass("-->"))
            } else if cursor.skips("![CDATA[") {
                note(isWhole: cursor.pass("]]>"))
            } else if cursor.skips("?") {
                let from = cursor.at
                note(isWhole: cursor.pass("?>"))
                try checkEncoding(UnsafeRawBufferPointer(rebasing: cursor.text[from..<cursor.at]))
            } else if cursor.skips("!DOCTYPE") {
                // The declarations in it are read by the next iterations.
                note(isWhole: cursor.passTag(endingAt: "["))
            } else if cursor.skips("!") {
                note(isWhole: cursor.passTag())
            } else if cursor.skips("/") {
                note(isWhole: cursor.passTag())
                openElements = max(openElements - 1, 0)
            } else {
                note(isWhole: cursor.passTag())
                try note(element: UnsafeRawBufferPointer(rebasing: cursor.text[start..<cursor.at]))
            }
        }
    }

    private mutating func note(isWhole: Bool) {
        if !isWhole { isCut = true }
    }

    private mutating func note(element: UnsafeRawBufferPointer) throws(WebImageError) {
        elements += 1
        depth = max(depth, openElements + 1)
        let name = element.dropFirst().prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        // The name may have a prefix.
        if name.suffix(7).elementsEqual("include".utf8) { try checkInclusion(element) }
        guard element.count < 2 || element[element.count - 2] != UInt8(ascii: "/") else { return }
        openElements += 1
    }

    /// librsvg reads documents included by XInclude, also those in `data:` URLs, which are not scanned.
    private func checkInclusion(_ element: UnsafeRawBufferPointer) throws(WebImageError) {
        let tag = String(decoding: element, as: UTF8.self).lowercased()
        guard !tag.contains("data"), !tag.contains("&") else {
            throw WebImageError(.unsupportedFeature, "documents that include others are not read", format: .svg)
        }
    }

    /// XML 1.0, section 4.3.3: in these encodings markup characters are as in ASCII.
    private static let encodings = ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "utf-16"]

    private func checkEncoding(_ instruction: UnsafeRawBufferPointer) throws(WebImageError) {
        guard instruction.starts(with: "xml".utf8) else { return }
        let words = String(decoding: instruction, as: UTF8.self).lowercased()
        let parts = words.split(whereSeparator: { "\"'".contains($0) })
        guard let mark = parts.firstIndex(where: { $0.contains("encoding") }), mark + 1 < parts.count else {
            return
        }
        let name = parts[mark + 1]
        guard Self.encodings.contains(where: { name.hasPrefix($0) }) else {
            throw WebImageError(.unsupportedFeature, "documents in \(name.prefix(40)) are not read", format: .svg)
        }
    }
}
