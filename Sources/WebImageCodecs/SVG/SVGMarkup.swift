#if SVG
    /// Iterates over the markup of a document.
    ///
    /// Correct for well-formed documents; libxml2 refuses all others, so their result does not matter.
    struct SVGMarkup {
        enum Part {
            /// The start of an element, from `<` to `>`.
            case start(UnsafeRawBufferPointer, isEmpty: Bool)
            case end
            /// Text between tags, with references.
            case text(UnsafeRawBufferPointer)
            /// The text of a CDATA section, which has no references.
            case data(UnsafeRawBufferPointer)
            /// A declaration, such as `!ATTLIST rect x CDATA '1'`.
            case declaration(UnsafeRawBufferPointer)
            /// An instruction, such as `xml-stylesheet href='a.css'`.
            case instruction(UnsafeRawBufferPointer)
        }

        private var cursor: XMLCursor

        init(_ text: UnsafeRawBufferPointer) { cursor = XMLCursor(text) }

        mutating func next() -> Part? {
            while !cursor.isAtEnd {
                let start = cursor.at
                guard cursor.next == UInt8(ascii: "<") else {
                    cursor.at = cursor.find("<", in: start..<cursor.text.count) ?? cursor.text.count
                    return .text(slice(start, cursor.at))
                }
                cursor.at += 1
                if cursor.skips("!--") {
                    cursor.pass("-->")
                } else if cursor.skips("![CDATA[") {
                    let from = cursor.at
                    let isWhole = cursor.pass("]]>")
                    return .data(slice(from, isWhole ? cursor.at - 3 : cursor.at))
                } else if cursor.skips("?") {
                    cursor.pass("?>")
                    return .instruction(slice(start + 2, cursor.at))
                } else if cursor.skips("!DOCTYPE") {
                    // The declarations in it follow as separate parts.
                    cursor.passTag(endingAt: "[")
                } else if cursor.next == UInt8(ascii: "!") {
                    cursor.passTag()
                    return .declaration(slice(start + 1, cursor.at))
                } else if cursor.skips("/") {
                    cursor.passTag()
                    return .end
                } else {
                    cursor.passTag()
                    let isEmpty = cursor.at - start >= 3 && cursor.text[cursor.at - 2] == UInt8(ascii: "/")
                    return .start(slice(start, cursor.at), isEmpty: isEmpty)
                }
            }
            return nil
        }

        private func slice(_ from: Int, _ to: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: cursor.text[from..<max(from, to)])
        }
    }
#endif
