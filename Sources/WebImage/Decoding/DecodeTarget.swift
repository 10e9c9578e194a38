import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// One picture that is being decoded: receives the decoder's rows and turns them into the picture that its recipe
/// describes.
final class DecodeTarget {
    /// Keeps the rows as they are, or scales them.
    private enum Rows {
        case whole(PixelBufferSink)
        case scaled(Resampler)
    }

    let recipe: PictureRecipe
    private let plan: ResizePlan
    private let scaleDenominator: Int
    /// The header of the decoder's plan; at the end the decoder may know more.
    private var header: ImageHeader
    private let converter: ColorConverter?
    private let rows: Rows
    let sink: any RowSink
    /// The frames of a possible animation; nil for stills.
    private(set) var frames: AnimationTarget?
    private(set) var hasShownFirstFrame = false

    init(
        _ recipe: PictureRecipe, plan: ResizePlan, scaleDenominator: Int, header: ImageHeader,
        converter: ColorConverter?
    ) {
        self.recipe = recipe
        self.plan = plan
        self.scaleDenominator = scaleDenominator
        self.header = header
        self.converter = converter
        if plan.isIdentity {
            let whole = PixelBufferSink()
            rows = .whole(whole)
            // Colours are converted row by row, so that the conversion overlaps the transfer like the decode.
            if let converter { sink = ConvertingSink(whole, converter) } else { sink = whole }
        } else {
            let scaled = Resampler(
                plan, scaleDenominator: scaleDenominator, inLinearLight: recipe.decoding.scalesInLinearLight)
            rows = .scaled(scaled)
            sink = scaled
        }
    }

    /// Starts decoding the other frames, if the file may have some and they are wanted.
    ///
    /// - Parameter layout: the layout of this picture's rows, which is also the one that ``converter`` converts.
    func beginAnimation(_ coder: any ImageCoder, _ layout: PixelLayout, by service: DecodeService) {
        // An APNG of one frame may have a separate default image, for programs that do not support animations.
        let isAnimation = header.mayBeAnimated
        guard isAnimation || header.format == .apng, !recipe.decoding.firstFrameOnly else { return }
        var recipe = recipe
        // Its single frame becomes a still, to which the steps are applied after decoding.
        if !isAnimation { recipe.transformers.removeSubrange(recipe.decodedSteps...) }
        let style = FrameStyle(
            plan: plan, layout: layout, converter: converter, header: LatestHeader(header), recipe: recipe)
        frames = AnimationTarget(
            coder, header.format, style, limits: recipe.decoding.limits, executor: service.executor)
    }

    /// Whether any row of the result is available.
    var hasRows: Bool {
        switch rows {
        case .whole(let sink): sink.rowsDone > 0
        case .scaled(let resampler): resampler.rowsDone > 0
        }
    }

    /// Returns the picture; missing rows are transparent.
    func image(isPartial: Bool, finalHeader: ImageHeader?) throws(WebImageError) -> Image {
        if let finalHeader {
            header = recipe.reading(finalHeader)
            frames?.learn(header)
        }
        if header.frameCount == 1, !isPartial, let frame = try frames?.firstFrameBesideStill() { return frame }
        let (buffer, format) = try made()
        if isPartial { clearMissingRows() }
        if case .scaled = rows { convert(buffer) }
        return try finished(buffer, format.alpha, isPartial: isPartial)
    }

    /// Returns the first frame of a possible animation once, when all its rows are available; the animation keeps
    /// growing.
    ///
    /// - Parameter checkpoint: called between rows of the recipe's steps; its error means that there is no picture.
    func takeFirstFrame(_ checkpoint: @escaping TransformProgram.Checkpoint) -> Image? {
        guard let frames, header.frameCount != 1, !hasShownFirstFrame, let (buffer, format) = try? made(),
            rowsDone == buffer.size.height
        else { return nil }
        hasShownFirstFrame = true
        guard let copy = copy(buffer, rows: rowsDone) else { return nil }
        if case .scaled = rows { convert(copy) }
        guard
            let image = try? finished(copy, format.alpha, isPartial: false),
            let whole = try? recipe.transformed(firstFrame: image, checkpoint: checkpoint)
        else { return nil }
        return whole.with(animation: frames.animation(first: whole))
    }

    /// Returns a copy of the available rows, for a preview, without the steps of the chain.
    func partialImage() -> Image? {
        guard hasRows, let (buffer, _) = try? made(), let copy = copy(buffer, rows: rowsDone) else { return nil }
        if case .scaled = rows { convert(copy) }
        return try? finished(copy, .straight, isPartial: true)
    }

    /// Returns a preview from the decoder's current rendering of the whole picture, at its scale, without the steps of the
    /// chain.
    func preview(of pixels: PixelBuffer) -> Image? {
        let alpha: AlphaMode = header.hasAlpha ? .straight : .opaque
        let sized: PixelBuffer? =
            if plan.isIdentity {
                // Several targets get the same pixels, so that each must change only its own copy.
                converter == nil ? pixels : copy(pixels, rows: pixels.size.height)
            } else {
                try? Resampler.resample(
                    pixels, alpha: alpha, crop: plan.crop(dividedBy: scaleDenominator), to: plan.outputStored,
                    filter: plan.filter, inLinearLight: recipe.decoding.scalesInLinearLight)
            }
        guard let sized else { return nil }
        convert(sized)
        return try? finished(sized, alpha, isPartial: true)
    }

    /// A copy of the first rows; the others are transparent.
    private func copy(_ buffer: PixelBuffer, rows: Int) -> PixelBuffer? {
        guard let copy = try? PixelBuffer(size: buffer.size, layout: buffer.layout) else { return nil }
        let done = rows * buffer.bytesPerRow
        copy.base.copyMemory(from: buffer.base, byteCount: done)
        (copy.base + done).initializeMemory(as: UInt8.self, repeating: 0, count: copy.byteCount.bytes - done)
        return copy
    }

    /// If a coder gives rows of another depth than its header announced, the colours are not converted.
    private func convert(_ pixels: PixelBuffer) {
        if let converter, converter.layout == pixels.layout { converter.convert(pixels) }
    }

    private var rowsDone: Int {
        switch rows {
        case .whole(let sink): sink.rowsDone
        case .scaled(let resampler): resampler.rowsDone
        }
    }

    private func made() throws(WebImageError) -> (PixelBuffer, RowFormat) {
        let made: (PixelBuffer?, RowFormat?) =
            switch rows {
            case .whole(let sink): (sink.buffer, sink.format)
            case .scaled(let resampler): (resampler.buffer, resampler.format)
            }
        guard let buffer = made.0, let format = made.1 else {
            throw WebImageError(.corruptData, "the picture has a header but no pixels", format: header.format)
        }
        return (buffer, format)
    }

    private func clearMissingRows() {
        switch rows {
        case .whole(let sink): sink.clearMissingRows()
        case .scaled(let resampler): resampler.clearMissingRows()
        }
    }

    private func finished(
        _ buffer: PixelBuffer, _ alpha: AlphaMode, isPartial: Bool
    ) throws(WebImageError) -> Image {
        let orientation = plan.orientation
        let applies = recipe.turnsUpright && orientation != .up
        // 16 bits that were needed only for the conversion of colours are reduced to 8.
        let kept = recipe.decoding.keepsBitDepth ? buffer : try buffer.narrowed()
        let upright = applies ? try kept.oriented(by: orientation) : kept
        let isConverted = converter?.layout == buffer.layout
        let colors = isConverted ? (profile: nil, description: nil) : header.colorsOfPixels
        let info = Image.Info(
            header: header, alpha: isPartial && rowsDone < buffer.size.height ? .straight : alpha,
            orientation: recipe.turnsUpright ? .up : orientation,
            iccProfile: colors.profile, colorDescription: colors.description,
            metadata: applies ? header.metadata.turned(by: orientation) : nil, isPartial: isPartial)
        return Image(pixels: upright, info: info)
    }
}

/// Converts rows to sRGB as they arrive, in the memory of the next sink.
private final class ConvertingSink: RowSink {
    private let sink: PixelBufferSink
    private let converter: ColorConverter

    init(_ sink: PixelBufferSink, _ converter: ColorConverter) {
        self.sink = sink
        self.converter = converter
    }

    func begin(_ format: RowFormat) throws(WebImageError) { try sink.begin(format) }

    func band(at row: Int, count: Int) -> UnsafeMutableRawPointer { sink.band(at: row, count: count) }

    func commit(at row: Int, count: Int) throws(WebImageError) {
        if let buffer = sink.buffer, buffer.layout == converter.layout {
            converter.convert(buffer, rows: row..<row + count)
        }
        sink.commit(at: row, count: count)
    }

    var wholePicture: UnsafeMutableRawPointer? { sink.wholePicture }
}
