#if SVG
    import WebImageCore

    /// Counts the elements of a document, and how deep they lie in each other.
    ///
    /// Right for well-formed documents; what libxml2 makes of others does not matter, since it refuses them.
    struct SVGTagScanner {
        private(set) var elements = 0
        private(set) var depth = 0
        private var openElements = 0
        private let text: UnsafeRawBufferPointer
        private var at = 0

        init(_ text: UnsafeRawBufferPointer) { self.text = text }

        /// - Throws: `unsupportedFeature` for entities that may hold elements, and encodings that may hide them.
        mutating func scan() throws(WebImageError) {
            while let start = find("<") {
                at = start + 1
                if skips("!--") {
                    pass("-->")
                } else if skips("![CDATA[") {
                    pass("]]>")
                } else if skips("?") {
                    let from = at
                    pass("?>")
                    try checkEncoding(UnsafeRawBufferPointer(rebasing: text[from..<at]))
                } else if skips("!DOCTYPE") {
                    // Its declarations follow as if they stood alone.
                    passTag(endingAt: "[")
                } else if skips("!") {
                    try passDeclaration()
                } else if skips("/") {
                    passTag()
                    openElements -= 1
                } else {
                    passTag()
                    elements += 1
                    depth = max(depth, openElements + 1)
                    if !isEmptyElement { openElements += 1 }
                }
            }
        }

        private var isEmptyElement: Bool { at >= 2 && text[at - 2] == UInt8(ascii: "/") }

        /// Entities are declared for namespaces' names by some drawing programs; elements in them are not seen in use.
        private mutating func passDeclaration() throws(WebImageError) {
            let start = at
            passTag()
            let declaration = text[start..<at]
            guard declaration.starts(with: "ENTITY".utf8) else { return }
            let hiding: [UInt8] = [UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "%")]
            if declaration.contains(where: { hiding.contains($0) }) {
                throw WebImageError(
                    .unsupportedFeature, "entities that hold elements or other entities are not read", format: .svg)
            }
        }

        /// XML 1.0, section 4.3.3: in these encodings the marks of XML are what they are in ASCII.
        private static let encodings = ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "utf-16"]

        private func checkEncoding(_ instruction: UnsafeRawBufferPointer) throws(WebImageError) {
            guard instruction.starts(with: "xml".utf8) else { return }
            let words = String(decoding: instruction, as: UTF8.self).lowercased()
            let parts = words.split(whereSeparator: { "\"'".contains($0) })
            guard let mark = parts.firstIndex(where: { $0.contains("encoding") }), mark + 1 < parts.count else { return }
            let name = parts[mark + 1]
            guard Self.encodings.contains(where: { name.hasPrefix($0) }) else {
                throw WebImageError(.unsupportedFeature, "documents in \(name.prefix(40)) are not read", format: .svg)
            }
        }

        private func find(_ mark: StaticString) -> Int? {
            let first = mark.utf8Start[0]
            var index = at
            while index < text.count {
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

        /// Whether `mark` comes next; then it is behind us.
        private mutating func skips(_ mark: StaticString) -> Bool {
            guard has(mark, at: at) else { return false }
            at += mark.utf8CodeUnitCount
            return true
        }

        private mutating func pass(_ mark: StaticString) {
            at = find(mark).map { $0 + mark.utf8CodeUnitCount } ?? text.count
        }

        /// Goes behind `>`, or another byte that ends a tag, outside of quotes.
        private mutating func passTag(endingAt other: Unicode.Scalar = ">") {
            var quote: UInt8?
            while at < text.count {
                let byte = text[at]
                at += 1
                if let open = quote {
                    if byte == open { quote = nil }
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                } else if byte == UInt8(ascii: ">") || byte == UInt8(ascii: other) {
                    return
                }
            }
        }
    }
#endif
