public import WebImageCore

extension Image {
    /// The picture with some transforms done to it, one after the other. It is turned upright first, where it is not. Of an
    /// animation the first frame is taken.
    ///
    ///     let small = try image.transformed(by: [.crop(.square), .resize(width: 96), .roundCorners(48)])
    ///
    /// - Throws: `transformFailed` for numbers that make no sense, and what a closure throws; `limitExceeded` for a result
    ///   over the limit, or without memory.
    /// - Complexity: about one pass over the pixels, and memory for the result and a few rows: not for the thread of an event
    ///   loop or a user interface.
    public func transformed(
        by transforms: [ImageTransform], limits: DecodeLimits = .default
    ) throws(WebImageError) -> Image {
        let image = try upright()
        let program = try TransformProgram(
            transforms, size: image.size, isOpaque: image.alpha == .opaque, original: image.info.original,
            limits: limits)
        let result = try program.run(image)
        return result.animation == nil ? result : result.with(animation: nil)
    }
}
