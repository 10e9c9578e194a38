#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sharpens rows of floats by their lightness, L of CIE Lab. The amounts are described at
/// ``ImageTransformer/sharpenLightness(sigma:)``.
///
/// With f the function of Lab (CIE 15, 8.2.1), L is 116 f(Y) - 16, a 500 (f(X) - f(Y)) and b 200 (f(Y) - f(Z)): if only
/// L changes, all three values of f change by the same amount.
struct LightnessSharpening: Sendable {
    /// Smaller differences stay unchanged.
    private static let threshold: Float = 2
    private static let slope: Float = 3
    private static let most: (lighter: Float, darker: Float) = (10, 20)
    /// From linear red, green and blue of sRGB to X, Y and Z, each relative to white's (IEC 61966-2-1).
    private static let toXYZ: [SIMD3<Float>] = [
        SIMD3(0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047), SIMD3(0.2126, 0.7152, 0.0722),
        SIMD3(0.0193 / 1.088827, 0.1192 / 1.088827, 0.9505 / 1.088827),
    ]
    private static let toRed = SIMD3<Float>(3.2406 * 0.95047, -1.5372, -0.4986 * 1.088827)
    private static let toGreen = SIMD3<Float>(-0.9689 * 0.95047, 1.8758, 0.0415 * 1.088827)
    private static let toBlue = SIMD3<Float>(0.0557 * 0.95047, -0.2040, 1.0570 * 1.088827)

    private static let linear = FloatTable { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
    private static let response = FloatTable { $0 < 0.008856 ? 7.787 * $0 + 16.0 / 116 : cbrt($0) }

    private let linear = Self.linear
    private let coded = FloatTable.sRGB
    private let response = Self.response

    /// Writes the lightness of each pixel instead of its colours.
    func measure(_ pixels: UnsafePointer<Float>, _ width: Int, into target: UnsafeMutablePointer<Float>) {
        for x in 0..<width {
            let luminance = (light(pixels + 4 * x) * Self.toXYZ[1]).sum()
            let lightness = 116 * response[luminance] - 16
            UnsafeMutableRawPointer(target + 4 * x)
                .storeBytes(of: SIMD4(lightness, lightness, lightness, 1), as: SIMD4<Float>.self)
        }
    }

    /// - Parameter blurred: lightnesses, as ``measure(_:_:into:)`` writes them.
    func sharpen(
        _ sharp: UnsafePointer<Float>, _ blurred: UnsafePointer<Float>, _ width: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        for x in 0..<width {
            let (pixel, result) = (sharp + 4 * x, target + 4 * x)
            let light = light(pixel)
            let middle = response[(light * Self.toXYZ[1]).sum()]
            let difference = 116 * middle - 16 - blurred[4 * x]
            (result[0], result[1], result[2], result[3]) = (pixel[0], pixel[1], pixel[2], pixel[3])
            guard difference.magnitude > Self.threshold else { continue }
            var change = Self.slope * (difference - (difference < 0 ? -Self.threshold : Self.threshold))
            change = min(max(change, -Self.most.darker), Self.most.lighter)
            // Lightness is between 0 and 100.
            let sharper = min(max(116 * middle - 16 + change, 0), 100)
            let step = (sharper + 16) / 116 - middle
            let changed = SIMD3(
                cube(response[(light * Self.toXYZ[0]).sum()] + step), cube(middle + step),
                cube(response[(light * Self.toXYZ[2]).sum()] + step))
            // Colours are premultiplied, so they cannot exceed alpha.
            result[0] = min(coded[(changed * Self.toRed).sum()], pixel[3])
            result[1] = min(coded[(changed * Self.toGreen).sum()], pixel[3])
            result[2] = min(coded[(changed * Self.toBlue).sum()], pixel[3])
        }
    }

    private func light(_ pixel: UnsafePointer<Float>) -> SIMD3<Float> {
        SIMD3(linear[pixel[0]], linear[pixel[1]], linear[pixel[2]])
    }

    /// The inverse of the response.
    private func cube(_ value: Float) -> Float {
        value < 0.2069 ? (value - 16.0 / 116) / 7.787 : value * value * value
    }
}
