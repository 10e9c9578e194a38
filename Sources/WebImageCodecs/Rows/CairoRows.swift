#if SVG || PDF
    import WebImageCore
    import WebImageProcessing

    /// A canvas in cairo's format: words of alpha, red, green and blue from the top, colours premultiplied.
    struct CairoRows {
        let base: UnsafePointer<UInt8>
        let bytesPerRow: Int
        let format: RowFormat

        /// Writes all rows to a sink, with straight alpha.
        func emit(into sink: any RowSink, _ options: DecodeOptions) throws(WebImageError) {
            var writer = try BandWriter(beginning: sink, format, options)
            while !writer.isComplete {
                let source = UnsafeRawPointer(base + writer.row * bytesPerRow)
                PixelExpansion.expandARGB(
                    source.assumingMemoryBound(to: UInt32.self), into: try writer.nextRow(), count: format.size.width,
                    isOpaque: format.alpha == .opaque)
                try writer.rowIsDone()
            }
        }
    }
#endif
