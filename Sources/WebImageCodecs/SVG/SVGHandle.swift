#if SVG
    import CShimSVG
    import WebImageCore

    /// librsvg's own objects for one document.
    final class SVGHandle: @unchecked Sendable {
        // Sendable: an abandoned call continues to use it, but nothing else does then.
        private let svg: OpaquePointer
        private let format: ImageFormat

        /// - Throws: `decoderUnavailable` if librsvg, which is opened here, is missing.
        init(_ format: ImageFormat) throws(WebImageError) {
            try OpenedLibrary.librsvg.check(format)
            guard let svg = wi_svg_create() else { throw Self.noMemory(format) }
            self.svg = svg
            self.format = format
        }

        deinit { wi_svg_destroy(svg) }

        /// The unpacked content of a file; valid as long as this object.
        ///
        /// - Throws: `limitExceeded` if it is longer than `most`, `truncatedData`, `corruptData`.
        func unpacked(_ bytes: UnsafeRawBufferPointer, most: Int) throws(WebImageError) -> UnsafeRawBufferPointer {
            var output: UnsafePointer<UInt8>?
            var count = 0
            let result = wi_svg_inflate(
                svg, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, most, &output, &count)
            switch Int(result) {
            case WI_SVG_LIMIT:
                let message = "\(bytes.count) bytes unpack to more than \(most); is this a bomb?"
                throw WebImageError(.limitExceeded, message, format: format)
            case WI_SVG_TRUNCATED:
                throw WebImageError(.truncatedData, "the packed document ends early", format: format)
            default: try check(result)
            }
            return UnsafeRawBufferPointer(start: output, count: count)
        }

        /// - Throws: `truncatedData` for an incomplete document that librsvg refuses, `corruptData` for a whole one;
        ///   what the thread throws.
        func open(_ text: SVGSource, _ thread: VectorThread, isWhole: Bool) throws(WebImageError) -> wi_svg_size {
            struct Answer: Sendable {
                var result: Int32
                var size: wi_svg_size
            }
            let answer = try thread.run {
                var size = wi_svg_size()
                let base = text.bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                let result = base.map { wi_svg_open(self.svg, $0, text.bytes.count, &size) } ?? Int32(WI_SVG_CORRUPT)
                return Answer(result: result, size: size)
            }
            // The library has one failure for damaged and for missing data.
            if Int(answer.result) == WI_SVG_CORRUPT, !isWhole {
                throw WebImageError(.truncatedData, "the document ends early", format: format)
            }
            try check(answer.result)
            return answer.size
        }

        /// Draws the document. The canvas lives as long as this object.
        ///
        /// - Throws: `limitExceeded`, `corruptData`, and what the thread throws.
        func draw(
            _ drawing: wi_svg_drawing, _ thread: VectorThread
        ) throws(WebImageError) -> (pixels: UnsafePointer<UInt8>, bytesPerRow: Int) {
            let drawn = try thread.draw(cancel: { wi_svg_cancel(svg) }) { drawn in
                var drawing = drawing
                drawn.result = wi_svg_draw(self.svg, &drawing, &drawn.pixels, &drawn.bytesPerRow)
            }
            try check(drawn.result)
            guard let pixels = drawn.pixels else { throw Self.noMemory(format) }
            return (pixels, drawn.bytesPerRow)
        }

        private func check(_ result: Int32) throws(WebImageError) {
            guard Int(result) != WI_SVG_OK else { return }
            let message = "librsvg: \(String(cString: wi_svg_message(svg)))"
            switch Int(result) {
            case WI_SVG_NO_MEMORY: throw Self.noMemory(format)
            case WI_SVG_LIMIT: throw WebImageError(.limitExceeded, message, format: format)
            case WI_SVG_BROKEN: throw WebImageError(.corruptData, "librsvg gave up", format: format)
            default: throw WebImageError(.corruptData, message, format: format)
            }
        }

        private static func noMemory(_ format: ImageFormat) -> WebImageError {
            WebImageError(.limitExceeded, "there is no memory to draw the picture", format: format)
        }
    }
#endif
