#if PDF
    import CShimPDF
    import WebImageCore

    /// The first page of a PDF.
    final class PDFDocument: VectorDocument {
        let width: Double
        let height: Double
        let header: ImageHeader
        private let pdf: OpaquePointer
        private let isWhole: Bool

        /// - Parameter bytes: the file, which must stay where it is.
        init(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
            guard let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress, let pdf = wi_pdf_create() else {
                throw Self.noMemory
            }
            var (width, height, pages) = (0.0, 0.0, UInt32(0))
            // A PDF ends with this mark, near the end at least (ISO 32000-1, 7.5.5).
            let (mark, tail) = (Array("%%EOF".utf8), bytes.suffix(1024))
            isWhole = tail.indices.contains { tail[$0...].starts(with: mark) }
            do throws(WebImageError) {
                try Self.check(wi_pdf_open(pdf, base, bytes.count, &width, &height, &pages), pdf, isWhole: isWhole)
                var header = ImageHeader(
                    format: .pdf, size: try PixelSize(naturalWidth: width, height: height, of: .pdf), hasAlpha: false)
                header.isVector = true
                header.frameCount = Int(pages)
                self.header = header
            } catch {
                wi_pdf_destroy(pdf)
                throw error
            }
            self.pdf = pdf
            (self.width, self.height) = (width, height)
        }

        deinit { wi_pdf_destroy(pdf) }

        func draw(_ canvas: VectorCanvas) throws(WebImageError) -> CairoRows {
            var drawing = wi_pdf_drawing(
                x_scale: canvas.xScale, y_scale: canvas.yScale, x_offset: canvas.xOffset, y_offset: canvas.yOffset,
                canvas_width: UInt32(canvas.size.width), canvas_height: UInt32(canvas.size.height))
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
            try Self.check(wi_pdf_draw(pdf, &drawing, &pixels, &bytesPerRow), pdf, isWhole: isWhole)
            guard let pixels else { throw Self.noMemory }
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .opaque)
            return CairoRows(base: pixels, bytesPerRow: bytesPerRow, format: format)
        }

        private static func check(_ result: Int32, _ pdf: OpaquePointer, isWhole: Bool) throws(WebImageError) {
            switch Int(result) {
            case WI_PDF_OK: return
            case WI_PDF_NO_MEMORY: throw noMemory
            case WI_PDF_ENCRYPTED: throw error(.unsupportedFeature, "the PDF is encrypted")
            default:
                let message = "poppler: \(String(cString: wi_pdf_message(pdf)))"
                throw error(isWhole ? .corruptData : .truncatedData, message)
            }
        }

        private static var noMemory: WebImageError { error(.limitExceeded, "there is no memory to draw the page") }

        private static func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
            WebImageError(code, message, format: .pdf)
        }
    }
#endif
