#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The arithmetic of BlurHash's reference implementation. Ours gives the same texts and pixels bit for bit, because each
// step has the same precision, and so the same rounding, as the C code.
enum BlurHashRounding {
    private static let inverseGamma = Float(1.0 / 2.4 as Double)

    /// The light of a value by sRGB's curve. Values above 255 are allowed, since a damaged text may have them.
    static func light(of value: Int) -> Float {
        let value = Float(value) / 255
        if Double(value) <= 0.04045 { return Float(Double(value) / 12.92) }
        return powf(Float((Double(value) + 0.055) / 1.055), 2.4)
    }

    /// The light of each of 256 values.
    static let lights = (0...255).map { light(of: $0) }

    /// The value for a light, 0 to 255. NaN becomes white, as with C's `fminf`.
    static func value(of light: Float) -> Int {
        let light = Float.maximum(0, Float.minimum(1, light))
        let value =
            Double(light) <= 0.0031308
            ? Double(light) * 12.92 * 255 + 0.5
            : (1.055 * Double(powf(light, Self.inverseGamma)) - 0.055) * 255 + 0.5
        return Int(value)
    }

    /// The cosine of a wave at a column or row, for making a hash.
    static func cosine(_ component: Int, at place: Int, of length: Int) -> Float {
        cosf(Float(Double.pi * Double(component) * Double(place) / Double(length)))
    }

    /// The cosine for drawing, for which the reference uses more precision.
    static func preciseCosine(_ component: Int, at place: Int, of length: Int) -> Double {
        cos((Double.pi * Double(place) * Double(component)) / Double(length))
    }

    /// The strength of the strongest wave, in 83 steps.
    static func maximumStep(for strength: Float) -> Int {
        step(Float(Double(strength * 166) - 0.5), most: 82)
    }

    /// The strength for a step of ``maximumStep(for:)``.
    static func maximum(ofStep step: Int) -> Float { (Float(step) + 1) / 166 }

    /// The strength of a wave in one channel, in 19 steps; the middle one is zero.
    static func waveStep(for strength: Float, maximum: Float) -> Int {
        let part = strength / maximum
        let root = Float(signOf: part, magnitudeOf: powf(part.magnitude, 0.5))
        return step(Float(Double(root * 9) + 9.5), most: 18)
    }

    /// The strength for a step of ``waveStep(for:maximum:)``. A damaged text may have one step more.
    static func wave(ofStep step: Int, maximum: Float) -> Float {
        let part = Float((Double(step) - 9) / 9)
        return Float(signOf: part, magnitudeOf: part * part) * maximum
    }

    private static func step(_ value: Float, most: Float) -> Int {
        Int(Float.maximum(0, Float.minimum(most, value.rounded(.down))))
    }
}
