#if HEIF
    import WebImageCore

    /// The interleaved pixels that libheif decoded, on their way to a sink.
    struct HEIFRows {
        private static let bandRows = 16

        let plane: UnsafePointer<UInt8>
        let stride: Int
        /// Bits of a sample in `plane`: 8, or more in two bytes, the lower one first.
        let depth: Int
        let isPremultiplied: Bool
        let format: RowFormat

        func emit(into sink: any RowSink, _ options: DecodeOptions) throws(WebImageError) {
            guard stride >= format.bytesPerRow, (8...16).contains(depth), (depth > 8) == (format.layout == .rgba16)
            else { throw WebImageError(.unsupportedFeature, "libheif gave pixels of \(depth) bits", format: .heif) }
            try sink.begin(format)
            var row = 0
            while row < format.size.height {
                try options.checkpoint?()
                let count = min(Self.bandRows, format.size.height - row)
                let band = sink.band(at: row, count: count)
                for index in 0..<count {
                    let target = band + index * format.bytesPerRow
                    target.copyMemory(from: plane + (row + index) * stride, byteCount: format.bytesPerRow)
                    switch format.layout {
                    case .rgba16: finish(target.assumingMemoryBound(to: UInt16.self))
                    case .rgba8: if isPremultiplied { divide(target.assumingMemoryBound(to: UInt8.self), most: 255) }
                    }
                }
                try sink.commit(at: row, count: count)
                row += count
            }
        }

        /// Makes a row's samples 16 bits wide, the topmost bits again at the bottom, so that the most stays the most.
        private func finish(_ samples: UnsafeMutablePointer<UInt16>) {
            let (up, down) = (UInt16(16 - depth), UInt16(2 * depth - 16))
            for index in 0..<format.size.width * 4 {
                let sample = UInt16(littleEndian: samples[index])
                samples[index] = sample << up | sample >> down
            }
            if isPremultiplied { divide(samples, most: 65_535) }
        }

        /// Straight colours out of multiplied ones.
        private func divide<Sample: FixedWidthInteger & UnsignedInteger>(
            _ samples: UnsafeMutablePointer<Sample>, most: UInt32
        ) {
            for pixel in 0..<format.size.width {
                let alpha = UInt32(samples[pixel * 4 + 3])
                guard alpha > 0, alpha < most else { continue }
                for index in pixel * 4..<pixel * 4 + 3 {
                    samples[index] = Sample(min((UInt32(samples[index]) * most + alpha / 2) / alpha, most))
                }
            }
        }
    }
#endif
