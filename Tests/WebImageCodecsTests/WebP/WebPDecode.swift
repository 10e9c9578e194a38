import Testing
import WebImageCodecs
import WebImageCore

/// Decodes with our WebP coder, whatever the registry would choose, in pieces of the lengths that `length` returns.
/// Each piece is a copy of its own, so that a decoder that wrongly keeps the pointer is noticed.
func decodeWebP(
    _ bytes: [UInt8], scale: Int = 1, keepsWhole: Bool = true, options: DecodeOptions = DecodeOptions(),
    length: () -> Int = { Int.max }
) -> PieceDecode {
    let whole = PixelBufferSink()
    let strict = StrictSink()
    var result = PieceDecode()
    do throws(WebImageError) {
        let decoder = try WebPCoder().makeDecoder(options) { (_) throws(WebImageError) in
            DecodePlan(scaleDenominator: scale, sink: keepsWhole ? whole : strict)
        }
        defer { result.header = decoder.header }
        result.wasComplete = try pushWebP(bytes, into: decoder, length)
        try decoder.finish()
    } catch { result.error = error }
    result.format = keepsWhole ? whole.format : strict.format
    result.rows = keepsWhole ? whole.rowsDone : strict.rowsDone
    result.commits = strict.commits
    result.pixels = keepsWhole ? whole.buffer?.rows(whole.rowsDone) ?? Pixels([]) : Pixels(strict.bytes)
    return result
}

/// Pushes all bytes into the decoder. Returns whether the decoder reports that the picture is complete.
@discardableResult
func pushWebP(
    _ bytes: [UInt8], into decoder: any ImageDecoder, _ length: () -> Int = { Int.max }
) throws(WebImageError) -> Bool {
    var offset = 0
    var isComplete = false
    while offset < bytes.count {
        let piece = Array(bytes[offset..<offset + min(max(length(), 1), bytes.count - offset)])
        let state = try piece.withUnsafeBufferPointer { buffer throws(WebImageError) -> DecodeState in
            try decoder.push(UnsafeRawBufferPointer(buffer))
        }
        offset += piece.count
        if case .complete = state { isComplete = true }
    }
    return isComplete
}

func encodeWebP(_ image: Image, quality: Int? = nil) throws -> [UInt8] {
    try WebPCoder().encode(image, as: .webp, EncodeOptions(quality: quality))
}
