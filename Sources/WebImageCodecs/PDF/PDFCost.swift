#if PDF
    import CShimPDF
    import WebImageCore

    /// The memory for drawing a PDF, estimated from its streams: the largest bitmap, the longest path with its dashes,
    /// and the depth of saved states.
    ///
    /// All streams of the file are scanned in place, whatever refers to them. Streams with filters other than
    /// FlateDecode are not scanned.
    struct PDFCost {
        /// The limit for all running decodes together, without what the libraries need for themselves.
        private static let maxMemory = 464 << 20
        /// Real pages save some dozen states.
        private static let maxSaved = 20_000
        /// The total unpacked length for one page: the largest maps have some dozen megabytes.
        private static let maxUnpacked = 128 << 20
        /// Measured with poppler 22.12.
        private enum Weight {
            static let pixel = 4
            static let point = 160
            static let savedState = 1600
            static let dash = 100.0
        }

        /// Bytes.
        private(set) var memory = 0

        /// - Throws: `limitExceeded` if it does not fit into memory on any canvas, and errors of the checkpoint.
        init(of file: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            var streams = PDFStreams(file)
            var unpacked = 0
            var (saved, points, pixels) = (0, 0, 0)
            // Forms inherit the dashes of their users.
            var (length, dash) = (0.0, Double.infinity)
            while let stream = streams.next() {
                try options.checkpoint?()
                if stream.isImage {
                    // Its mask has at most the same size.
                    pixels = max(pixels, stream.pixels)
                    continue
                }
                guard stream.isContent else { continue }
                let room = Self.maxUnpacked - unpacked
                let content = stream.withContent(most: room + 1) { content in
                    unpacked += content.count
                    return PDFOperators(content)
                }
                guard unpacked <= Self.maxUnpacked else {
                    throw Self.error("its streams unpack to more than \(ByteCount(Self.maxUnpacked))")
                }
                // Streams may be nested when they are drawn.
                saved += content.saved
                points = max(points, content.points)
                length = max(length, content.length)
                dash = min(dash, content.dash)
            }
            guard saved <= Self.maxSaved else {
                throw Self.error("it saves \(saved) states within each other, more than \(Self.maxSaved)")
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
            // The canvas alone is limited by `DecodeLimits.pixels`.
            guard memory < 1 << 20 || total <= Self.maxMemory else {
                throw Self.error(
                    "drawing it takes up to \(ByteCount(total)), more than \(ByteCount(Self.maxMemory))")
            }
        }

        private static func error(_ message: String) -> WebImageError {
            WebImageError(.limitExceeded, "the PDF is too complex: \(message)", format: .pdf)
        }
    }
#endif
