import CPixels
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tables from stored values to linear light and back, by sRGB's curve (IEC 61966-2-1), which Display P3 has as well.
struct LinearLight: Sendable {
    /// The light of each stored value, with the same maximum.
    let values: [Float]
    /// The stored values, 0 to 1, for the squares of even steps from 0 to 1.
    let encoded: [Float]

    private static let eight = LinearLight(maximum: 255)
    private static let sixteen = LinearLight(maximum: 65_535)

    static func of(_ layout: PixelLayout) -> LinearLight {
        switch layout {
        case .rgba8: eight
        case .rgba16: sixteen
        }
    }

    private init(maximum: Int) {
        let top = Double(maximum)
        values = (0...maximum).map { Float(Self.light(of: Double($0) / top) * top) }
        let steps = Int(WI_ENCODE_STEPS)
        encoded = (0...steps + 1).map { index in
            let root = min(Double(index) / Double(steps), 1)
            return Float(Self.value(of: root * root))
        }
    }

    private static func light(of value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func value(of light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
