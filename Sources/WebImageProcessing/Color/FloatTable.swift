#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A function of 0 to 1, interpolated linearly between many points.
struct FloatTable: Sendable {
    private static let steps = 1 << 14
    private let values: [Float]

    /// The values of sRGB by linear light (IEC 61966-2-1).
    static let sRGB = FloatTable { $0 <= 0.0031308 ? $0 * 12.92 : 1.055 * pow($0, 1 / 2.4) - 0.055 }

    init(_ function: (Double) -> Double) {
        values = (0...Self.steps + 1).map { Float(function(Double($0) / Double(Self.steps))) }
    }

    /// Values outside of 0 to 1 are clamped.
    subscript(_ place: Float) -> Float {
        let scaled = Float.minimum(Float.maximum(place, 0), 1) * Float(Self.steps)
        let index = Int(scaled)
        return values.withUnsafeBufferPointer { values in
            values[index] + (values[index + 1] - values[index]) * (scaled - Float(index))
        }
    }
}
