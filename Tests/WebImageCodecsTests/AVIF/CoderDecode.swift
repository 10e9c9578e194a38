#if AVIF || HEIF || SVG || PDF
    import WebImageCodecs
    import WebImageCore
    import WebImageTesting

    /// The result of decoding with one coder, whatever the registry would choose.
    struct CoderDecode {
        var header: ImageHeader?
        var format: RowFormat?
        var pixels = Pixels([])
        var error: WebImageError?
        /// How many bytes had been pushed when the header was known; nil if it was known only at the end.
        var headerAt: Int?
        var wasComplete = false

        init(
            _ coder: any ImageCoder, _ bytes: [UInt8], options: DecodeOptions = DecodeOptions(),
            raster: VectorRaster? = nil, wantsRows: Bool = true, length: () -> Int = { Int.max }
        ) {
            let sink = StrictSink()
            do throws(WebImageError) {
                let decoder = try coder.makeDecoder(options) { (_) throws(WebImageError) in
                    DecodePlan(raster: raster, sink: wantsRows ? sink : nil)
                }
                defer { header = decoder.header }
                var offset = 0
                while offset < bytes.count {
                    let count = min(max(length(), 1), bytes.count - offset)
                    // Each piece is a copy of its own, so that a decoder that wrongly keeps the pointer is noticed.
                    let piece = Array(bytes[offset..<offset + count])
                    let state = try piece.withUnsafeBufferPointer { buffer throws(WebImageError) -> DecodeState in
                        try decoder.push(UnsafeRawBufferPointer(buffer))
                    }
                    offset += count
                    if headerAt == nil, decoder.header != nil { headerAt = offset }
                    if case .complete = state { wasComplete = true }
                }
                try decoder.finish()
            } catch { self.error = error }
            format = sink.format
            pixels = Pixels(sink.bytes)
        }

        /// The means of red, green and blue multiplied by alpha, and of alpha. Of 16-bit channels the upper 8 bits
        /// count.
        var means: [Double] {
            var sums = [0, 0, 0, 0]
            let step = format?.layout == .rgba16 ? 2 : 1
            pixels.bytes.withUnsafeBufferPointer { bytes in
                var index = step - 1
                while index < bytes.count {
                    let alpha = Int(bytes[index + 3 * step])
                    for channel in 0..<3 { sums[channel] += Int(bytes[index + channel * step]) * alpha }
                    sums[3] += alpha
                    index += 4 * step
                }
            }
            let count = Double(max(pixels.count / 4 / step, 1))
            return sums.prefix(3).map { Double($0) / 255 / count } + [Double(sums[3]) / count]
        }
    }

    /// The errors in which decoding damaged bytes may end.
    let typedCodes: Set<WebImageError.Code> = [.corruptData, .truncatedData, .unsupportedFeature, .limitExceeded]

    extension [UInt8] {
        /// The same bytes with one to four flipped bits.
        func damaged(by generator: inout SeededGenerator) -> [UInt8] {
            var bytes = self
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<count, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
            return bytes
        }
    }
#endif
