public import WebImageCore

extension Image {
    /// Returns the picture after applying transforms, one after the other. If it is not upright, its orientation is
    /// applied first. Of an animation the first frame is used.
    ///
    ///     let small = try image.transformed(by: [.crop(.square), .resize(width: 96), .roundCorners(48)])
    ///
    /// - Throws: `transformFailed` for invalid numbers, and the errors of closures; `limitExceeded` for a result over
    ///   the limit, or if there is no memory.
    /// - Complexity: about one pass over the pixels, and memory for the result and a few rows: do not call it on the
    ///   thread of an event loop or a user interface.
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
