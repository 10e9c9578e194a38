public import WebImageCore

extension Image {
    /// The picture scaled by a plan, made for its size and orientation. Its remaining orientation is not applied.
    ///
    /// - Throws: as ``Resampler/begin(_:)``.
    package func resized(_ plan: ResizePlan, filter: ResampleFilter = .lanczos3) throws(WebImageError) -> Image {
        guard !plan.isIdentity else { return self }
        let pixels = try Resampler.resample(
            self.pixels, alpha: alpha, crop: plan.crop, to: plan.outputStored, filter: filter)
        return Image(pixels: pixels, info: info)
    }

    /// Returns the picture with its ``/WebImageCore/Image/Info-swift.struct/orientation`` applied. If it is already
    /// upright, the same picture is returned; loaded pictures are upright unless
    /// `ImageRequest.decoding.appliesOrientation` was false.
    ///
    /// - Throws: `limitExceeded` when there is no memory for it.
    /// - Complexity: one pass over the pixels, and memory for as many again.
    public func upright() throws(WebImageError) -> Image {
        guard info.orientation != .up else { return self }
        var info = info
        info.orientation = .up
        info.metadata = info.metadata.turned(by: self.info.orientation)
        return Image(pixels: try pixels.oriented(by: self.info.orientation), info: info)
    }

    /// The picture composited over a colour; itself if it is opaque.
    package func flattened(onto color: RGBColor) throws(WebImageError) -> Image {
        guard alpha != .opaque else { return self }
        let flat = try pixels.copied()
        flat.flatten(onto: color, alpha: alpha)
        var info = info
        info.alpha = .opaque
        return Image(pixels: flat, info: info)
    }

    /// The picture with another alpha mode. `.opaque` does not change pixels: it is set only if they are opaque;
    /// otherwise the picture stays unchanged.
    package func with(alpha: AlphaMode) throws(WebImageError) -> Image {
        guard alpha != self.alpha else { return self }
        var info = info
        info.alpha = alpha
        switch (self.alpha, alpha) {
        case (_, .opaque): return pixels.isOpaque ? Image(pixels: pixels, info: info) : self
        case (.straight, .premultiplied), (.premultiplied, .straight):
            let changed = try pixels.copied()
            if alpha == .premultiplied { changed.premultiply() } else { changed.unpremultiply() }
            return Image(pixels: changed, info: info)
        default: return Image(pixels: pixels, info: info)
        }
    }

    /// Makes a converter to sRGB; nil if the colours cannot be converted.
    package typealias MakeConverter =
        @Sendable (_ colors: PixelColors, _ layout: PixelLayout) throws(WebImageError) -> ColorConverter?

    /// Reads profiles with tables on this thread, with lcms2.
    package static let makeConverterHere: MakeConverter = { (colors, layout) throws(WebImageError) in
        ColorConverter(colors: colors, layout: layout)
    }

    /// Reads only profiles with curves and a matrix, for which our own code suffices. Others count as unusable.
    package static let makeSafeConverter: MakeConverter = { (colors, layout) throws(WebImageError) in
        if case .profile(let profile) = colors, ProfileTable.isNeeded(for: profile) { return nil }
        return ColorConverter(colors: colors, layout: layout)
    }

    /// The picture in sRGB, without a profile. If its profile cannot be used, profile and pixels stay unchanged.
    ///
    /// - Throws: `limitExceeded` without memory, and errors of the converter.
    package func inSRGB(by makeConverter: MakeConverter = makeConverterHere) throws(WebImageError) -> Image {
        let colors = info.iccProfile.map { PixelColors.profile($0) } ?? info.colorDescription.map { .described($0) }
        guard let colors, let converter = try makeConverter(colors, layout) else { return self }
        var info = info
        info.iccProfile = nil
        info.colorDescription = nil
        guard !converter.isIdentity else { return Image(pixels: pixels, info: info) }
        let converted = try pixels.copied()
        if alpha == .premultiplied { converted.unpremultiply() }
        converter.convert(converted)
        if alpha == .premultiplied { converted.premultiply() }
        return Image(pixels: converted, info: info)
    }
}
