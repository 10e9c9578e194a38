public import WebImageCore

extension BlurHash {
    /// The most pixels that are drawn: 1 Mi.
    private static let maxPixels = 1 << 20

    /// Draws the placeholder, opaque, with the pixels that the reference implementation draws (woltapp/blurhash,
    /// decode.c).
    ///
    /// Some 32 pixels in each direction are enough: there is no further detail, and the view that shows the picture
    /// should enlarge it smoothly.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - punch: the contrast. 1, the default, is that of the picture, higher values increase it, 0 gives only the
    ///     average colour.
    /// - Throws: `limitExceeded` when a side is not positive or there would be more than 1 Mi pixels, `transformFailed`
    ///   when `punch` is negative or not finite.
    /// - Complexity: the pixels times the components; 32x32 of 4x3 takes less than 0.1 ms. Memory for the result.
    public func image(width: Int, height: Int, punch: Double = 1) throws(WebImageError) -> Image {
        let size = PixelSize(width: width, height: height)
        guard let count = size.pixelCount, count > 0, count <= Self.maxPixels else {
            throw WebImageError(
                .limitExceeded,
                "a placeholder of \(size) is not drawn: it may have 1 to \(Self.maxPixels) pixels, and 32x32 do")
        }
        guard punch >= 0, punch.isFinite else {
            throw WebImageError(.transformFailed, "the contrast of a placeholder cannot be \(punch)")
        }
        let colors = colors(punch: Float(punch))
        let (columns, rows) = (Self.cosines(components.x, width), Self.cosines(components.y, height))
        return try Image(size: size, alpha: .opaque) { bytes in
            for y in 0..<height {
                let row = UnsafeMutableRawBufferPointer(rebasing: bytes[y * width * 4..<(y + 1) * width * 4])
                Self.draw(colors, columns, rows[y], into: row)
            }
        }
    }

    /// The strength of each wave in red, green and blue, the constant one first.
    private func colors(punch: Float) -> [SIMD4<Float>] {
        let maximum = Float(Double(Float(Double(digits[1]) + 1)) / 166) * punch
        let average = number(2..<6)
        let constant = [average >> 16, average >> 8 & 255, average & 255].map { BlurHashRounding.light(of: $0) }
        return [SIMD4(constant[0], constant[1], constant[2], 0)]
            + (1..<components.x * components.y).map { index in
                let wave = number(4 + 2 * index..<6 + 2 * index)
                let steps = [wave / (19 * 19), wave / 19 % 19, wave % 19]
                let strengths = steps.map { BlurHashRounding.wave(ofStep: $0, maximum: maximum) }
                return SIMD4(strengths[0], strengths[1], strengths[2], 0)
            }
    }

    /// The cosines of each position, one for each wave.
    private static func cosines(_ components: Int, _ length: Int) -> [[Double]] {
        (0..<length).map { place in
            (0..<components).map { BlurHashRounding.preciseCosine($0, at: place, of: length) }
        }
    }

    private static func draw(
        _ colors: [SIMD4<Float>], _ columns: [[Double]], _ row: [Double], into bytes: UnsafeMutableRawBufferPointer
    ) {
        for (x, column) in columns.enumerated() {
            var (light, wave) = (SIMD4<Float>.zero, 0)
            for down in row {
                for across in column {
                    light += colors[wave] * Float(across * down)
                    wave += 1
                }
            }
            for channel in 0..<3 { bytes[x * 4 + channel] = UInt8(BlurHashRounding.value(of: light[channel])) }
            bytes[x * 4 + 3] = 255
        }
    }
}
