import CPixels
import WebImageCore

/// The colours of a picture, those of nearly one colour (5 bits a channel) added up. Transparent pixels count by their
/// alpha.
struct ColorBins {
    /// Pixels of nearly one colour.
    struct Bin {
        /// Their mean, 0 to 255 a channel.
        let color: SIMD3<Double>
        let lab: SIMD3<Double>
        /// How many they are, in pixels; one that is half transparent is half of one.
        let weight: Double
    }

    /// Those that there are, from black to white; empty for a picture of which nothing can be seen.
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
