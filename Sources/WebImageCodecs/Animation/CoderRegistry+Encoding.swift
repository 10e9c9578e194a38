public import WebImageCore
import WebImageProcessing

extension CoderRegistry {
    /// Encodes a picture in a format: all frames of an animation if format and coder support them, else the first.
    ///
    /// Animations are written upright unless their format stores an orientation, and with 8 bits a channel unless their
    /// format stores more; high dynamic range becomes sRGB if the format cannot store it.
    ///
    /// - Throws: `cannotEncode`, also if the encoding must be lossless and an animation has too many bits, or a picture of
    ///   a high dynamic range would become sRGB;
    ///   `formatNotBuilt`, and errors of decoding the frames.
    /// - Complexity: memory for a few frames, and for the file.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions()
    ) throws(WebImageError) -> [UInt8] {
        let coder = try encoder(for: format, options)
        let format = written(format)
        let size = options.writtenSize(of: image.displaySize)
        if let animation = image.animation, animation.frameCount > 1, !options.firstFrameOnly {
            let isTold = format.has(.orientedFrames)
            let orientation = isTold ? image.info.orientation : .up
            func description(of shown: PixelSize) -> AnimationDescription {
                AnimationDescription(size: orientation.storedSize(of: shown), loopCount: animation.loopCount)
            }
            if var encoder = try coder.makeAnimationEncoder(format, description(of: size), options) {
                guard options.maxFileSize == nil else {
                    throw WebImageError(.cannotEncode, "only stills are made to fit a file size", format: format)
                }
                try options.checkDepth(ofFrames: image, format)
                var (whole, written, isFirst) = (image.displaySize, size, true)
                try animation.forEachFrame { (frame, delay) throws(WebImageError) in
                    try options.context.checkpoint?()
                    // A still that is not one of the frames may have been trimmed to another size.
                    if isFirst, frame.displaySize != whole {
                        (whole, written) = (frame.displaySize, options.writtenSize(of: frame.displaySize))
                        encoder =
                            try coder.makeAnimationEncoder(format, description(of: written), options) ?? encoder
                    }
                    isFirst = false
                    // The encoder refuses a frame with a size other than the first's.
                    let shown = frame.displaySize == whole ? written : frame.displaySize
                    let made = try frame.made(shown, for: format, options, converter)
                    try encoder.add(isTold ? made : try made.upright(), delay: delay)
                }
                return try encoder.finish()
            }
            try Self.refuseLoss(of: animation.frameCount, "frames", format, options)
        }
        let still = try image.made(size, for: format, options, converter)
        let bytes = try coder.encode(still, as: format, options)
        guard let limit = options.maxFileSize, bytes.count > limit.bytes else { return bytes }
        return try encode(still, as: format, options, with: coder, within: limit)
    }

    /// Whether several pictures can be the pages of one file.
    package func writesPages(_ format: ImageFormat) -> Bool {
        (try? encoder(for: format).makePageEncoder(format, EncodeOptions())) != nil
    }

    /// Whether files of a format hold one frame of an animation. False for formats that cannot be written.
    package func writesOnlyStills(_ format: ImageFormat) -> Bool {
        let animation = AnimationDescription(size: PixelSize(width: 1, height: 1), loopCount: nil)
        guard let coder = try? encoder(for: format) else { return false }
        return (try? coder.makeAnimationEncoder(format, animation, EncodeOptions())) == nil
    }

    /// Makes an encoder for pages, which converts each page as ``encode(_:as:_:)`` converts a still.
    ///
    /// - Throws: `cannotEncode` for a format without pages, `formatNotBuilt`.
    package func pageEncoder(
        for format: ImageFormat, _ options: EncodeOptions = EncodeOptions()
    ) throws(WebImageError) -> any PageEncoder {
        guard options.maxFileSize == nil else {
            throw WebImageError(.cannotEncode, "only stills are made to fit a file size", format: format)
        }
        guard let encoder = try encoder(for: format, options).makePageEncoder(format, options) else {
            throw WebImageError(.cannotEncode, "a \(format.rawValue) has no pages", format: format)
        }
        return FittingPageEncoder(encoder, format, options, converter)
    }

    /// Refuses to write a single frame or page of several if the encoding must be lossless.
    ///
    /// - Throws: `cannotEncode`.
    package static func refuseLoss(
        of count: Int, _ parts: String, _ format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) {
        guard options.isLossless, !options.firstFrameOnly, count > 1 else { return }
        let others = parts == "frames" ? "WebP, APNG or JPEG XL" : "TIFF"
        throw WebImageError(
            .cannotEncode,
            "\(format.rawValue) holds one of the \(count) \(parts): ask for the first alone, or for \(others)",
            format: format)
    }

    /// Finds the best quality with a file that is short enough, by bisection: at most seven encodes.
    private func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions, with coder: any ImageCoder,
        within limit: ByteCount
    ) throws(WebImageError) -> [UInt8] {
        var (best, low, high) = ([UInt8](), 1, min(max(options.quality ?? 80, 1), 100) - 1)
        while format.has(.quality), !options.isLossless, low <= high {
            try options.context.checkpoint?()
            var tried = options
            tried.quality = (low + high) / 2
            let bytes = try coder.encode(image, as: format, tried)
            if bytes.count <= limit.bytes {
                best = bytes
                low = (low + high) / 2 + 1
            } else {
                high = (low + high) / 2 - 1
            }
        }
        guard !best.isEmpty else {
            throw WebImageError(
                .cannotEncode, "the picture cannot be a \(format.rawValue) of at most \(limit)", format: format)
        }
        return best
    }
}

/// Converts each page to the size and colours of the file.
private final class FittingPageEncoder: PageEncoder {
    private let encoder: any PageEncoder
    private let format: ImageFormat
    private let options: EncodeOptions
    private let converter: Image.MakeConverter

    init(
        _ encoder: any PageEncoder, _ format: ImageFormat, _ options: EncodeOptions,
        _ converter: @escaping Image.MakeConverter
    ) {
        self.encoder = encoder
        self.format = format
        self.options = options
        self.converter = converter
    }

    func add(_ page: Image) throws(WebImageError) {
        try encoder.add(try page.made(options.writtenSize(of: page.displaySize), for: format, options, converter))
    }

    func finish() throws(WebImageError) -> [UInt8] { try encoder.finish() }
}

extension EncodeOptions {
    /// The display size of the file of a picture with the display size `size`; see ``maxPixelSize``.
    public func writtenSize(of size: PixelSize) -> PixelSize {
        guard let most = maxPixelSize else { return size }
        return ResizePlan(stored: size, orientation: .up, target: TargetSize(most)).outputStored
    }
}

extension Image {
    /// The picture in an exact display size, in colours that the format can describe; for lossless encoding, in those
    /// of its profile.
    fileprivate func made(
        _ size: PixelSize, for format: ImageFormat, _ options: EncodeOptions, _ converter: MakeConverter
    ) throws(WebImageError) -> Image {
        let sized = try resized(to: TargetSize(size, fit: .fill, upscale: true))
        let isTold =
            info.iccProfile != nil
            ? options.isLossless || !format.has(.noProfile) && options.embedsICCProfile
            : info.colorDescription?.isHighDynamicRange != true || format.has(.dynamicRange) && options.embedsICCProfile
        if isTold { return sized }
        guard !options.isLossless || info.iccProfile != nil else {
            throw WebImageError(
                .cannotEncode,
                format.has(.dynamicRange)
                    ? "without a description of its colours, a picture of a high dynamic range is not kept"
                    : "\(format.rawValue) does not describe colours of a high dynamic range", format: format)
        }
        return try sized.inSRGB(by: converter)
    }
}
