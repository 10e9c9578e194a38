package import WebImageCore

/// Reads and writes GIF pictures. They are read as browsers show them: on a transparent canvas at least as large as the
/// first frame needs; later frames are cropped to it; a cleared area becomes transparent rather than the background
/// colour of the file.
///
/// ``/WebImageCore/ImageHeader/frameCount`` is nil until the decoder has seen the end of the file. The decoder accepts
/// bytes after the first frame, and after the header if only that is requested, at little cost.
/// ``/WebImageCore/ImageHeader/loopCount`` may become known with them. ``/WebImageCore/ImageHeader/hasAlpha`` describes
/// the first frame: it has a transparent index, or does not cover the canvas; later frames may have transparency
/// nevertheless.
package struct GIFCoder: ImageCoder {
    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.gif] }
    package var encodableFormats: Set<ImageFormat> { [.gif] }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        GIFDecoder(options, plan: plan)
    }

    package func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        CanvasAnimationDecoder(GIFPatchReader(options))
    }

    /// A GIF of one frame. Up to 256 colours are kept exactly; of more, the best are chosen, and dithered
    /// (``EncodeOptions/dithers``). Pixels that are less than half opaque become transparent, the others opaque. GIF
    /// stores neither orientation nor profile, so pixels are rotated upright.
    ///
    /// - Throws: `cannotEncode` for another format and for sides over 16 bits.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .gif else {
            throw WebImageError(.cannotEncode, "the GIF coder does not write \(format.rawValue)", format: format)
        }
        let encoder = try GIFEncoder(AnimationDescription(size: image.displaySize, loopCount: nil), options)
        try encoder.add(image, delay: .zero)
        return try encoder.finish()
    }

    /// An encoder for frames like those of ``encode(_:as:_:)``, with delays in hundredths of a second; rounding errors
    /// are carried over to the next frame.
    ///
    /// - Throws: `cannotEncode` for sides over 16 bits.
    package func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? {
        guard format == .gif else { return nil }
        return try GIFEncoder(animation, options)
    }
}
