public import WebImageCore

// Shapes of existing pictures. Each call makes a new picture on the caller's thread. For pictures that are loaded,
// requesting their size (`ImageRequest.size`) costs less time and memory. Of an animation, the first frame is used.
extension Image {
    /// Returns the picture scaled to a size as shown, with the Lanczos filter with three lobes that loads also use.
    /// Metadata is kept; a picture that already has the size is not copied.
    ///
    ///     let small = try image.resized(to: TargetSize(width: 400, height: 300, fit: .cover))
    ///
    /// - Throws: `limitExceeded` for a result over ``/WebImageCore/DecodeLimits/pixels`` of the default limits (128
    ///   Mi).
    /// - Complexity: a pass over all pixels, and memory for the result and a few rows: do not call it on the thread of
    ///   an event loop or a user interface.
    public func resized(to target: TargetSize) throws(WebImageError) -> Image {
        let plan = ResizePlan(stored: size, orientation: info.orientation, target: target)
        guard !plan.isIdentity else { return still }
        try DecodeLimits.default.check(plan.outputStored)
        return try resized(plan)
    }

    /// Returns a part of the picture, in coordinates of the picture as shown, rounded to whole pixels. Anything outside
    /// of the picture is cut off.
    ///
    /// - Throws: `transformFailed` if the part is completely outside of the picture, or a number is not finite.
    /// - Complexity: a copy of the part's pixels.
    public func cropped(to part: PixelRect) throws(WebImageError) -> Image {
        let stored = info.orientation.storedRect(of: part, stored: size)
        let (left, right) = Self.pixels(stored.x, stored.width, most: size.width)
        let (top, bottom) = Self.pixels(stored.y, stored.height, most: size.height)
        let kept = PixelSize(width: right - left, height: bottom - top)
        if kept == size { return still }
        return Image(pixels: try pixels.cropped(x: left, y: top, to: kept), info: info)
    }

    /// Returns the picture with round corners and smooth edges: pixels outside of them become transparent.
    ///
    ///     let avatar = try image.resized(to: TargetSize(width: 96, height: 96, fit: .cover)).rounded(radius: .infinity)
    ///
    /// - Parameter radius: in pixels; at most half of the shorter side counts, so that `.infinity` makes a circle of a
    ///   square. Nothing is done when it is not positive.
    /// - Throws: `limitExceeded` when there is no memory for it.
    /// - Complexity: a copy of the pixels, and some nanoseconds for each pixel of the corners.
    public func rounded(radius: Double) throws(WebImageError) -> Image {
        let radius = min(radius, Double(min(size.width, size.height)) / 2)
        guard radius > 0 else { return still }
        let rounded = try pixels.copied()
        rounded.roundCorners(radius: radius, isPremultiplied: alpha == .premultiplied)
        var info = info
        if info.alpha == .opaque { info.alpha = .straight }
        return Image(pixels: rounded, info: info)
    }

    private var still: Image { animation == nil ? self : with(animation: nil) }

    /// The nearest whole pixels of a span, within 0 and `most`; empty for values that are not finite.
    private static func pixels(_ start: Double, _ length: Double, most: Int) -> (Int, Int) {
        guard start.isFinite, (start + length).isFinite else { return (0, 0) }
        func edge(_ place: Double) -> Int { Int(min(max(place.rounded(), 0), Double(most))) }
        return (edge(start), max(edge(start), edge(start + length)))
    }
}
