import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageProcessing

/// The frames of a picture in the making that may turn out to be an animation.
final class AnimationTarget {
    private let buffer: FrameBuffer

    /// nil for formats and coders that know stills only.
    init?(
        _ coder: any ImageCoder, _ format: ImageFormat, _ style: FrameStyle, limits: DecodeLimits,
        executor: any WorkExecutor
    ) {
        let buffer = try? FrameBuffer(
            frameSize: style.frameSize, options: DecodeOptions(limits: limits), executor: executor,
            makeDecoder: { (options) throws(WebImageError) in try coder.makeAnimationDecoder(format, options) },
            finish: style.finish)
        // A decoder that cannot be made is one of no animation: the still decoder tells what is wrong.
        guard let buffer else { return nil }
        self.buffer = buffer
    }

    func push(_ chunk: ByteChunk) throws(WebImageError) {
        try chunk.withUnsafeBytes { (bytes) throws(WebImageError) in try buffer.push(bytes) }
    }

    /// Says that no more bytes come.
    func finish() throws(WebImageError) { try buffer.finishBytes() }

    var beginsWithStill: Bool { buffer.beginsWithStill }

    /// The animation of the picture `first`, its first frame unless the file keeps a still beside its frames; nil for
    /// what is a still after all, and before a frame is known.
    func animation(first: Image) -> ImageAnimation? {
        let timeline = buffer.timeline
        guard timeline.delays.count > 1 || !timeline.isComplete && !timeline.delays.isEmpty else { return nil }
        if beginsWithStill { buffer.keep(first, at: 0) }
        return ImageAnimation(buffer)
    }
}

/// What a request makes of a composited frame.
struct FrameStyle: Sendable {
    let plan: ResizePlan
    let converter: ColorConverter?
    let header: ImageHeader
    let request: ImageRequest

    /// Before transformers.
    var frameSize: PixelSize {
        request.appliesOrientation ? header.orientation.displaySize(of: plan.outputStored) : plan.outputStored
    }

    /// - Throws: `limitExceeded`, and `transformFailed` when a transformer does.
    func finish(_ frame: PixelBuffer, _ index: Int) throws(WebImageError) -> Image {
        let alpha: AlphaMode = frame.isOpaque ? .opaque : .straight
        var pixels = frame
        if !plan.isIdentity {
            pixels = try Resampler.resample(
                frame, alpha: alpha, crop: plan.crop, to: plan.outputStored,
                inLinearLight: request.scalesInLinearLight)
        }
        if let converter, converter.layout == pixels.layout { converter.convert(pixels) }
        if request.appliesOrientation, header.orientation != .up {
            pixels = try pixels.oriented(by: header.orientation)
        }
        let isConverted = converter?.layout == pixels.layout
        let colors = isConverted ? (profile: nil, description: nil) : header.colorsOfPixels
        let info = Image.Info(
            header: header, alpha: alpha, orientation: request.appliesOrientation ? .up : header.orientation,
            iccProfile: colors.profile, colorDescription: colors.description)
        return try request.transformed(Image(pixels: pixels, info: info))
    }
}

extension ImageRequest {
    /// What the request's transformers make of a picture.
    ///
    /// - Throws: `transformFailed`.
    func transformed(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        for transformer in transformers {
            do throws(WebImageError) {
                image = try transformer.transform(image)
            } catch {
                throw WebImageError(.transformFailed, "the transformer \(transformer.key) failed", cause: error)
            }
        }
        return image
    }
}
