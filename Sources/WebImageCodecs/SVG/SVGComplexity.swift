#if SVG
    import WebImageCore

    /// How deep librsvg may recurse for a document; determines the size of its stack, or refuses the document.
    ///
    /// It recurses for each nested element, and for each reference (`use`, patterns, masks, markers, filters). libxml2
    /// limits the depth of XML (256), but references are limited only by their targets: 1000 groups, each of which uses
    /// the next, overflow a stack of 8 MiB. Since librsvg refuses circular references, the depth is at most the number
    /// of elements, and at most the number of referenced elements times their levels.
    struct SVGComplexity {
        /// Measured for every kind of reference: 5 to 15 KiB.
        private static let stackPerLevel = 32 << 10
        private static let minStackSize = 8 << 20
        /// The stack for these levels has 1 GiB, of which only the used part takes memory.
        private static let maxLevels = 32_768

        /// The maximum stack for the document.
        let stackSize: Int
        /// Whether the root element is complete.
        let isWhole: Bool
        let elementCount: Int

        /// - Throws: `limitExceeded` for more levels than allowed; `unsupportedFeature` for what could hide levels:
        ///   nested documents, unusual encodings.
        init(of text: UnsafeRawBufferPointer) throws(WebImageError) {
            var scanner = SVGTagScanner(text)
            try scanner.scan()
            var levels = scanner.elements
            // Most documents have few elements, and need no closer check.
            if levels > Self.maxLevels {
                let references = SVGReferences.count(in: text, most: Self.maxLevels)
                let byReference = (references + 1).multipliedReportingOverflow(by: scanner.depth)
                if !byReference.overflow { levels = min(levels, byReference.partialValue) }
            }
            guard levels <= Self.maxLevels else {
                throw WebImageError(
                    .limitExceeded, "the document may be nested \(levels) levels deep, more than \(Self.maxLevels)",
                    format: .svg)
            }
            stackSize = Self.minStackSize + levels * Self.stackPerLevel
            isWhole = scanner.isWhole
            elementCount = scanner.elements
        }
    }

    /// Counts what a document refers to.
    enum SVGReferences {
        /// At least the number of elements that are referenced in the document. Counting stops when there are more than
        /// `most`.
        static func count(in text: UnsafeRawBufferPointer, most: Int) -> Int {
            var targets: Set<[UInt8]> = []
            var (hashes, disguises) = (0, 0)
            for at in text.indices {
                if targets.count > most { return .max - 1 }
                switch text[at] {
                case UInt8(ascii: "#"):
                    hashes += 1
                    // A character reference may stand for any character.
                    if at > 0, text[at - 1] == UInt8(ascii: "&") { disguises += 1 }
                    // A fragment ends with its quotes or parenthesis.
                    targets.insert(Array(text[(at + 1)...].prefix(64).prefix { !isEnd($0) }))
                case UInt8(ascii: "\\"): disguises += 1
                default: break
                }
            }
            // If characters are disguised, only their number is known.
            return disguises == 0 ? targets.count : hashes + disguises
        }

        private static func isEnd(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: ")")
        }
    }
#endif
