public import ServerConfiguration
public import ServerGrammar
public import WebImage

/// The processing of a picture as a request to the library: all steps of a URL in imgproxy's order.
public struct PicturePlan: Sendable {
    public var source: String
    private let cookies: String?
    public var options: ProcessingOptions
    private let settings: ServerSettings
    private let watermark: Image?

    public init(_ url: URLGrammar.ParsedURL, _ settings: ServerSettings, watermark: Image? = nil) {
        source = url.source
        cookies = url.cookies
        options = url.options
        self.settings = settings
        self.watermark = watermark
    }

    private var geometry: ImgproxyGeometry {
        var geometry = options.geometry
        geometry.maxResultDimension = options.security.resultDimension ?? settings.limits.resultDimension
        geometry.maxDrawnPixels = Int(sourceResolution * 1_000_000)
        return geometry
    }

    /// The width of the result; nil if it is not known before pixels are decoded.
    ///
    /// - Parameter source: the header of the source's file.
    public func resultWidth(of source: ImageHeader) -> Int? {
        if options.raw || ResultFormat(ofSource: source.format).map(handsOn) == true { return source.displaySize.width }
        guard options.trim == nil, options.autoRotate ?? settings.output.autoRotate else { return nil }
        let size = geometry.rotation % 2 == 0 ? source.displaySize : source.displaySize.transposed
        let output = geometry.layout(for: size, of: source).output
        return (options.format.map { encodeOptions($0).writtenSize(of: output) } ?? output).width
    }

    private var frames: Int { options.security.animationFrames ?? settings.limits.animationFrames }

    /// - Parameters:
    ///   - isStill: whether the result has one frame, even if the source has more.
    ///   - format: the format of the result, if it is certain.
    public func request(
        isStill: Bool, as format: ResultFormat? = nil, timeout: Duration?
    ) throws(RequestRefusal) -> ImageRequest {
        let transforms = try transforms(for: format)
        return try SourceRequest.make(source, cookies: cookies, settings) {
            $0.caching.policy = .protocol
            // Only encoded results are cached, not pixels.
            $0.caching.store = []
            $0.caching.query = []
            $0.timeout = timeout
            $0.decoding.convertsToSRGB = options.stripColorProfile ?? settings.output.stripColorProfile
            $0.decoding.keepsBitDepth = options.preserveHDR ?? settings.output.preserveHDR
            $0.decoding.scalesInLinearLight = settings.output.linearLight
            $0.decoding.firstFrameOnly = isStill || frames == 1
            $0.decoding.frameLimit = frames
            $0.decoding.usesEmbeddedThumbnail = options.enforceThumbnail ?? settings.output.enforcesThumbnail
            $0.decoding.limits = limits
            if let limit = options.security.bodyLimit { $0.http.bodyLimit = limit }
            $0.decoding.ignoresOrientation = !(options.autoRotate ?? settings.output.autoRotate)
            $0.transformers = transforms
        }
    }

    private static let minFrameLimit = ServerSettings().limits.animationFrames

    private var limits: DecodeLimits {
        var limits = DecodeLimits.default
        // A frame of an animation may have a limit of its own, which may be larger: see `checkFrames`.
        limits.pixels = Int(max(sourceResolution, frameResolution) * 1_000_000)
        // A source over the limit was already refused, but the fallback picture may be longer.
        limits.bytes = max(limits.bytes, options.security.bodyLimit ?? settings.limits.bodyLimit)
        limits.animationPixels = max(200_000_000, limits.pixels)
        // Entries of an icon and layers of a still picture count as frames, too, however few frames are wanted.
        limits.frames = max(frames, Self.minFrameLimit)
        limits.time = .seconds(5)
        limits.drawingTime = .seconds(5)
        return limits
    }

    /// Millions of pixels of a source that is no animation.
    private var sourceResolution: Double { options.security.sourceResolution ?? settings.limits.sourceResolution }
    /// Millions of pixels of a frame of an animation; 0: all frames together are limited.
    private var frameResolution: Double {
        options.security.animationFrameResolution ?? settings.limits.animationFrameResolution
    }

    /// Checks the pixels of a source that is no animation, nor a drawing.
    func checkStill(_ source: ImageHeader?, frames: Int) throws(WebImageError) {
        guard let source, !source.isVector, frames == 1 else { return }
        let size = source.size
        guard Double(size.width) * Double(size.height) / 1_000_000 > sourceResolution else { return }
        throw WebImageError(
            .limitExceeded,
            "\(size) is more than the \(sourceResolution) megapixels allowed"
                + LimitNames.advice(
                    options.security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION"))
    }

    /// - Parameter image: the picture; if it is an animation, its frames may be too large or too many, before or after the
    ///   steps.
    /// - Throws: `limitExceeded`.
    func checkFrames(of image: Image) throws(WebImageError) {
        guard let count = image.animation?.frameCount, count > 1 else { return }
        let size = image.info.originalSize ?? image.size
        let megapixels = Double(size.width) * Double(size.height) / 1_000_000
        let frame = frameResolution
        let all = options.security.sourceResolution ?? settings.limits.animationResolution
        let enlarged = Double(image.displaySize.pixelCount ?? .max) / 1_000_000 * Double(count)
        if enlarged > max(all, megapixels * Double(count)) {
            throw WebImageError(
                .limitExceeded,
                "\(count) frames of \(image.displaySize) in the result are more than the \(all) megapixels allowed"
                    + LimitNames.advice(
                        options.security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION"))
        }
        if frame > 0 ? megapixels > frame : megapixels * Double(count) > all {
            throw WebImageError(
                .limitExceeded,
                frame > 0
                    ? "a frame of \(size) is more than the \(frame) megapixels allowed"
                        + LimitNames.advice(
                            options.security.animationFrameResolution, "max_animation_frame_resolution",
                            "IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION")
                    : "\(count) frames of \(size) are more than the \(all) megapixels allowed"
                        + LimitNames.advice(
                            options.security.sourceResolution, "max_src_resolution", "IMGPROXY_MAX_SRC_RESOLUTION"))
        }
    }

    /// The steps, in imgproxy's order.
    ///
    /// - Parameter format: the format of the result, if it is certain.
    func transforms(for format: ResultFormat?) throws(RequestRefusal) -> [ImageTransform] {
        let geometry = geometry
        var steps: [ImageTransform] = []
        if let trim = options.trim {
            steps.append(
                .trim(
                    threshold: min(trim.threshold, 255), color: trim.color, equalHorizontally: trim.equalHorizontally,
                    equalVertically: trim.equalVertically, asImgproxy: true))
        }
        steps.append(.imgproxy(geometry))
        if options.blur > 0 { steps.append(.blur(sigma: min(options.blur, 1000), cut: 0.2)) }
        // libvips limits sigma to 10.
        if options.sharpen > 0 { steps.append(.sharpenLightness(sigma: min(max(options.sharpen, 0.01), 10))) }
        if options.pixelate > 1 { steps.append(.pixelate(min(options.pixelate, 1 << 20))) }
        if geometry.extend || geometry.extendAspectRatio || geometry.padding != EdgeLengths() {
            steps.append(.imgproxyCanvas(geometry))
        }
        if let color = options.background {
            steps.append(.background(RGBAColor(red: color.red, green: color.green, blue: color.blue)))
        }
        let mark = options.watermark
        // If no watermark is configured, none is drawn, as in imgproxy.
        if mark.opacity > 0, let watermark {
            // The picture is first reduced to a size that the format can hold.
            if let side = format?.longestSide { steps.append(.resize(width: side, height: side, filter: .libvips)) }
            steps.append(
                .imgproxyWatermark(
                    watermark, at: mark.place, scale: mark.scale, opacity: mark.opacity * settings.watermarkOpacity,
                    tiles: mark.tiles, behind: geometry))
        }
        return steps
    }

    /// Whether an SVG is served as it is: if no other format is requested.
    var handsOnDrawings: Bool {
        options.format == .svg
            || options.format == nil && (!settings.output.rasterizesSVG || skips(.svg, settings.output.skipProcessing))
    }

    /// Whether a source of a format is served as it is, except for the scripts of an SVG.
    func handsOn(_ format: ResultFormat) -> Bool {
        format == .svg && handsOnDrawings || skips(format, settings.output.skipProcessing)
    }

    /// Whether URL and settings allow serving the source as it is.
    func mayHandOn(_ skipped: Set<ResultFormat>) -> Bool {
        let path = source.prefix { $0 != "?" && $0 != "#" }
        return !skipped.union(options.skipProcessing).isEmpty || options.format == .svg
            || handsOnDrawings && path.lowercased().hasSuffix(".svg")
    }

    /// Whether a picture of a format is left as it is: if the URL requests no other format, whatever the client
    /// prefers.
    ///
    /// - Parameter skipped: the formats that the settings name.
    func skips(_ format: ResultFormat, _ skipped: Set<ResultFormat>) -> Bool {
        (options.format == nil || options.format == format)
            && (skipped.contains(format) || options.skipProcessing.contains(format))
    }

    /// Whether the result is expected to have transparent parts when the format is chosen. Extending to an aspect ratio
    /// does not count.
    ///
    /// - Parameter hasAlpha: whether the source has transparency.
    func expectsAlpha(_ hasAlpha: Bool) -> Bool {
        options.background == nil && (hasAlpha || geometry.extend || geometry.padding != EdgeLengths())
    }

    /// The quality for a format; nil if the format has none.
    func quality(_ format: ResultFormat) -> Int? {
        guard format.hasQuality, format != .tiff else { return nil }
        if options.quality > 0 { return options.quality }
        if let quality = options.formatQuality[format], quality > 0 { return quality }
        return settings.output.formatQuality[format] ?? settings.output.quality
    }

    /// - Parameter paletteBits: of the source, see `ImageHeader.paletteBits`. A PNG gets a palette of the same size, as
    ///   in imgproxy.
    func encodeOptions(_ format: ResultFormat, paletteBits: Int? = nil) -> EncodeOptions {
        var encoding = EncodeOptions(quality: quality(format))
        encoding.progressive =
            settings.output.progressiveJPEG && format == .jpeg || settings.output.interlacedPNG && format == .png
        encoding.paletteColors = settings.output.pngColors ?? paletteBits.map { $0 > 4 ? 256 : $0 > 2 ? 16 : 1 << $0 }
        encoding.webpEffort = settings.output.webpEffort
        encoding.webpContent = settings.output.webpContent
        encoding.jxlEffort = settings.output.jxlEffort
        encoding.avifSpeed = settings.output.avifSpeed
        encoding.background = options.background ?? .white
        encoding.embedsICCProfile = !(options.stripColorProfile ?? settings.output.stripColorProfile)
        encoding.keepsMetadata = !stripsMetadata || keepsCopyright
        encoding.firstFrameOnly = !format.holdsAnimation
        if let side = format.longestSide { encoding.maxPixelSize = PixelSize(width: side, height: side) }
        return encoding
    }

    private var stripsMetadata: Bool { options.stripMetadata ?? settings.output.stripMetadata }
    private var keepsCopyright: Bool { options.keepCopyright ?? settings.output.keepCopyright }

    /// The picture with the metadata that is to be kept.
    func withKeptMetadata(_ image: Image, as format: ResultFormat) -> Image {
        guard stripsMetadata else { return tagged(image, as: format) ?? image }
        guard keepsCopyright else { return image }
        return image.info.metadata.isEmpty ? image : image.replacingMetadata(image.info.metadata.copyrightOnly)
    }

    /// The picture with the orientation tag of its source, which was not applied; nil if the result gets no tag. As in
    /// imgproxy, turning the picture removes the tag, and so does a format whose readers ignore it.
    private func tagged(_ image: Image, as format: ResultFormat) -> Image? {
        let isTurned = geometry.rotation % 4 != 0 || geometry.flipsHorizontally || geometry.flipsVertically
        let isAnimated = (image.animation?.frameCount ?? 1) > 1
        guard !isTurned, !isAnimated, [.jpeg, .png, .webp, .tiff].contains(format) else { return nil }
        return image.info.header?.ignoredOrientation.map { image.treated(as: $0) }
    }
}
