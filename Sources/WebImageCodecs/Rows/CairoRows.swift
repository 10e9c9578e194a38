#if SVG || PDF
    import WebImageCore

    /// A canvas as cairo keeps it: words of alpha, red, green and blue from the top, colours multiplied by alpha.
    struct CairoRows {
        let base: UnsafePointer<UInt8>
        let bytesPerRow: Int
        let format: RowFormat

        /// Gives all rows to a sink, with straight alpha.
        func emit(into sink: any RowSink, _ options: DecodeOptions) throws(WebImageError) {
            var writer = try BandWriter(beginning: sink, format, options)
            while !writer.isComplete {
                let source = UnsafeRawPointer(base + writer.row * bytesPerRow)
                let target = try writer.nextRow()
                let pixels = source.assumingMemoryBound(to: UInt32.self)
                let output = target.assumingMemoryBound(to: UInt32.self)
                switch format.alpha {
                case .opaque: for x in 0..<format.size.width { output[x] = Self.opaque(pixels[x]) }
                default: for x in 0..<format.size.width { output[x] = Self.straight(pixels[x]) }
                }
                try writer.rowIsDone()
            }
        }

        static func opaque(_ word: UInt32) -> UInt32 {
            rgba(red: word >> 16 & 255, green: word >> 8 & 255, blue: word & 255, alpha: 255)
        }

        /// The nearest colour that multiplies to what is there.
        static func straight(_ word: UInt32) -> UInt32 {
            let alpha = word >> 24
            if alpha == 255 { return opaque(word) }
            if alpha == 0 { return 0 }
            let half = alpha / 2
            func divided(_ channel: UInt32) -> UInt32 { min(((channel & 255) &* 255 &+ half) / alpha, 255) }
            return rgba(red: divided(word >> 16), green: divided(word >> 8), blue: divided(word), alpha: alpha)
        }

        private static func rgba(red: UInt32, green: UInt32, blue: UInt32, alpha: UInt32) -> UInt32 {
            (red | green << 8 | blue << 16 | alpha << 24).littleEndian
        }
    }
#endif
