#if SVG
    import CShimSVG
    import WebImageCore

    /// A document that librsvg has read.
    final class SVGDocument: VectorDocument {
        let width: Double
        let height: Double
        let header: ImageHeader
        private let svg: SVGHandle
        private let cost: SVGCostLimit
        private let thread: VectorThread

        /// - Throws: `truncatedData`, `corruptData`, `unsupportedFeature`, `limitExceeded`, `decoderUnavailable`, and
        ///   what the checkpoint throws.
        init(_ bytes: CollectedBytes, _ options: DecodeOptions) throws(WebImageError) {
            let text = try SVGSource(bytes, options.limits)
            let complexity = try SVGComplexity(of: text.bytes)
            try options.checkpoint?()
            cost = try SVGCostLimit(
                of: text.bytes, elementCount: complexity.elementCount, as: text.format, options)
            try options.checkpoint?()
            thread = VectorThread(text.format, options, stackSize: complexity.stackSize)
            svg = try SVGHandle(text.format)
            let said = try svg.open(text.hiding(cost.survey.hidden), thread, isWhole: complexity.isWhole)
            (width, height) = Self.naturalSize(said)
            var header = ImageHeader(
                format: text.format, size: try PixelSize(naturalWidth: width, height: height, of: text.format),
                hasAlpha: true)
            header.isVector = true
            header.drawingMemory = try cost.drawingMemory(at: header.size, width: width, height: height)
            self.header = header
        }

        func draw(_ canvas: VectorCanvas) throws(WebImageError) -> CairoRows {
            try cost.check(canvas, width: width, height: height)
            let drawing = wi_svg_drawing(
                width: width, height: height, x_scale: canvas.xScale, y_scale: canvas.yScale,
                x_offset: canvas.xOffset, y_offset: canvas.yOffset, canvas_width: UInt32(canvas.size.width),
                canvas_height: UInt32(canvas.size.height), bitmap_pixels: cost.bitmapPixels)
            let rows = try svg.draw(drawing, thread)
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .straight)
            return CairoRows(base: rows.pixels, bytesPerRow: rows.bytesPerRow, format: format)
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
    }
#endif
