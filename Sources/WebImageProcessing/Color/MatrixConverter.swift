import CSysLCMS2
import WebImageCore

/// Converts pixels of 16 bits a channel from a profile of curves and a matrix to sRGB. Immutable; any thread may use it.
///
/// lcms2 is exact for such pixels only without its optimization, and then takes several times as long; with it, saturated
/// colours that sRGB does not have are up to 27 levels of 255 off, because a table blurs the place where they are clipped.
final class MatrixConverter: Sendable {
    private static let steps = 4096

    /// The linear sRGB light that each channel adds at each step of its value, first all of red. The curves are as smooth
    /// between two steps as 16 bits can tell.
    private let light: [SIMD4<Float>]
    private let coded = FloatTable.sRGB

    /// - Returns: nil for a profile of gray, and without memory.
    init?(_ profile: CurveProfile) {
        guard !profile.isGray, let light = Self.light(profile) else { return nil }
        self.light = light
    }

    /// Asks lcms2 for the light of each channel by itself.
    private static func light(_ profile: CurveProfile) -> [SIMD4<Float>]? {
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        defer { cmsDeleteContext(context) }
        cmsSetLogErrorHandlerTHR(context, { _, _, _ in })
        guard let source = profile.open(context) else { return nil }
        defer { cmsCloseProfile(source) }
        guard let linear = linearSRGB(context) else { return nil }
        defer { cmsCloseProfile(linear) }
        let floats = UInt32(1 << 22 | PT_RGB << 16 | 3 << 3 | 4)
        guard
            let transform = cmsCreateTransformTHR(
                context, source, floats, linear, floats, UInt32(INTENT_PERCEPTUAL),
                UInt32(cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE))
        else { return nil }
        defer { cmsDeleteTransform(transform) }
        var colors: [SIMD3<Float>] = []
        for channel in 0..<3 {
            for step in 0...steps {
                var color = SIMD3<Float>()
                color[channel] = Float(step) / Float(steps)
                colors.append(color)
            }
        }
        let input = colors.flatMap { [$0.x, $0.y, $0.z] }
        var output = [Float](repeating: 0, count: input.count)
        cmsDoTransform(transform, input, &output, UInt32(colors.count))
        guard output.allSatisfy(\.isFinite) else { return nil }
        // The curves may begin above 0. Of what all three add there, one part must count.
        let black = SIMD4(output[0], output[1], output[2], 0)
        return colors.indices.map { index in
            let color = SIMD4(output[index * 3], output[index * 3 + 1], output[index * 3 + 2], 0)
            return index <= steps ? color : color - black
        }
    }

    private static func linearSRGB(_ context: cmsContext) -> cmsHPROFILE? {
        var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
        var primaries = cmsCIExyYTRIPLE(
            Red: .init(x: 0.64, y: 0.33, Y: 1), Green: .init(x: 0.30, y: 0.60, Y: 1),
            Blue: .init(x: 0.15, y: 0.06, Y: 1))
        guard let line = cmsBuildGamma(context, 1) else { return nil }
        defer { cmsFreeToneCurve(line) }
        var curves: [OpaquePointer?] = [line, line, line]
        return cmsCreateRGBProfileTHR(context, &white, &primaries, &curves)
    }

    /// Converts `count` straight or opaque pixels in place; alpha stays as it is.
    func apply(to pixels: UnsafeMutablePointer<UInt16>, count: Int) {
        light.withUnsafeBufferPointer { light in
            for pixel in stride(from: 0, to: count * 4, by: 4) {
                var color = SIMD4<Float>()
                for channel in 0..<3 {
                    let exact = Float(pixels[pixel + channel]) * (Float(Self.steps) / 65_535)
                    let step = min(Int(exact), Self.steps - 1)
                    let place = channel * (Self.steps + 1) + step
                    color += light[place] + (light[place + 1] - light[place]) * (exact - Float(step))
                }
                for channel in 0..<3 { pixels[pixel + channel] = UInt16(coded[color[channel]] * 65_535 + 0.5) }
            }
        }
    }
}
