public import WebImageCore

extension Image {
    /// The picture scaled to a plan, made for its size and orientation. What it still has to be turned stays to be done.
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

    /// The picture over a colour; the same one when it is opaque.
    package func flattened(onto color: RGBColor) throws(WebImageError) -> Image {
        guard alpha != .opaque else { return self }
        let flat = try pixels.copied()
        flat.flatten(onto: color, alpha: alpha)
        var info = info
        info.alpha = .opaque
        return Image(pixels: flat, info: info)
    }

    /// The picture with its alpha meaning `alpha`. To become `.opaque` is a claim about the pixels, not a change to them:
    /// it is made only for pixels that are, and else the picture stays as it is.
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

    /// The picture in sRGB, without a profile. One that cannot be used is left in place, and the pixels as they are.
    ///
    /// - Throws: `limitExceeded` when there can be no such memory.
    package func inSRGB() throws(WebImageError) -> Image {
        let colors = info.iccProfile.map { PixelColors.profile($0) } ?? info.colorDescription.map { .described($0) }
        guard let colors, let converter = ColorConverter(colors: colors, layout: layout) else { return self }
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
