#if PDF
    import CShimPDF
    import WebImageCore

    /// What drawing a PDF holds in memory, as far as its streams tell: the largest bitmap, the longest path, and how many
    /// states are saved within each other.
    ///
    /// All streams of the file are looked at where they stand, whatever refers to them. What is packed by other filters
    /// than FlateDecode is not seen.
    struct PDFCost {
        /// What all running decodes may take together, but for what the libraries need for themselves.
        private static let mostMemory = 464 << 20
        /// Real pages save some dozens.
        private static let mostSaved = 20_000
        /// What one page's drawing may unpack to, in all: the largest maps have some dozen megabytes.
        private static let mostUnpacked = 128 << 20
        /// As measured with poppler 22.12.
        private enum Weight {
            static let pixel = 4
            static let point = 160
            static let savedState = 1600
        }

        /// Bytes.
        private(set) var memory = 0

        /// - Throws: `limitExceeded` for what does not fit into memory whatever the canvas is, and what the checkpoint throws.
        init(of file: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            var streams = PDFStreams(file)
            var unpacked = 0
            var (saved, points, pixels) = (0, 0, 0)
            while let stream = streams.next() {
                try options.checkpoint?()
                if stream.isImage {
                    // With its mask, of the same size at most.
                    pixels = max(pixels, stream.pixels)
                    continue
                }
                guard stream.isContent else { continue }
                let room = Self.mostUnpacked - unpacked
                let content = stream.withContent(most: room + 1) { content in
                    unpacked += content.count
                    return PDFOperators(content)
                }
                guard unpacked <= Self.mostUnpacked else {
                    throw Self.error("its streams unpack to more than \(ByteCount(Self.mostUnpacked))")
                }
                // A stream may be drawn from within others.
                saved += content.saved
                points = max(points, content.points)
            }
            guard saved <= Self.mostSaved else {
                throw Self.error("it saves \(saved) states within each other, more than \(Self.mostSaved)")
            }
            let bitmap = pixels.multipliedReportingOverflow(by: Weight.pixel)
            memory = bitmap.overflow ? .max / 4 : min(bitmap.partialValue, .max / 4)
            memory += points * Weight.point + saved * Weight.savedState
            try check(PixelSize(width: 1, height: 1))
        }

        /// - Throws: `limitExceeded` for a drawing that takes too much memory.
        func check(_ canvas: PixelSize) throws(WebImageError) {
            let total = memory + min(canvas.pixelCount ?? .max, .max / 8) * 4
            // The canvas alone is a matter of `DecodeLimits.pixels`.
            guard memory < 1 << 20 || total <= Self.mostMemory else {
                throw Self.error(
                    "drawing it takes up to \(ByteCount(total)), more than \(ByteCount(Self.mostMemory))")
            }
        }

        private static func error(_ message: String) -> WebImageError {
            WebImageError(.limitExceeded, "the PDF is too complex: \(message)", format: .pdf)
        }
    }

    /// The operators of a page's content (ISO 32000-1, 7.8), as far as they hold memory.
    struct PDFOperators {
        /// How many states are saved at once, at most.
        private(set) var saved = 0
        /// Of the longest path.
        private(set) var points = 0

        init(_ content: UnsafeRawBufferPointer) {
            var (open, path) = (0, 0)
            var at = 0
            while at < content.count {
                let start = at
                while at < content.count, Self.isLetter(content[at]) { at += 1 }
                switch (at - start, at > start ? content[start] : 0) {
                case (1, UInt8(ascii: "q")):
                    open += 1
                    saved = max(saved, open)
                case (1, UInt8(ascii: "Q")): open = max(open - 1, 0)
                case (1, UInt8(ascii: "m")), (1, UInt8(ascii: "l")): path += 1
                // A curve is drawn as several lines.
                case (1, UInt8(ascii: "c")), (1, UInt8(ascii: "v")), (1, UInt8(ascii: "y")): path += 8
                case (2, UInt8(ascii: "r")) where content[start + 1] == UInt8(ascii: "e"): path += 4
                case (1, UInt8(ascii: "S")), (1, UInt8(ascii: "s")), (1, UInt8(ascii: "f")), (1, UInt8(ascii: "F")),
                    (1, UInt8(ascii: "B")), (1, UInt8(ascii: "b")), (1, UInt8(ascii: "n")):
                    path = 0
                default: break
                }
                points = max(points, path)
                if at == start { at += 1 }
            }
        }

        private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    }
#endif
