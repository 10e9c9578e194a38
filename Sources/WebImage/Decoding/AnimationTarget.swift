import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageProcessing
import WebImageSystem

/// The frames of a picture that is being decoded and may turn out to be an animation.
final class AnimationTarget: Sendable {
    private let buffer: FrameBuffer
    private let style: FrameStyle

    /// Nil for formats and coders without animations.
    init?(
        _ coder: any ImageCoder, _ format: ImageFormat, _ style: FrameStyle, limits: DecodeLimits,
        executor: any WorkExecutor
    ) {
        let buffer = try? FrameBuffer(
            frameSize: style.frameSize, frameLayout: style.keptLayout,
            frameLimit: style.recipe.decoding.frameLimit.map { max($0, 1) },
            options: DecodeOptions(limits: limits, keepsBitDepth: style.layout == .rgba16), executor: executor,
            makeDecoder: { (options) throws(WebImageError) in try coder.makeAnimationDecoder(format, options) },
            needsFirst: { style.needsFirst }, finish: style.finish)
        // If the animation decoder cannot be made, the decoder for stills reports the error.
        guard let buffer else { return nil }
        self.buffer = buffer
        self.style = style
    }

    /// A load may be given up while it waits for memory. Players of the frames so far must not wait for more.
    deinit { buffer.endBytes() }

    /// Sets the header that the decoder has at the end, with metadata that follows the frames. Frames have it from now
    /// on.
    func learn(_ header: ImageHeader) { style.header.set(header) }

    func push(_ chunk: ByteChunk) throws(WebImageError) {
        if let file = chunk.wholeArray { return try buffer.push(file: file) }
        try chunk.withUnsafeBytes { (bytes) throws(WebImageError) in try buffer.push(bytes) }
    }

    /// Ends the input.
    func finish() throws(WebImageError) { try buffer.finishBytes() }

    /// Notes that the input has failed, so that players of the frames so far do not wait for more.
    func end() { buffer.endBytes() }

    var beginsWithStill: Bool { buffer.beginsWithStill }

    /// The first frame, if the file has a still in addition to its frames; otherwise nil. It is decoded on this thread.
    func firstFrameBesideStill() throws(WebImageError) -> Image? { try buffer.firstFrameBesideStill() }

    /// Whether the picture is an animation, or may still turn out to be one.
    var isAnimation: Bool {
        let timeline = buffer.timeline
        return timeline.delays.count > 1 || !timeline.isComplete && !timeline.delays.isEmpty
    }

    /// The animation that begins with the picture `first`, which is its first frame unless the file has a still in
    /// addition to its frames. Nil if the picture turns out to be a still, or if no frame is known yet.
    func animation(first: Image) -> ImageAnimation? {
        guard isAnimation else { return nil }
        // The picture that has this animation keeps the same pixels.
        if beginsWithStill { buffer.keep(first, at: 0, isShared: true) }
        return ImageAnimation(buffer)
    }
}

/// How a recipe finishes a composited frame.
struct FrameStyle: Sendable {
    /// The part and size of frames. Its orientation is that of the picture, even if it comes late in the file.
    let plan: ResizePlan
    /// The layout in which frames are scaled and converted. It is that of the picture's rows.
    let layout: PixelLayout
    let converter: ColorConverter?
    let header: LatestHeader
    let recipe: PictureRecipe
    private let steps: StepPrograms

    init(
        plan: ResizePlan, layout: PixelLayout, converter: ColorConverter?, header: LatestHeader, recipe: PictureRecipe
    ) {
        self.plan = plan
        self.layout = layout
        self.converter = converter
        self.header = header
        self.recipe = recipe
        steps = recipe.stepPrograms
    }

    /// The size of finished frames. If a custom transformer decides the size, this is the size before the transformers.
    var frameSize: PixelSize {
        let decoded = recipe.turnsUpright ? plan.outputDisplay : plan.outputStored
        return steps.size(of: decoded, original: OriginalPicture(header.value)) ?? decoded
    }

    /// The layout of finished frames. If only the conversion of colours needed 16 bits a channel, it has 8.
    var keptLayout: PixelLayout { recipe.decoding.keepsBitDepth ? layout : .rgba8 }

    /// Whether the first frame must be finished before the others.
    var needsFirst: Bool { steps.needsFirst }

    /// - Throws: `limitExceeded`; `transformFailed` if a transformer fails.
    func finish(_ frame: PixelBuffer, _ index: Int) throws(WebImageError) -> Image {
        let alpha: AlphaMode = frame.isOpaque ? .opaque : .straight
        // The frames of some formats always have 8 bits.
        var pixels = try frame.inLayout(layout)
        if !plan.isIdentity {
            pixels = try Resampler.resample(
                pixels, alpha: alpha, crop: plan.crop, to: plan.outputStored, filter: plan.filter,
                inLinearLight: recipe.decoding.scalesInLinearLight, within: plan.bounds)
        }
        converter?.convert(pixels)
        pixels = try pixels.inLayout(keptLayout)
        let orientation = plan.orientation
        let turns = recipe.turnsUpright && orientation != .up
        if turns { pixels = try pixels.oriented(by: orientation) }
        let header = self.header.value
        let colors = converter != nil ? (profile: nil, description: nil) : header.colorsOfPixels
        let info = Image.Info(
            header: header, alpha: alpha, orientation: recipe.turnsUpright ? .up : orientation,
            iccProfile: colors.profile, colorDescription: colors.description,
            metadata: turns ? header.metadata.turned(by: orientation) : nil)
        return try steps.run(Image(pixels: pixels, info: info))
    }
}

/// The newest header of a file, for frames that outlive its decode. Any thread may use it.
final class LatestHeader: Sendable {
    private let header: Guarded<ImageHeader>

    init(_ header: ImageHeader) { self.header = Guarded(header) }

    var value: ImageHeader { header.withLock { $0 } }

    func set(_ header: ImageHeader) { self.header.withLock { $0 = header } }
}
