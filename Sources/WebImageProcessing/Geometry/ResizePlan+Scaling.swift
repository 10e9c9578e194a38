package import WebImageCore

extension ResizePlan {
    /// The least factor by which both sides of a picture that its decoder scales down must exceed those of the result.
    ///
    /// Measured on the corpus's photographs as the PSNR against a full decode, with both reduced by Lanczos: with 2 the
    /// worst is 46 dB, with 2.5 it is 48.5 dB, with 3 every picture has 50 dB and most have 52 to 60. For a photograph
    /// of 12 megapixels that libwebp scales down, 3 gives 58.2 dB. 1.5 gives 51.6 dB and saves a twentieth of the time.
    package static let qualityMargin = 3.0

    /// The largest of `allowed` by which a decoder may divide the picture's sides so that the part that is used is
    /// still at least `margin` times the result; 1 when none is. Allowed values need no order; those below 1 are
    /// ignored.
    package func scaleDenominator(
        from allowed: [Int], margin: (_ denominator: Int) -> Double = { _ in ResizePlan.qualityMargin }
    ) -> Int {
        let room = min(crop.width / Double(outputStored.width), crop.height / Double(outputStored.height))
        return allowed.filter { $0 > 1 && Double($0) * margin($0) <= room }.max() ?? 1
    }

    /// The used part, in coordinates of the picture divided by `denominator`.
    ///
    /// A divided side is rounded up to whole pixels, but the picture spans only `side / denominator` of them: the last
    /// pixel is partly beyond its edge.
    package func crop(dividedBy denominator: Int) -> PixelRect {
        let divisor = Double(max(denominator, 1))
        return PixelRect(
            x: crop.x / divisor, y: crop.y / divisor, width: crop.width / divisor, height: crop.height / divisor)
    }

    /// The smallest of several sizes of the same picture that need not be enlarged; nil if none is large enough.
    package func source(among sizes: [PixelSize]) -> PixelSize? {
        let fitting = sizes.filter { size in
            let plan = ResizePlan(self, from: size)
            return plan.crop.width >= Double(outputStored.width) && plan.crop.height >= Double(outputStored.height)
        }
        return fitting.min { ($0.pixelCount ?? .max) < ($1.pixelCount ?? .max) }
    }
}
