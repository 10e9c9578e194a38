package import WebImageCore
import WebImageProcessing

extension CoderRegistry {
    /// A picture's bytes in a format: all frames of an animation where format and coder hold such, else the first.
    ///
    /// - Throws: `cannotEncode`, `formatNotBuilt`, and what decoding the frames throws.
    /// - Complexity: memory for a few frames, and for the file.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions()
    ) throws(WebImageError) -> [UInt8] {
        let coder = try encoder(for: format, options)
        if let animation = image.animation, animation.frameCount > 1, !options.firstFrameOnly {
            let size = options.fitting(animation.size)
            let description = AnimationDescription(size: size, loopCount: animation.loopCount)
            if let encoder = try coder.makeAnimationEncoder(format, description, options) {
                guard options.maxFileSize == nil else {
                    throw WebImageError(.cannotEncode, "only stills are made to fit a file size", format: format)
                }
                try animation.forEachFrame { (frame, delay) throws(WebImageError) in
                    try encoder.add(try frame.resized(to: TargetSize(size)), delay: delay)
                }
                return try encoder.finish()
            }
        }
        let still = try image.resized(to: TargetSize(options.fitting(image.displaySize)))
        let bytes = try coder.encode(still, as: format, options)
        guard let limit = options.maxFileSize, bytes.count > limit.bytes else { return bytes }
        return try encode(still, as: format, options, with: coder, within: limit)
    }

    /// The best quality whose file is short enough, by halving: at most seven encodes.
    private func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions, with coder: any ImageCoder,
        within limit: ByteCount
    ) throws(WebImageError) -> [UInt8] {
        var (best, low, high) = ([UInt8](), 1, (options.quality ?? 80) - 1)
        while format.hasQuality, !options.isLossless, low <= high {
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

extension EncodeOptions {
    /// The size that a picture shown at `size` is written in.
    fileprivate func fitting(_ size: PixelSize) -> PixelSize {
        guard let most = maxPixelSize else { return size }
        return ResizePlan(stored: size, orientation: .up, target: TargetSize(most)).outputStored
    }
}

extension ImageFormat {
    /// Whether its encoder knows a quality.
    fileprivate var hasQuality: Bool { [.jpeg, .webp, .avif, .heic, .jxl].contains(self) }
}
