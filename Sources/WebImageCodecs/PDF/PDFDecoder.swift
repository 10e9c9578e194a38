#if PDF
    import CShimPDF
    import WebImageCore

    /// Collects a PDF and draws its first page once it is all there.
    final class PDFDecoder: ImageDecoder {
        private let options: DecodeOptions
        private let bytes: CollectedBytes
        private var planner: DecodePlanner?
        private var isDone = false
        private(set) var header: ImageHeader?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            bytes = CollectedBytes(limit: options.limits.bytes, format: .pdf)
        }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard !isDone else { return .complete }
            try options.checkpoint?()
            try bytes.append(piece)
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isDone else { return }
            isDone = true
            try options.checkpoint?()
            guard let base = bytes.all.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count > 0 else {
                throw error(.truncatedData, "there is no data")
            }
            guard let pdf = wi_pdf_create() else { throw noMemory }
            defer { wi_pdf_destroy(pdf) }
            var (width, height, pages) = (0.0, 0.0, UInt32(0))
            try check(wi_pdf_open(pdf, base, bytes.count, &width, &height, &pages), pdf)
            var header = ImageHeader(
                format: .pdf, size: try PixelSize(naturalWidth: width, height: height, of: .pdf), hasAlpha: false)
            header.isVector = true
            header.frameCount = Int(pages)
            self.header = header
            let plan = try planner?(header)
            planner = nil
            guard let plan, let sink = plan.sink else { return }
            let canvas = try VectorCanvas(
                plan.raster, header: header, width: width, height: height, options.limits)
            try draw(pdf, canvas, into: sink)
        }

        private func draw(
            _ pdf: OpaquePointer, _ canvas: VectorCanvas, into sink: any RowSink
        ) throws(WebImageError) {
            try options.checkpoint?()
            var drawing = wi_pdf_drawing(
                x_scale: canvas.xScale, y_scale: canvas.yScale, x_offset: canvas.xOffset, y_offset: canvas.yOffset,
                canvas_width: UInt32(canvas.size.width), canvas_height: UInt32(canvas.size.height))
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
            try check(wi_pdf_draw(pdf, &drawing, &pixels, &bytesPerRow), pdf)
            guard let pixels else { throw noMemory }
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .opaque)
            try CairoRows(base: pixels, bytesPerRow: bytesPerRow, format: format).emit(into: sink, options)
        }

        private func check(_ result: Int32, _ pdf: OpaquePointer) throws(WebImageError) {
            switch Int(result) {
            case WI_PDF_OK: return
            case WI_PDF_NO_MEMORY: throw noMemory
            case WI_PDF_ENCRYPTED: throw error(.unsupportedFeature, "the PDF is encrypted")
            default:
                // A PDF ends with this mark, near the end at least (ISO 32000-1, 7.5.5).
                let message = "poppler: \(String(cString: wi_pdf_message(pdf)))"
                throw error(hasEnd ? .corruptData : .truncatedData, message)
            }
        }

        private var hasEnd: Bool {
            let tail = bytes.all.suffix(1024)
            let mark = Array("%%EOF".utf8)
            return tail.indices.contains { tail[$0...].starts(with: mark) }
        }

        private var noMemory: WebImageError { error(.limitExceeded, "there is no memory to draw the page") }

        private func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
            WebImageError(code, message, format: .pdf)
        }
    }
#endif
