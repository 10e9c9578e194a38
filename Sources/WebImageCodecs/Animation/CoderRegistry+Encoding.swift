package import WebImageCore

extension CoderRegistry {
    /// A picture's bytes in a format: all frames of an animation where format and coder hold such, else the first.
    ///
    /// - Throws: `cannotEncode`, `formatNotBuilt`, and what decoding the frames throws.
    /// - Complexity: memory for a few frames, and for the file.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions()
    ) throws(WebImageError) -> [UInt8] {
        let coder = try encoder(for: format)
        guard let animation = image.animation, animation.frameCount > 1, !options.firstFrameOnly else {
            return try coder.encode(image, as: format, options)
        }
        let description = AnimationDescription(size: animation.size, loopCount: animation.loopCount)
        guard let encoder = try coder.makeAnimationEncoder(format, description, options) else {
            return try coder.encode(image, as: format, options)
        }
        try animation.forEachFrame { (frame, delay) throws(WebImageError) in try encoder.add(frame, delay: delay) }
        return try encoder.finish()
    }
}
