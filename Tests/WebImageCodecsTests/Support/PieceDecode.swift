import WebImageCodecs
import WebImageCore
import WebImageTesting

/// The result of decoding bytes that came in pieces.
struct PieceDecode {
    var header: ImageHeader?
    var format: RowFormat?
    var pixels = Pixels([])
    var rows = 0
    var commits = 0
    var error: WebImageError?
    /// Whether the decoder reported before the end of the bytes that the picture was complete.
    var wasComplete = false
    var previews: [Pixels] = []
}

/// Decodes `bytes` through the registry, in pieces of the lengths that `length` returns.
///
/// - Parameters:
///   - keepsWhole: Whether rows go into a buffer for the whole picture. If false, they go into a `StrictSink`.
///   - previewEvery: After how many pieces a preview is taken; 0 for none.
func decode(
    _ bytes: [UInt8], scale: Int = 1, keepsWhole: Bool = true, options: DecodeOptions = DecodeOptions(),
    previewEvery: Int = 0, length: () -> Int = { Int.max }
) -> PieceDecode {
    let whole = PixelBufferSink()
    let strict = StrictSink()
    let sink: any RowSink = keepsWhole ? whole : strict
    var result = PieceDecode()
    do throws(WebImageError) {
        let decoder = try makeDecoder(bytes, options) { (_) throws(WebImageError) in
            DecodePlan(scaleDenominator: scale, sink: sink)
        }
        defer { result.header = decoder.header }
        try push(bytes, into: decoder, &result, previewEvery, length)
        try decoder.finish()
    } catch { result.error = error }
    result.format = keepsWhole ? whole.format : strict.format
    result.rows = keepsWhole ? whole.rowsDone : strict.rowsDone
    result.commits = strict.commits
    result.pixels = keepsWhole ? whole.buffer?.rows(whole.rowsDone) ?? Pixels([]) : Pixels(strict.bytes)
    return result
}

private func push(
    _ bytes: [UInt8], into decoder: any ImageDecoder, _ result: inout PieceDecode, _ previewEvery: Int,
    _ length: () -> Int
) throws(WebImageError) {
    var (offset, pieces) = (0, 0)
    while offset < bytes.count {
        let count = min(max(length(), 1), bytes.count - offset)
        // Each piece is a copy of its own, so that a decoder that wrongly keeps the pointer is noticed.
        let piece = Array(bytes[offset..<offset + count])
        let state = try piece.withUnsafeBufferPointer { buffer throws(WebImageError) -> DecodeState in
            try decoder.push(UnsafeRawBufferPointer(buffer))
        }
        offset += count
        pieces += 1
        if previewEvery > 0, pieces % previewEvery == 0, let preview = try decoder.preview() {
            result.previews.append(preview.rows(preview.size.height))
        }
        if case .complete = state { result.wasComplete = true }
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
