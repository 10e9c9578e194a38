import Testing
import WebImageCodecs
import WebImageCore

/// Decodes with our WebP coder, whatever the registry would choose.
func decodeWebP(
    _ bytes: [UInt8], scale: Int = 1, keepsWhole: Bool = true, options: DecodeOptions = DecodeOptions(),
    length: () -> Int = { Int.max }
) -> CoderDecode {
    CoderDecode(WebPCoder(), bytes, options: options, scale: scale, keepsWhole: keepsWhole, length: length)
}

/// Pushes all bytes into the decoder, in pieces of the lengths that `length` returns.
func pushWebP(
    _ bytes: [UInt8], into decoder: any ImageDecoder, _ length: () -> Int = { Int.max }
) throws(WebImageError) {
    try pushPieces(of: bytes, length) { piece, _ throws(WebImageError) in _ = try decoder.push(piece) }
}

func encodeWebP(_ image: Image, quality: Int? = nil) throws -> [UInt8] {
    try WebPCoder().encode(image, as: .webp, EncodeOptions(quality: quality))
}
