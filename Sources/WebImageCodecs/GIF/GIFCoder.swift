package import WebImageCore

/// Reads and writes GIF pictures: reads them as browsers show them, on a transparent canvas at least as large
/// as the first frame needs, later frames cut off at the canvas, which becomes transparent where a frame's place is cleared (and not of the background colour that the file
/// names).
///
/// ``/WebImageCore/ImageHeader/frameCount`` is nil until the decoder has seen the end of the file; it goes on taking bytes after the
/// first frame, and also after the header when only that is wanted, and costs little then. ``/WebImageCore/ImageHeader/loopCount``
/// may come with it. ``/WebImageCore/ImageHeader/hasAlpha`` says what the first frame declares: a transparent index, or that it does
/// not cover the canvas; later frames may have transparency all the same.
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
    /// (``EncodeOptions/dithers``). What is less than half opaque becomes transparent, the rest opaque. GIF has no
    /// place for an orientation, so that pixels are turned upright, nor for a profile.
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

    /// An encoder whose frames are as those of ``encode(_:as:_:)``, with delays in hundredths of a second: what
    /// rounding takes from one, the next ones get.
    ///
    /// - Throws: `cannotEncode` for sides over 16 bits.
    package func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? {
        guard format == .gif else { return nil }
        return try GIFEncoder(animation, options)
    }
}
