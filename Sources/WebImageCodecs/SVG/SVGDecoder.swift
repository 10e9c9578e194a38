#if SVG
    import CShimSVG
    import WebImageCore

    /// Collects a document and draws it once it is all there.
    final class SVGDecoder: ImageDecoder {
        private let options: DecodeOptions
        private let bytes: CollectedBytes
        private var planner: DecodePlanner?
        private var isDone = false
        private(set) var header: ImageHeader?
        /// svgz for packed documents; known with the first two bytes.
        private var format = ImageFormat.svg

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            bytes = CollectedBytes(limit: options.limits.bytes, format: .svg)
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
            guard bytes.count > 0 else { throw error(.truncatedData, "there is no data") }
            guard let svg = wi_svg_create() else { throw noMemory }
            defer { wi_svg_destroy(svg) }
            let text = try text(svg)
            guard let resolved = try SVGText.resolved(text, options.limits) else { return try decode(text, svg) }
            try resolved.withUnsafeBufferPointer { buffer throws(WebImageError) in
                try decode(UnsafeRawBufferPointer(buffer), svg)
            }
        }

        private func decode(_ text: UnsafeRawBufferPointer, _ svg: OpaquePointer) throws(WebImageError) {
            let complexity = try SVGComplexity(of: text)
            try options.checkpoint?()
            var said = wi_svg_size()
            try open(text, svg, complexity, &said)
            let (width, height) = Self.naturalSize(said)
            var header = ImageHeader(
                format: format, size: try PixelSize(naturalWidth: width, height: height, of: format), hasAlpha: true)
            header.isVector = true
            self.header = header
            let plan = try planner?(header)
            planner = nil
            guard let plan, let sink = plan.sink else { return }
            let canvas = try VectorCanvas(
                plan.raster, header: header, width: width, height: height, options.limits)
            try complexity.check(canvas: canvas.size)
            try options.checkpoint?()
            var drawing = wi_svg_drawing(
                width: width, height: height, x_scale: canvas.xScale, y_scale: canvas.yScale,
                x_offset: canvas.xOffset, y_offset: canvas.yOffset, canvas_width: UInt32(canvas.size.width),
                canvas_height: UInt32(canvas.size.height), bitmap_pixels: UInt64(max(options.limits.pixels, 0)))
            var pixels: UnsafePointer<UInt8>?
            var bytesPerRow = 0
            try check(wi_svg_draw(svg, &drawing, complexity.stackSize, &pixels, &bytesPerRow), svg)
            guard let pixels else { throw noMemory }
            let format = RowFormat(size: canvas.size, layout: .rgba8, alpha: .straight)
            try CairoRows(base: pixels, bytesPerRow: bytesPerRow, format: format).emit(into: sink, options)
        }

        /// The document itself: what was pushed, or what is packed in it.
        private func text(_ svg: OpaquePointer) throws(WebImageError) -> UnsafeRawBufferPointer {
            let all = bytes.all
            guard Self.isPacked(all) else { return all }
            format = .svgz
            var output: UnsafePointer<UInt8>?
            var count = 0
            let most = SVGPacking.mostUnpacked(of: all.count, options.limits)
            let result = wi_svg_inflate(
                svg, all.assumingMemoryBound(to: UInt8.self).baseAddress, all.count, most, &output, &count)
            guard Int(result) != WI_SVG_LIMIT else {
                throw error(.limitExceeded, "\(all.count) bytes unpack to more than \(most); is this a bomb?")
            }
            try check(result, svg)
            let text = UnsafeRawBufferPointer(start: output, count: count)
            // librsvg would unpack it once more, without a limit.
            guard !Self.isPacked(text) else { throw error(.corruptData, "the document is packed twice") }
            return text
        }

        private static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

        private func open(
            _ text: UnsafeRawBufferPointer, _ svg: OpaquePointer, _ complexity: SVGComplexity, _ size: inout wi_svg_size
        ) throws(WebImageError) {
            guard let base = text.assumingMemoryBound(to: UInt8.self).baseAddress, !text.isEmpty else {
                throw error(.truncatedData, "there is no data")
            }
            let result = wi_svg_open(svg, base, text.count, complexity.stackSize, &size)
            // The library has one failure for damage and for what is missing.
            if Int(result) == WI_SVG_CORRUPT, !complexity.isWhole {
                throw error(.truncatedData, "the document ends early")
            }
            try check(result, svg)
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

        private func check(_ result: Int32, _ svg: OpaquePointer) throws(WebImageError) {
            let message = "librsvg: \(String(cString: wi_svg_message(svg)))"
            switch Int(result) {
            case WI_SVG_OK: return
            case WI_SVG_NO_MEMORY: throw noMemory
            case WI_SVG_TRUNCATED: throw error(.truncatedData, "the packed document ends early")
            case WI_SVG_LIMIT: throw error(.limitExceeded, message)
            default: throw error(.corruptData, message)
            }
        }

        private var noMemory: WebImageError {
            error(.limitExceeded, "there is no memory to draw the picture")
        }

        private func error(_ code: WebImageError.Code, _ message: String) -> WebImageError {
            WebImageError(code, message, format: format)
        }
    }
#endif
