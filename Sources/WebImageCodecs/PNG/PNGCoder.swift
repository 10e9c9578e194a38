import CShimPNG
public import WebImageCore

/// PNG through libpng: every colour type, depth and interlacing; of an animation (APNG) the still picture.
///
/// Gamma and chromaticity are not applied; an ICC profile is kept as it is.
public struct PNGCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.png, .apng] }
    public var encodableFormats: Set<ImageFormat> { [.png] }
    public var losslessFormats: Set<ImageFormat> { encodableFormats }

    public func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        try PNGDecoder(options, plan: plan)
    }

    /// A PNG with the same pixels: RGB for opaque pictures, else RGBA; 16 bits where the picture has them. Premultiplied
    /// pictures are written straight, as PNG demands. An orientation other than upright is written as `eXIf`.
    ///
    /// - Throws: `cannotEncode` for another format, `limitExceeded` without memory.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .png else {
            throw WebImageError(.cannotEncode, "the PNG coder does not write \(format.rawValue)", format: format)
        }
        guard let width = UInt32(exactly: image.size.width), let height = UInt32(exactly: image.size.height),
            max(width, height) <= UInt32(Int32.max)
        else { throw WebImageError(.cannotEncode, "a PNG cannot hold a picture of \(image.size)", format: .png) }
        let metadata = EmbeddedMetadata(image, options)
        var output = wi_png_output()
        let result = image.withPixels { pixels in
            metadata.profile.withUnsafeBufferPointer { profile in
                metadata.exif.withUnsafeBufferPointer { exif in
                    guard let base = pixels.bindMemory(to: UInt8.self).baseAddress else { return Int32(0) }
                    var picture = wi_png_picture(
                        pixels: base, stride: image.pixels.bytesPerRow, width: width, height: height,
                        is_16_bit: image.layout == .rgba16 ? 1 : 0, alpha: Int32(image.alpha.rawValue),
                        level: Int32(min(max(options.compressionLevel, 0), 9)), icc: profile.baseAddress,
                        icc_count: profile.count, exif: exif.baseAddress, exif_count: exif.count)
                    return wi_png_encode(&picture, &output)
                }
            }
        }
        defer { wi_png_free(&output) }
        guard Int(result) == WI_PNG_OK, let bytes = output.bytes else {
            let isMemory = Int(result) == WI_PNG_NO_MEMORY
            throw WebImageError(
                isMemory ? .limitExceeded : .cannotEncode,
                isMemory ? "there is no memory to write the PNG" : "libpng: \(text(of: output.message))", format: .png)
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: output.count))
    }
}
