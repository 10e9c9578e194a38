import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Colours in Oklab (Björn Ottosson, 2020), in which equal distances look equally large: lightness, green to red, blue
/// to yellow.
enum OklabColor {
    /// - Parameter color: red, green and blue of sRGB, 0 to 255 each.
    static func lab(of color: SIMD3<Double>) -> SIMD3<Double> {
        let light = SIMD3(self.light(of: color.x), self.light(of: color.y), self.light(of: color.z))
        let cones = SIMD3(
            cbrt(0.4122214708 * light.x + 0.5363325363 * light.y + 0.0514459929 * light.z),
            cbrt(0.2119034982 * light.x + 0.6806995451 * light.y + 0.1073969566 * light.z),
            cbrt(0.0883024619 * light.x + 0.2817188376 * light.y + 0.6299787005 * light.z))
        return SIMD3(
            0.2104542553 * cones.x + 0.7936177850 * cones.y - 0.0040720468 * cones.z,
            1.9779984951 * cones.x - 2.4285922050 * cones.y + 0.4505937099 * cones.z,
            0.0259040371 * cones.x + 0.7827717662 * cones.y - 0.8086757660 * cones.z)
    }

    static func squaredDistance(_ first: SIMD3<Double>, _ second: SIMD3<Double>) -> Double {
        let difference = first - second
        return (difference * difference).sum()
    }

    private static func light(of value: Double) -> Double {
        let value = value / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
