public import WebImageCore

/// Reads the first frame of GIF pictures, as browsers show it: on a transparent canvas, cut off at the canvas.
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
}
