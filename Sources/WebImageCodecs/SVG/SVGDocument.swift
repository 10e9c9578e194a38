#if SVG
    import CShimSVG
    import WebImageCore

    /// A document that librsvg has read.
    final class SVGDocument: VectorDocument {
        /// What is known once it is read.
        private struct Contents {
            var size: (width: Double, height: Double)
            var header: ImageHeader
            var complexity: SVGComplexity
        }

        private let contents: Contents
        private let limits: DecodeLimits
        private let svg: OpaquePointer

        /// - Throws: `truncatedData`, `corruptData`, `unsupportedFeature`, `limitExceeded`, and what the checkpoint throws.
        init(_ bytes: UnsafeRawBufferPointer, _ options: DecodeOptions) throws(WebImageError) {
            let format = Self.isPacked(bytes) ? ImageFormat.svgz : .svg
            guard let svg = wi_svg_create() else { throw Self.noMemory(format) }
            do throws(WebImageError) {
                let text = format == .svgz ? try Self.unpacked(bytes, svg, options.limits) : bytes
                guard let resolved = try SVGText.resolved(text, options.limits) else {
                    contents = try Self.read(text, as: format, svg, options)
                    (limits, self.svg) = (options.limits, svg)
                    return
                }
                contents = try resolved.withUnsafeBufferPointer { buffer throws(WebImageError) in
                    try Self.read(UnsafeRawBufferPointer(buffer), as: format, svg, options)
                }
            } catch {
                wi_svg_destroy(svg)
                throw error
            }
            (limits, self.svg) = (options.limits, svg)
        }

        deinit { wi_svg_destroy(svg) }

        var width: Double { contents.size.width }
        var height: Double { contents.size.height }
        var header: ImageHeader { contents.header }

        func draw(_ canvas: VectorCanvas) throws(WebImageError) -> CairoRows {
            try contents.complexity.check(canvas: canvas.size)
            var drawing = wi_svg_drawing(
                width: width, height: height, x_scale: canvas.xScale, y_scale: canvas.yScale,
                x_offset: canvas.xOffset, y_offset: canvas.yOffset, canvas_width: UInt32(canvas.size.width),
                canvas_height: UInt32(canvas.size.height), bitmap_pixels: UInt64(max(limits.pixels, 0)))
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
            let result = wi_svg_draw(svg, &drawing, contents.complexity.stackSize, &pixels, &bytesPerRow)
            try Self.check(result, header.format, svg)
            guard let pixels else { throw Self.noMemory(header.format) }
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .straight)
            return CairoRows(base: pixels, bytesPerRow: bytesPerRow, format: format)
        }

        /// What is packed in the file; lives as long as `svg`.
        private static func unpacked(
            _ bytes: UnsafeRawBufferPointer, _ svg: OpaquePointer, _ limits: DecodeLimits
        ) throws(WebImageError) -> UnsafeRawBufferPointer {
            var output: UnsafePointer<UInt8>?
            var count = 0
            let most = SVGPacking.mostUnpacked(of: bytes.count, limits)
            let result = wi_svg_inflate(
                svg, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, most, &output, &count)
            guard Int(result) != WI_SVG_LIMIT else {
                throw error(
                    .limitExceeded, "\(bytes.count) bytes unpack to more than \(most); is this a bomb?", .svgz)
            }
            try check(result, .svgz, svg)
            let text = UnsafeRawBufferPointer(start: output, count: count)
            // librsvg would unpack it once more, without a limit.
            guard !isPacked(text) else { throw error(.corruptData, "the document is packed twice", .svgz) }
            return text
        }

        private static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

        private static func read(
            _ text: UnsafeRawBufferPointer, as format: ImageFormat, _ svg: OpaquePointer, _ options: DecodeOptions
        ) throws(WebImageError) -> Contents {
            let complexity = try SVGComplexity(of: text)
            try options.checkpoint?()
            guard let base = text.assumingMemoryBound(to: UInt8.self).baseAddress, !text.isEmpty else {
                throw error(.truncatedData, "there is no data", format)
            }
            var said = wi_svg_size()
            let result = wi_svg_open(svg, base, text.count, complexity.stackSize, &said)
            // The library has one failure for damage and for what is missing.
            if Int(result) == WI_SVG_CORRUPT, !complexity.isWhole {
                throw error(.truncatedData, "the document ends early", format)
            }
            try check(result, format, svg)
            let size = naturalSize(said)
            var header = ImageHeader(
                format: format, size: try PixelSize(naturalWidth: size.width, height: size.height, of: format),
                hasAlpha: true)
            header.isVector = true
            return Contents(size: size, header: header, complexity: complexity)
        }

        private static func naturalSize(_ said: wi_svg_size) -> (width: Double, height: Double) {
            let hasView = said.view_width > 0 && said.view_height > 0
            let aspect = hasView ? said.view_width / said.view_height : 0
            switch (said.width >= 0, said.height >= 0) {
            case (true, true): return (said.width, said.height)
            case (true, false): return (said.width, hasView ? said.width / aspect : 150)
            case (false, true): return (hasView ? said.height * aspect : 300, said.height)
            case (false, false): return hasView ? (said.view_width, said.view_height) : (300, 150)
            }
        }

        private static func check(
            _ result: Int32, _ format: ImageFormat, _ svg: OpaquePointer
        ) throws(WebImageError) {
            let message = "librsvg: \(String(cString: wi_svg_message(svg)))"
            switch Int(result) {
            case WI_SVG_OK: return
            case WI_SVG_NO_MEMORY: throw noMemory(format)
            case WI_SVG_TRUNCATED: throw error(.truncatedData, "the packed document ends early", format)
            case WI_SVG_LIMIT: throw error(.limitExceeded, message, format)
            default: throw error(.corruptData, message, format)
            }
        }

        private static func noMemory(_ format: ImageFormat) -> WebImageError {
            error(.limitExceeded, "there is no memory to draw the picture", format)
        }

        private static func error(
            _ code: WebImageError.Code, _ message: String, _ format: ImageFormat
        ) -> WebImageError {
            WebImageError(code, message, format: format)
        }
    }
#endif
