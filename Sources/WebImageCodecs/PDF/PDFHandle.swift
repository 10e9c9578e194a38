#if PDF
    import CShimPDF
    import WebImageCore

    /// poppler's own objects for one file.
    final class PDFHandle: @unchecked Sendable {
        // Sendable: an abandoned call continues to use it, but nothing else does then.
        struct Page: Sendable {
            var width = 0.0
            var height = 0.0
            /// The number of pages in the file.
            var count: UInt32 = 0
        }

        /// poppler recurses into nested content, up to some hundred levels, for which this is ample.
        static let stackSize = 64 << 20

        private let pdf: OpaquePointer
        /// The bytes of the file, which poppler reads until this object ends.
        private let file: CollectedBytes
        private let isWhole: Bool

        /// - Throws: `decoderUnavailable` if poppler, which is opened here, is missing.
        init(_ file: CollectedBytes) throws(WebImageError) {
            try OpenedLibrary.poppler.check(.pdf)
            guard let pdf = wi_pdf_create() else { throw Self.noMemory }
            self.pdf = pdf
            self.file = file
            // A complete PDF has this mark at its end, or near it (ISO 32000-1, 7.5.5).
            let (mark, tail) = (Array("%%EOF".utf8), file.all.suffix(1024))
            isWhole = tail.indices.contains { tail[$0...].starts(with: mark) }
        }

        deinit { wi_pdf_destroy(pdf) }

        /// - Throws: `corruptData`, `truncatedData`, `unsupportedFeature`, and what the thread throws.
        func open(_ thread: VectorThread) throws(WebImageError) -> Page {
            struct Answer: Sendable {
                var result: Int32
                var page: Page
            }
            let answer = try thread.run {
                var page = Page()
                let bytes = self.file.all
                let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                let result = base.map {
                    wi_pdf_open(self.pdf, $0, bytes.count, &page.width, &page.height, &page.count)
                }
                return Answer(result: result ?? Int32(WI_PDF_NO_MEMORY), page: page)
            }
            try check(answer.result)
            return answer.page
        }

        /// Draws the page. The canvas lives as long as this object.
        ///
        /// - Throws: `limitExceeded`, `corruptData`, and what the thread throws.
        func draw(
            _ drawing: wi_pdf_drawing, _ thread: VectorThread
        ) throws(WebImageError) -> (pixels: UnsafePointer<UInt8>, bytesPerRow: Int) {
            let drawn = try thread.draw { drawn in
                var drawing = drawing
                drawn.result = wi_pdf_draw(self.pdf, &drawing, &drawn.pixels, &drawn.bytesPerRow)
            }
            try check(drawn.result)
            guard let pixels = drawn.pixels else { throw Self.noMemory }
            return (pixels, drawn.bytesPerRow)
        }

        private func check(_ result: Int32) throws(WebImageError) {
            switch Int(result) {
            case WI_PDF_OK: return
            case WI_PDF_NO_MEMORY: throw Self.noMemory
            case WI_PDF_ENCRYPTED: throw WebImageError(.unsupportedFeature, "the PDF is encrypted", format: .pdf)
            default:
                let message = "poppler: \(String(cString: wi_pdf_message(pdf)))"
                throw WebImageError(isWhole ? .corruptData : .truncatedData, message, format: .pdf)
            }
        }

        private static var noMemory: WebImageError {
            WebImageError(.limitExceeded, "there is no memory to draw the page", format: .pdf)
        }
    }
#endif
