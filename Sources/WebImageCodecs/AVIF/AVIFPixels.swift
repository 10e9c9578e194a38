#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Converts the shown part of a decoded picture to RGBA with straight alpha: all of it at once, or some rows, so
    /// that no second picture is needed.
    final class AVIFPixels {
        static let bandRows = 64
        /// The number of pixels around a part that affect its colours if these have half the resolution. They are
        /// converted too, so that the edges of parts look as in the whole picture. Even, so that a part begins with
        /// pixels that share their colour.
        private static let margin = 2

        private let file: AVIFFile
        private let format: RowFormat
        /// The converted columns, which are more than the shown ones.
        private let columns: Range<Int>
        /// A part of the picture, and memory for its pixels. Made on demand.
        private var part: (view: UnsafeMutablePointer<avifImage>, memory: AlignedMemory)?

        /// - Parameter format: of rows as wide as the shown part.
        init(_ file: AVIFFile, _ format: RowFormat) {
            self.file = file
            self.format = format
            columns = Self.widened(file.frame.columns, within: Int(file.handle.pointee.image.pointee.width))
        }

        deinit {
            guard let part else { return }
            avifImageDestroy(part.view)
            part.memory.deallocate()
        }

        /// Converts all rows; in bands if the picture is cropped.
        func convert(into target: UnsafeMutableRawPointer) throws(WebImageError) {
            let size = PixelSize(width: columns.count, height: Int(file.handle.pointee.image.pointee.height))
            guard size != file.frame.size else {
                return try convert(file.handle.pointee.image, into: target, bytesPerRow: format.bytesPerRow)
            }
            for row in stride(from: 0, to: format.size.height, by: Self.bandRows) {
                let end = min(row + Self.bandRows, format.size.height)
                try convert(rows: row..<end, into: target + row * format.bytesPerRow)
            }
        }

        /// - Parameter rows: of the shown part; at most ``bandRows``.
        func convert(rows: Range<Int>, into target: UnsafeMutableRawPointer) throws(WebImageError) {
            let bytesPerPixel = format.layout.bytesPerPixel
            let bytesPerRow = columns.count * bytesPerPixel
            let (view, memory) = try part(bytesPerRow)
            let image = file.handle.pointee.image
            let stored = rows.lowerBound + file.frame.rows.lowerBound..<rows.upperBound + file.frame.rows.lowerBound
            let lines = Self.widened(stored, within: Int(image?.pointee.height ?? 0))
            var area = avifCropRect(
                x: UInt32(columns.lowerBound), y: UInt32(lines.lowerBound), width: UInt32(columns.count),
                height: UInt32(lines.count))
            _ = try file.check(avifImageSetViewRect(view, image, &area))
            try convert(view, into: memory.base, bytesPerRow: bytesPerRow)
            let left = (file.frame.columns.lowerBound - columns.lowerBound) * bytesPerPixel
            for (index, row) in stored.enumerated() {
                let source = memory.base + (row - lines.lowerBound) * bytesPerRow + left
                (target + index * format.bytesPerRow).copyMemory(from: source, byteCount: format.bytesPerRow)
            }
        }

        private func part(
            _ bytesPerRow: Int
        ) throws(WebImageError) -> (view: UnsafeMutablePointer<avifImage>, memory: AlignedMemory) {
            if let part { return part }
            // A part that begins with an odd row includes the row above it.
            let memory = try AlignedMemory(byteCount: bytesPerRow * (Self.bandRows + 2 * Self.margin + 1))
            guard let view = avifImageCreateEmpty() else {
                memory.deallocate()
                throw WebImageError(.limitExceeded, "there is no memory to decode the AVIF", format: .avif)
            }
            part = (view, memory)
            return (view, memory)
        }

        private static func widened(_ range: Range<Int>, within count: Int) -> Range<Int> {
            max(range.lowerBound - margin, 0) & ~1..<min(range.upperBound + margin, count)
        }

        /// libavif divides by alpha if the file says that its colours are premultiplied.
        private func convert(
            _ image: UnsafeMutablePointer<avifImage>, into pixels: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(WebImageError) {
            var rows = avifRGBImage()
            avifRGBImageSetDefaults(&rows, image)
            rows.depth = UInt32(format.layout.bitDepth)
            rows.format = AVIF_RGB_FORMAT_RGBA
            rows.alphaPremultiplied = 0
            rows.pixels = pixels.assumingMemoryBound(to: UInt8.self)
            rows.rowBytes = UInt32(bytesPerRow)
            _ = try file.check(avifImageYUVToRGB(image, &rows))
        }
    }
#endif
