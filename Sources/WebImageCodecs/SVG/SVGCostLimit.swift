#if SVG
    import WebImageCore

    /// Checks the estimated cost of a document against its limits before librsvg sees it.
    struct SVGCostLimit {
        /// How much memory librsvg may use at once with the canvas: the limit for all running decodes together, without
        /// what the libraries need for themselves.
        private static let maxMemory = Double(464 << 20)
        /// The estimate is higher than the cost of most drawings, so it may exceed the time limit by this factor. A
        /// drawing that does take longer than the limit is abandoned.
        private static let timeMargin = 10.0
        /// Larger fonts crash the process: Pango counts in 1024ths of a unit.
        private static let largestFont = 100_000.0
        /// Pixels of all bitmaps together. librsvg keeps each until the end, and for a moment twice.
        private static let maxBitmapPixels = 40 << 20
        /// librsvg's memory for a document: 1200 bytes for each element, and its attributes.
        private static let bytesPerElement = 1400
        private static let bytesPerByte = 12

        let survey: SVGSurvey
        private let format: ImageFormat
        private let limits: DecodeLimits
        private let documentBytes: Double
        private let checkpoint: (@Sendable () throws(WebImageError) -> Void)?

        /// - Throws: `limitExceeded` if the document is too large on any canvas, `unsupportedFeature` if it hides its
        ///   content.
        ///
        /// - Parameter elementCount: counted before, because the survey itself needs memory for each.
        init(
            of text: UnsafeRawBufferPointer, elementCount: Int, as format: ImageFormat, _ options: DecodeOptions
        ) throws(WebImageError) {
            documentBytes = Double(elementCount * Self.bytesPerElement + text.count * Self.bytesPerByte)
            guard documentBytes <= Self.maxMemory else {
                throw WebImageError(
                    .limitExceeded, "the document is too complex: it has \(elementCount) elements", format: format)
            }
            bitmapPixels = UInt64(min(max(options.limits.pixels, 0), Self.maxBitmapPixels))
            survey = try SVGSurvey(of: text, bitmapPixels: bitmapPixels, checkpoint: options.checkpoint)
            self.format = format
            limits = options.limits
            checkpoint = options.checkpoint
            let one = PixelSize(width: 1, height: 1)
            try check(SVGEstimate(survey, size: one, scale: 1, checkpoint: checkpoint), one)
        }

        /// The maximum number of pixels of all bitmaps in the document.
        let bitmapPixels: UInt64

        /// - Parameters:
        ///   - width: of the document, in its own units.
        /// - Throws: `limitExceeded` for a drawing that takes too much memory or time.
        func check(_ canvas: VectorCanvas, width: Double, height: Double) throws(WebImageError) {
            let scale = max(abs(canvas.xScale), abs(canvas.yScale)) * viewScale(width, height)
            try check(SVGEstimate(survey, size: canvas.size, scale: scale, checkpoint: checkpoint), canvas.size)
        }

        /// The memory for drawing in addition to the canvas, by its natural size.
        ///
        /// - Throws: what the checkpoint throws.
        func drawingMemory(
            at size: PixelSize, width: Double, height: Double
        ) throws(WebImageError) -> DrawingMemory {
            let pixels = Double(size.pixelCount ?? .max)
            let estimate = try SVGEstimate(
                survey, size: size, scale: viewScale(width, height), checkpoint: checkpoint)
            let bitmaps = survey.hasBitmaps ? Double(Self.maxBitmapPixels) : 0
            let fixed = min(documentBytes + bitmaps, Self.maxMemory)
            // Includes the canvas on which the library draws. An estimate above the limit is refused anyway.
            return DrawingMemory(
                bytesPerPixel: 4 + min(Self.maxMemory, estimate.memory) / pixels, fixed: ByteCount(Int(fixed)))
        }

        private func viewScale(_ width: Double, _ height: Double) -> Double {
            SVGScale.most(viewBox: survey.viewBox, width: width, height: height)
        }

        // `min` returns its first argument if the second is NaN.
        private func check(_ estimate: SVGEstimate, _ size: PixelSize) throws(WebImageError) {
            guard estimate.fontSize <= Self.largestFont else {
                throw error("its fonts are larger than \(Int(Self.largestFont)) units")
            }
            let canvas = Double(size.pixelCount ?? .max) * 4
            // The canvas alone is limited by `DecodeLimits.pixels`.
            let extra = estimate.memory + documentBytes
            guard estimate.memory <= 0 || extra + canvas <= Self.maxMemory else {
                let bytes = ByteCount(Int(min(0x1p60, extra + canvas)))
                let most = ByteCount(Int(Self.maxMemory))
                throw error("drawing it at \(size) takes up to \(bytes), more than \(most); ask for a smaller size")
            }
            let seconds = estimate.nanoseconds / 1e9
            guard seconds <= limits.drawingTime / .seconds(1) * Self.timeMargin else {
                let time = "\(Int(min(1e12, seconds))) seconds"
                throw WebImageError(
                    over: .drawingTime,
                    "the document is too complex: drawing it at \(size) may take \(time), less at a smaller size",
                    format: format)
            }
        }

        private func error(_ message: String) -> WebImageError {
            WebImageError(.limitExceeded, "the document is too complex: \(message)", format: format)
        }
    }
#endif
