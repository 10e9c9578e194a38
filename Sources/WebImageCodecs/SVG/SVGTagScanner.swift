#if SVG
    import WebImageCore

    /// Counts the elements of a document, and how deep they lie in each other.
    ///
    /// Right for well-formed documents; what libxml2 makes of others does not matter, since it refuses them.
    struct SVGTagScanner {
        private(set) var elements = 0
        private(set) var depth = 0
        /// The most elements within each other that have an opacity, a mask or a filter, each of which takes a canvas.
        private(set) var layers = 0
        /// Whether a style sheet or an entity may give any element such a property.
        private(set) var hasStyles = false
        /// Of each element that is open, whether it has such a property.
        private var open: [Bool] = []
        private var openLayers = 0
        /// Whether something that was begun does not end.
        private var isCut = false
        private let text: UnsafeRawBufferPointer
        private var at = 0

        init(_ text: UnsafeRawBufferPointer) { self.text = text }

        /// Whether all of the root element is there.
        var isWhole: Bool { elements > 0 && open.isEmpty && !isCut }

        /// - Throws: `unsupportedFeature` for entities that may hold elements, and encodings that may hide them.
        mutating func scan() throws(WebImageError) {
            while let start = find("<", in: at..<text.count) {
                at = start + 1
                if skips("!--") {
                    pass("-->")
                } else if skips("![CDATA[") {
                    pass("]]>")
                } else if skips("?") {
                    let from = at
                    pass("?>")
                    if text[from..<at].starts(with: "xml-stylesheet".utf8) { hasStyles = true }
                    try checkEncoding(UnsafeRawBufferPointer(rebasing: text[from..<at]))
                } else if skips("!DOCTYPE") {
                    // Its declarations follow as if they stood alone.
                    passTag(endingAt: "[")
                } else if skips("!") {
                    try passDeclaration()
                } else if skips("/") {
                    passTag()
                    if open.popLast() == true { openLayers -= 1 }
                } else {
                    passTag()
                    note(element: start..<at)
                }
            }
        }

        private mutating func note(element: Range<Int>) {
            let isLayer = Self.layerProperties.contains { find($0, in: element) != nil }
            elements += 1
            depth = max(depth, open.count + 1)
            layers = max(layers, openLayers + (isLayer ? 1 : 0))
            let name = text[element].dropFirst().prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
            // Maybe with a prefix.
            if name.suffix(5).elementsEqual("style".utf8) { hasStyles = true }
            guard element.count < 2 || text[element.upperBound - 2] != UInt8(ascii: "/") else { return }
            open.append(isLayer)
            if isLayer { openLayers += 1 }
        }

        private static let layerProperties: [StaticString] = [
            "opacity", "mask", "filter", "mix-blend", "isolation", "&",
        ]

        /// Entities are declared for namespaces' names by some drawing programs; elements in them are not seen in use.
        private mutating func passDeclaration() throws(WebImageError) {
            let start = at
            passTag()
            let declaration = text[start..<at]
            guard declaration.starts(with: "ENTITY".utf8) else { return }
            hasStyles = true
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
            guard let mark = parts.firstIndex(where: { $0.contains("encoding") }), mark + 1 < parts.count else {
                return
            }
            let name = parts[mark + 1]
            guard Self.encodings.contains(where: { name.hasPrefix($0) }) else {
                throw WebImageError(.unsupportedFeature, "documents in \(name.prefix(40)) are not read", format: .svg)
            }
        }

        private func find(_ mark: StaticString, in range: Range<Int>) -> Int? {
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

        /// Whether `mark` comes next; then it is behind us.
        private mutating func skips(_ mark: StaticString) -> Bool {
            guard has(mark, at: at) else { return false }
            at += mark.utf8CodeUnitCount
            return true
        }

        private mutating func pass(_ mark: StaticString) {
            guard let found = find(mark, in: at..<text.count) else {
                isCut = true
                at = text.count
                return
            }
            at = found + mark.utf8CodeUnitCount
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
            isCut = true
        }
    }
#endif
