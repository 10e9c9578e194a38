import WebImageCodecs
import WebImageCore
import WebImageTesting

/// The result of decoding bytes that came in pieces.
struct CoderDecode {
    var header: ImageHeader?
    var format: RowFormat?
    var pixels = Pixels([])
    var rows = 0
    var commits = 0
    var error: WebImageError?
    /// How many bytes had been pushed when the header was known; nil if it was known only at the end.
    var headerAt: Int?
    /// Whether the decoder reported before the end of the bytes that the picture was complete.
    var wasComplete = false
    var previews: [Pixels] = []

    /// Decodes bytes in pieces of the lengths that `length` returns.
    ///
    /// - Parameters:
    ///   - coder: decodes the bytes, whatever the registry would choose; nil: the registry chooses the coder.
    ///   - keepsWhole: whether rows go into a buffer for the whole picture. If false, they go into a `StrictSink`.
    ///   - previewEvery: after how many pieces a preview is taken; 0 for none.
    init(
        _ coder: (any ImageCoder)?, _ bytes: [UInt8], options: DecodeOptions = DecodeOptions(), scale: Int = 1,
        raster: VectorRaster? = nil, keepsWhole: Bool = false, wantsRows: Bool = true, previewEvery: Int = 0,
        length: () -> Int = { Int.max }
    ) {
        let (whole, strict) = (PixelBufferSink(), StrictSink())
        let sink: any RowSink = keepsWhole ? whole : strict
        do throws(WebImageError) {
            let plan: DecodePlanner = { (_) throws(WebImageError) in
                DecodePlan(scaleDenominator: scale, raster: raster, sink: wantsRows ? sink : nil)
            }
            let decoder =
                if let coder { try coder.makeDecoder(options, plan: plan) } else {
                    try makeDecoder(bytes, options, plan: plan)
                }
            defer { header = decoder.header }
            var pieces = 0
            try pushPieces(of: bytes, length) { piece, end throws(WebImageError) in
                let state = try decoder.push(piece)
                pieces += 1
                if headerAt == nil, decoder.header != nil { headerAt = end }
                if previewEvery > 0, pieces % previewEvery == 0, let preview = try decoder.preview() {
                    previews.append(preview.rows(preview.size.height))
                }
                if case .complete = state { wasComplete = true }
            }
            try decoder.finish()
        } catch { self.error = error }
        format = keepsWhole ? whole.format : strict.format
        rows = keepsWhole ? whole.rowsDone : strict.rowsDone
        commits = strict.commits
        pixels = keepsWhole ? whole.buffer?.rows(rows) ?? Pixels([]) : Pixels(strict.bytes)
    }

    /// An empty result.
    init() {}

    /// The means of red, green and blue multiplied by alpha, and of alpha. Of 16-bit channels the upper 8 bits count.
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

/// Decodes bytes with the coder that the registry chooses.
func decode(
    _ bytes: [UInt8], scale: Int = 1, keepsWhole: Bool = true, options: DecodeOptions = DecodeOptions(),
    previewEvery: Int = 0, length: () -> Int = { Int.max }
) -> CoderDecode {
    CoderDecode(
        nil, bytes, options: options, scale: scale, keepsWhole: keepsWhole, previewEvery: previewEvery, length: length)
}

/// Calls `push` with pieces of the lengths that `length` returns, and with the number of bytes up to the end of each.
/// Each piece is a copy of its own, so that a decoder that wrongly keeps the pointer is noticed.
func pushPieces(
    of bytes: [UInt8], _ length: () -> Int = { Int.max },
    to push: (_ piece: UnsafeRawBufferPointer, _ end: Int) throws(WebImageError) -> Void
) throws(WebImageError) {
    var end = 0
    while end < bytes.count {
        let piece = Array(bytes[end..<end + min(max(length(), 1), bytes.count - end)])
        end += piece.count
        try piece.withUnsafeBufferPointer { buffer throws(WebImageError) in
            try push(UnsafeRawBufferPointer(buffer), end)
        }
    }
}

func makeDecoder(
    _ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions(), plan: @escaping DecodePlanner
) throws(WebImageError) -> any ImageDecoder {
    try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) -> any ImageDecoder in
        let all = UnsafeRawBufferPointer(buffer)
        return try CoderRegistry.standard.coder(for: ImageFormat(sniffing: all), prefix: all)
            .makeDecoder(options, plan: plan)
    }
}

extension PixelBuffer {
    func rows(_ count: Int) -> Pixels { withBytes { Pixels(Array($0.prefix(count * bytesPerRow))) } }
}

extension CoderRegistry {
    func decode(_ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions()) throws(WebImageError) -> DecodedPicture {
        try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) -> DecodedPicture in
            try decode(UnsafeRawBufferPointer(buffer), options)
        }
    }

    func readHeader(
        of bytes: [UInt8], _ options: DecodeOptions = DecodeOptions()
    ) throws(WebImageError) -> ImageHeader {
        try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) -> ImageHeader in
            try readHeader(of: UnsafeRawBufferPointer(buffer), options)
        }
    }
}

/// Random lengths from 1 to `most`, the same for the same seed.
func randomLengths(seed: UInt64, most: Int) -> () -> Int {
    var generator = SeededGenerator(seed: seed)
    return { Int.random(in: 1...most, using: &generator) }
}
