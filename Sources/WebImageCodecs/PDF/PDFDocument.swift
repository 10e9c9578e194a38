#if PDF
    import CShimPDF
    import WebImageCore

    /// The first page of a PDF.
    final class PDFDocument: VectorDocument {
        let width: Double
        let height: Double
        let header: ImageHeader
        private let pdf: PDFHandle
        private let cost: PDFCost
        private let thread: VectorThread

        /// - Throws: `corruptData`, `truncatedData`, `unsupportedFeature`, `limitExceeded`, `decoderUnavailable`, and
        ///   what the checkpoint throws.
        init(_ bytes: CollectedBytes, _ options: DecodeOptions) throws(WebImageError) {
            cost = try PDFCost(of: bytes.all, options)
            thread = VectorThread(.pdf, options, stackSize: PDFHandle.stackSize)
            pdf = try PDFHandle(bytes)
            let page = try pdf.open(thread)
            (width, height) = (page.width, page.height)
            var header = ImageHeader(
                format: .pdf, size: try PixelSize(naturalWidth: width, height: height, of: .pdf), hasAlpha: false)
            header.isVector = true
            header.frameCount = Int(page.count)
            header.drawingMemory = DrawingMemory(bytesPerPixel: 4, fixed: ByteCount(cost.memory))
            self.header = header
        }

        func draw(_ canvas: VectorCanvas) throws(WebImageError) -> CairoRows {
            try cost.check(canvas.size)
            let drawing = wi_pdf_drawing(
                x_scale: canvas.xScale, y_scale: canvas.yScale, x_offset: canvas.xOffset, y_offset: canvas.yOffset,
                canvas_width: UInt32(canvas.size.width), canvas_height: UInt32(canvas.size.height))
            let rows = try pdf.draw(drawing, thread)
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .opaque)
            return CairoRows(base: rows.pixels, bytesPerRow: rows.bytesPerRow, format: format)
        }
    }
#endif
