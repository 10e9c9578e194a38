import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Converts high dynamic range (PQ and HLG, ITU-R BT.2100) to sRGB.
///
/// Reference white is 203 cd/m² (ITU-R BT.2408). The curve is that of ITU-R BT.2390, section 5.4 ("EETF"), from a peak
/// of 1000 cd/m² to one of 203: up to about 90 cd/m² light is unchanged, reference white becomes 78 % of sRGB's white
/// (level 229), and 1000 cd/m² and more become white. It is applied to the brightest channel, and the others are scaled
/// with it, so that hues stay; colours outside sRGB's primaries are clipped. Immutable; any thread may use it.
final class ToneMapper: Sendable {
    private static let referenceWhite = 203.0
    private static let peak = 1000.0
    private static let steps = 4096

    private let isHLG: Bool
    /// The light of a channel's value: for PQ in units of reference white, for HLG scene light from 0 to 1.
    private let light: [Float]
    /// The factor for light, by the square root of the brightest channel over the peak.
    private let gains: [Float]
    /// sRGB's value, 0 to 1, by the square root of light.
    private let values: [Float]
    private let matrix: [Float]

    /// - Returns: nil for curves other than PQ and HLG, and for unknown primaries.
    init?(_ description: ColorDescription, _ layout: PixelLayout) {
        guard description.isHighDynamicRange, let primaries = RGBPrimaries(codePoint: description.primaries) else {
            return nil
        }
        isHLG = description.transfer == 18
        let most = layout == .rgba8 ? 255 : 65_535
        light = (0...most).map { level in
            let value = Double(level) / Double(most)
            return Float(
                description.transfer == 18
                    ? Self.sceneLight(hybridLog: value) : Self.nits(perceptual: value) / Self.referenceWhite)
        }
        gains = (0...Self.steps).map { step in
            let root = Double(max(step, 1)) / Double(Self.steps)
            let nits = root * root * Self.peak
            return Float(Self.mapped(nits) * Self.referenceWhite / nits)
        }
        values = (0...Self.steps).map { step in
            let root = Double(step) / Double(Self.steps)
            let light = root * root
            return Float(light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
        }
        matrix = primaries.toStandard.map { Float($0) }
    }

    /// Converts `count` straight or opaque pixels in place; alpha stays as it is.
    func apply(to row: UnsafeMutableRawPointer, count: Int, _ layout: PixelLayout) {
        switch layout {
        case .rgba8: convert(row.assumingMemoryBound(to: UInt8.self), count)
        case .rgba16: convert(row.assumingMemoryBound(to: UInt16.self), count)
        }
    }

    private func convert<Value: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafeMutablePointer<Value>, _ count: Int
    ) {
        let most = Float(Value.max)
        light.withUnsafeBufferPointer { light in
            for pixel in stride(from: 0, to: count * 4, by: 4) {
                var color = SIMD3(
                    light[Int(pixels[pixel])], light[Int(pixels[pixel + 1])], light[Int(pixels[pixel + 2])])
                if isHLG { color *= displayGain(color) }
                let brightest = min(color.max(), Float(Self.peak / Self.referenceWhite))
                let root = (brightest * Float(Self.referenceWhite / Self.peak)).squareRoot()
                color *= look(up: gains, root) * (color.max() > 0 ? brightest / color.max() : 1)
                for channel in 0..<3 {
                    let place = channel * 3
                    let linear =
                        matrix[place] * color.x + matrix[place + 1] * color.y + matrix[place + 2] * color.z
                    let value = look(up: values, min(max(linear, 0), 1).squareRoot())
                    pixels[pixel + channel] = Value(min(max(value * most + 0.5, 0), most))
                }
            }
        }
    }

    /// The display gamma of HLG (BT.2100, table 5) at 1000 cd/m²: 1.2.
    private func displayGain(_ scene: SIMD3<Float>) -> Float {
        let luminance = 0.2627 * scene.x + 0.6780 * scene.y + 0.0593 * scene.z
        return powf(luminance, 0.2) * Float(Self.peak / Self.referenceWhite)
    }

    /// - Parameter place: the position in the table, 0 to 1.
    private func look(up table: [Float], _ place: Float) -> Float {
        let exact = place * Float(Self.steps)
        let index = min(Int(exact), Self.steps - 1)
        let rest = exact - Float(index)
        return table[index] * (1 - rest) + table[index + 1] * rest
    }

    // MARK: curves

    private static let (m1, m2) = (2610.0 / 16_384, 2523.0 / 4096 * 128)
    private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)

    /// The curve of SMPTE ST 2084: converts a value to cd/m².
    private static func nits(perceptual value: Double) -> Double {
        let root = pow(value, 1 / m2)
        return 10_000 * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }

    private static func perceptual(nits: Double) -> Double {
        let power = pow(nits / 10_000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }

    /// Converts an HLG value to scene light: the inverse of the camera's curve (BT.2100, table 5).
    private static func sceneLight(hybridLog value: Double) -> Double {
        let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    /// The tone curve of BT.2390, 5.4.1, without its black level.
    ///
    /// - Returns: light in units of reference white.
    private static func mapped(_ nits: Double) -> Double {
        let top = perceptual(nits: peak)
        let most = perceptual(nits: referenceWhite) / top
        let knee = 1.5 * most - 0.5
        var value = perceptual(nits: nits) / top
        if value > knee {
            let t = (value - knee) / (1 - knee)
            let (t2, t3) = (t * t, t * t * t)
            value = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * most
        }
        return Self.nits(perceptual: value * top) / referenceWhite
    }
}
