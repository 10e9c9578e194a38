import CSysWebP
public import WebImageCore
import WebImageProcessing

/// WebP through libwebp: lossy and lossless, with and without alpha; of an animation the first frame.
///
/// There are no scaled decodes: libwebp's scaler decodes everything all the same, and our resampler is the finer one.
public struct WebPCoder: ImageCoder {
    /// The longest side of a VP8 or VP8L picture (14 bits).
    private static let longestSide = Int(WEBP_MAX_DIMENSION)

    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.webp] }
    public var encodableFormats: Set<ImageFormat> { [.webp] }

    public func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        WebPDecoder(options, plan: plan)
    }

    /// A lossy WebP of quality 80 unless `options` says otherwise. Alpha is kept without loss, the colour of fully
    /// transparent pixels is not. An orientation other than upright is written as EXIF.
    ///
    /// - Throws: `cannotEncode` for another format or a side above 16 383, `limitExceeded` without memory.
    /// - Complexity: memory for the output and 1.5 to 2.5 bytes a pixel; as much again as the picture where it has 16
    ///   bits or is premultiplied.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .webp else {
            throw WebImageError(.cannotEncode, "the WebP coder does not write \(format.rawValue)", format: format)
        }
        guard max(image.size.width, image.size.height) <= Self.longestSide else {
            throw WebImageError(
                .cannotEncode, "a WebP's sides are at most \(Self.longestSide) pixels, this picture is \(image.size)",
                format: .webp)
        }
        let pixels = try straightBytes(of: image)
        let encoder = try WebPEncoder(quality: min(max(options.quality ?? 80, 1), 100))
        let picture = try encoder.encode(pixels, isOpaque: image.alpha == .opaque)
        let metadata = EmbeddedMetadata(image, options)
        guard !metadata.isEmpty else { return picture }
        return try WebPContainer.wrap(picture, metadata)
    }

    /// The pixels with 8 bits a channel and colours not multiplied by alpha.
    private func straightBytes(of image: Image) throws(WebImageError) -> PixelBuffer {
        guard image.layout != .rgba8 || image.alpha == .premultiplied else { return image.pixels }
        let pixels = try image.layout == .rgba8 ? image.pixels.copied() : image.pixels.narrowed()
        if image.alpha == .premultiplied { pixels.unpremultiply() }
        return pixels
    }
}
