#if SVG
    import WebImageCore

    /// How deep librsvg may call itself for a document, so that it gets a stack that is deep enough, or is not asked.
    ///
    /// It calls itself for each element within another one, and for each reference to one (`use`, patterns, masks,
    /// markers, filters). XML's depth is limited by libxml2 (256), references only by what there is to refer to: 1000
    /// groups, each of which uses the next, overflow a stack of 8 MiB. Since a reference back is refused by librsvg, no
    /// way down is longer than there are elements, nor than each referred element has levels.
    enum SVGComplexity {
        /// Measured for every kind of reference: 5 to 15 KiB.
        private static let stackPerLevel = 32 << 10
        private static let leastStack = 8 << 20
        /// With which the stack has 1 GiB, of which is used what is needed.
        private static let mostLevels = 32_768

        /// The stack that a document needs at most.
        ///
        /// - Throws: `limitExceeded` for more levels than allowed; `unsupportedFeature` for what would hide them:
        ///   entities that hold elements, unusual encodings.
        static func stackSize(for text: UnsafeRawBufferPointer) throws(WebImageError) -> Int {
            let levels = try levels(of: text)
            guard levels <= mostLevels else {
                throw WebImageError(
                    .limitExceeded, "the document may be nested \(levels) levels deep, more than \(mostLevels)",
                    format: .svg)
            }
            return leastStack + levels * stackPerLevel
        }

        private static func levels(of text: UnsafeRawBufferPointer) throws(WebImageError) -> Int {
            if let narrow = narrowed(text) {
                return try narrow.withUnsafeBufferPointer { buffer throws(WebImageError) -> Int in
                    try levels(ofASCII: UnsafeRawBufferPointer(buffer))
                }
            }
            return try levels(ofASCII: text)
        }

        private static func levels(ofASCII text: UnsafeRawBufferPointer) throws(WebImageError) -> Int {
            var scanner = SVGTagScanner(text)
            try scanner.scan()
            // Most documents have few elements, and need no closer look.
            guard scanner.elements > mostLevels else { return scanner.elements }
            let targets = SVGReferences.count(in: text)
            let levels = (targets + 1).multipliedReportingOverflow(by: scanner.depth)
            return min(scanner.elements, levels.overflow ? .max : levels.partialValue)
        }

        /// UTF-16 with what is not ASCII replaced; nil for other text.
        private static func narrowed(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
            let isLittle = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0x3C, 0])
            guard isLittle || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0, 0x3C]) else { return nil }
            return stride(from: 0, to: text.count - 1, by: 2).map { at in
                let (low, high) = isLittle ? (text[at], text[at + 1]) : (text[at + 1], text[at])
                return high == 0 ? low : UInt8(ascii: "?")
            }
        }
    }

    /// Counts what a document refers to.
    enum SVGReferences {
        /// At least as many as there are elements that are referred to from elsewhere in the document.
        static func count(in text: UnsafeRawBufferPointer) -> Int {
            var targets: Set<[UInt8]> = []
            var (hashes, disguises) = (0, 0)
            for at in text.indices {
                switch text[at] {
                case UInt8(ascii: "#"):
                    hashes += 1
                    // A character reference may write any other character.
                    if at > 0, text[at - 1] == UInt8(ascii: "&") { disguises += 1 }
                    // A fragment ends with its quotes or parenthesis.
                    targets.insert(Array(text[(at + 1)...].prefix(64).prefix { !isEnd($0) }))
                case UInt8(ascii: "\\"): disguises += 1
                default: break
                }
            }
            // Of a disguised text only the number of characters that may hide something is known.
            return disguises == 0 ? targets.count : hashes + disguises
        }

        private static func isEnd(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: ")")
        }
    }
#endif
