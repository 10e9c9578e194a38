package import WebImageCore

/// Icons and cursors of Windows: the largest entry, of equals the deepest, whether it is a bitmap or a PNG. Where a plan
/// names a smaller one (``/WebImageCore/ImageHeader/otherSizes``), that: it was drawn for its size.
///
/// A size that the table and the entry tell differently is the entry's.
package struct ICOCoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.ico, .cur] }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        ICODecoder(options, plan: plan)
    }
}
