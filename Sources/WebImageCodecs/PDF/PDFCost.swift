#if PDF
    import CShimPDF
    import WebImageCore

    /// What drawing a PDF holds in memory, as far as its streams tell: the largest bitmap, the longest path with its
    /// dashes, and how many states are saved within each other.
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
            static let dash = 100.0
        }

        /// Bytes.
        private(set) var memory = 0

        /// - Throws: `limitExceeded` for what does not fit into memory whatever the canvas is, and what the checkpoint throws.
        init(of file: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            var streams = PDFStreams(file)
            var unpacked = 0
            var (saved, points, pixels) = (0, 0, 0)
            // Forms are drawn with the dashes of those that draw them.
            var (length, dash) = (0.0, Double.infinity)
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
                length = max(length, content.length)
                dash = min(dash, content.dash)
            }
            guard saved <= Self.mostSaved else {
                throw Self.error("it saves \(saved) states within each other, more than \(Self.mostSaved)")
            }
            let bitmap = pixels.multipliedReportingOverflow(by: Weight.pixel)
            memory = bitmap.overflow ? .max / 4 : min(bitmap.partialValue, .max / 4)
            memory += points * Weight.point + saved * Weight.savedState
            if length > 0, dash.isFinite {
                memory += Int(min(length / max(dash, .leastNormalMagnitude) * Weight.dash, 0x1p50))
            }
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
#endif
