package import WebImageCore

/// Reads Windows and OS/2 bitmaps: 1 to 32 bits a pixel, run-length encoding (RLE4, RLE8), channel masks. Writes them
/// with 24 bits a pixel, or with 32 and a mask for alpha.
///
/// The fourth byte of 32-bit pixels is alpha only if the file has a mask for it. Channels with more than 8 bits are
/// read as 8. ICC profiles, which follow the pixels, are not read.
package struct BMPCoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.bmp] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.bmp] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        BMPDecoder(options, plan: plan)
    }

    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .bmp else {
            throw WebImageError(.cannotEncode, "the BMP encoder writes no \(format.rawValue)", format: format)
        }
        return try BMPWriter.bytes(of: image, options)
    }
}
