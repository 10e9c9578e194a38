import CPixels
import WebImageCore

/// The colours of a picture, grouped to 5 bits a channel. Pixels are weighted by their alpha.
struct ColorBins {
    /// Pixels of nearly one colour.
    struct Bin {
        /// Their mean, 0 to 255 a channel.
        let color: SIMD3<Double>
        let lab: SIMD3<Double>
        /// The number of pixels; a half transparent one counts as half.
        let weight: Double
    }

    /// The bins from black to white; empty for an invisible picture.
    let bins: [Bin]

    /// - Throws: as ``EightBitRows``.
    init(_ image: Image) throws(WebImageError) {
        let width = image.size.width
        var sums = [wi_color_sum](repeating: wi_color_sum(), count: 1 << 15)
        try EightBitRows(image, .straight).forEach { _, row in wi_count_colors(&sums, row, width) }
        bins = sums.lazy.filter { $0.alpha > 0 }.map { sum in
            let color = SIMD3(Double(sum.red), Double(sum.green), Double(sum.blue)) / Double(sum.alpha)
            return Bin(color: color, lab: OklabColor.lab(of: color), weight: Double(sum.alpha) / 255)
        }
    }

    /// The mean of some bins.
    static func mean(of bins: some Sequence<Bin>) -> RGBColor? {
        var (sum, weight) = (SIMD3<Double>.zero, 0.0)
        for bin in bins {
            sum += bin.color * bin.weight
            weight += bin.weight
        }
        guard weight > 0 else { return nil }
        let mean = (sum / weight).rounded(.toNearestOrAwayFromZero)
        return RGBColor(red: UInt8(mean.x), green: UInt8(mean.y), blue: UInt8(mean.z))
    }
}
