public import WebImageCore

/// Reads GIF pictures as browsers show them: on a transparent canvas, frames cut off at the canvas, which becomes
/// transparent where a frame's place is cleared (and not of the background colour that the file names).
///
/// ``ImageHeader/frameCount`` is nil until the decoder has seen the end of the file; it goes on taking bytes after the
/// first frame, and also after the header when only that is wanted, and costs little then. ``ImageHeader/loopCount``
/// may come with it. ``ImageHeader/hasAlpha`` says what the first frame declares: a transparent index, or that it does
/// not cover the canvas; later frames may have transparency all the same.
public struct GIFCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.gif] }

    public func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        GIFDecoder(options, plan: plan)
    }

    public func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        CanvasAnimationDecoder(GIFPatchReader(options), options)
    }
}
