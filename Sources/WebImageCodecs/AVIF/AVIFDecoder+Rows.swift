#if AVIF
    import CSysAVIF
    import WebImageCore

    extension AVIFDecoder {
        private static let bandRows = 64
        /// Rows above and below a band that go into its colours where those have half the resolution. Even, so that a
        /// band begins with a pair of rows that share their colour.
        private static let margin = 2

        /// Gives the sink the decoded picture as RGBA: at once where it keeps the whole picture, else a band at a time, each
        /// converted with a margin that is left out. So no second picture is needed, and a band's edges are as they would be
        /// within the whole.
        func emit(_ format: RowFormat, _ sink: any RowSink) throws(WebImageError) {
            if let whole = sink.wholePicture { return try emit(format, sink, whole) }
            guard let view = avifImageCreateEmpty() else {
                throw WebImageError(.limitExceeded, "there is no memory to decode the AVIF", format: .avif)
            }
            defer { avifImageDestroy(view) }
            let rowCount = Self.bandRows + 2 * Self.margin
            let memory = try AlignedMemory(byteCount: format.bytesPerRow * rowCount)
            defer { memory.deallocate() }
            let scratch = memory.base.assumingMemoryBound(to: UInt8.self)
            var row = 0
            while row < format.size.height {
                try options.checkpoint?()
                let count = min(Self.bandRows, format.size.height - row)
                let first = max(row - Self.margin, 0)
                let last = min(row + count + Self.margin, format.size.height)
                var area = avifCropRect(
                    x: 0, y: UInt32(first), width: UInt32(format.size.width), height: UInt32(last - first))
                _ = try file.check(avifImageSetViewRect(view, file.handle.pointee.image, &area))
                let result = AVIFFile.convert(
                    view, format.layout, bytesPerRow: format.bytesPerRow, into: scratch)
                _ = try file.check(result)
                let start = scratch + (row - first) * format.bytesPerRow
                try sink.band(at: row, count: count).copyMemory(from: start, byteCount: count * format.bytesPerRow)
                try sink.commit(at: row, count: count)
                row += count
            }
        }

        /// - Parameter whole: the memory of the picture that the sink keeps.
        private func emit(
            _ format: RowFormat, _ sink: any RowSink, _ whole: UnsafeMutableRawPointer
        ) throws(WebImageError) {
            try options.checkpoint?()
            let pixels = whole.assumingMemoryBound(to: UInt8.self)
            let result = AVIFFile.convert(
                file.handle.pointee.image, format.layout, bytesPerRow: format.bytesPerRow, into: pixels)
            _ = try file.check(result)
            for row in stride(from: 0, to: format.size.height, by: Self.bandRows) {
                let count = min(Self.bandRows, format.size.height - row)
                _ = try sink.band(at: row, count: count)
                try sink.commit(at: row, count: count)
            }
        }
    }
#endif
