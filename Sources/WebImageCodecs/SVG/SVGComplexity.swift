#if SVG
    import WebImageCore

    /// How deep librsvg may call itself for a document, so that it gets a stack that is deep enough, or is not asked.
    ///
    /// It calls itself for each element within another one, and for each reference to one (`use`, patterns, masks,
    /// markers, filters). XML's depth is limited by libxml2 (256), references only by what there is to refer to: 1000
    /// groups, each of which uses the next, overflow a stack of 8 MiB. Since a reference back is refused by librsvg, no
    /// way down is longer than there are elements, nor than each referred element has levels.
    struct SVGComplexity {
        /// Measured for every kind of reference: 5 to 15 KiB.
        private static let stackPerLevel = 32 << 10
        private static let leastStack = 8 << 20
        /// With which the stack has 1 GiB, of which is used what is needed.
        private static let mostLevels = 32_768

        /// The stack that the document needs at most.
        let stackSize: Int
        /// Whether all of the root element is there.
        let isWhole: Bool
        let elementCount: Int

        /// - Throws: `limitExceeded` for more levels than allowed; `unsupportedFeature` for what would hide them:
        ///   documents within this one, unusual encodings.
        init(of text: UnsafeRawBufferPointer) throws(WebImageError) {
            var scanner = SVGTagScanner(text)
            try scanner.scan()
            var levels = scanner.elements
            // Most documents have few elements, and need no closer look.
            if levels > Self.mostLevels {
                let references = SVGReferences.count(in: text, most: Self.mostLevels)
                let byReference = (references + 1).multipliedReportingOverflow(by: scanner.depth)
                if !byReference.overflow { levels = min(levels, byReference.partialValue) }
            }
            guard levels <= Self.mostLevels else {
                throw WebImageError(
                    .limitExceeded, "the document may be nested \(levels) levels deep, more than \(Self.mostLevels)",
                    format: .svg)
            }
            stackSize = Self.leastStack + levels * Self.stackPerLevel
            isWhole = scanner.isWhole
            elementCount = scanner.elements
        }
    }

    /// Counts what a document refers to.
    enum SVGReferences {
        /// At least as many as there are elements that are referred to from elsewhere in the document. It is not counted on once there
        /// are more than `most`.
        static func count(in text: UnsafeRawBufferPointer, most: Int) -> Int {
            var targets: Set<[UInt8]> = []
            var (hashes, disguises) = (0, 0)
            for at in text.indices {
                if targets.count > most { return .max - 1 }
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
