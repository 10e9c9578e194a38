package import WebImageCore

/// Icons and cursors of Windows: the largest entry, among equals the deepest, whether it is a bitmap or a PNG. If a
/// plan names a smaller one (``/WebImageCore/ImageHeader/otherSizes``), that is decoded, because it was drawn for its
/// size.
///
/// If table and entry state different sizes, the entry's counts. Icons are written with one entry, of at most 256
/// pixels a side: larger pictures are scaled down to fit, or refused if the encoding must be lossless.
package struct ICOCoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.ico, .cur] }
    package var encodableFormats: Set<ImageFormat> { [.ico] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        ICODecoder(options, plan: plan)
    }

    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .ico else {
            throw WebImageError(.cannotEncode, "the icon coder does not write \(format.rawValue)", format: format)
        }
        return try IconWriter.bytes(of: image, options)
    }
}
