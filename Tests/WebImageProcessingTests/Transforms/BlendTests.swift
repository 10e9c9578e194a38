import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// The blend modes, compared with the formulas of Compositing and Blending Level 1 (W3C) and of Porter and Duff.
@Suite struct BlendTests {
    typealias Pixel = Blackboard.Pixel

    private static func channel(_ mode: BlendMode, _ b: Double, _ s: Double) -> Double? {
        switch mode {
        case .normal: return s
        case .multiply: return b * s
        case .screen: return 1 - (1 - b) * (1 - s)
        case .overlay: return channel(.hardLight, s, b)
        case .darken: return min(b, s)
        case .lighten: return max(b, s)
        case .colorDodge: return b == 0 ? 0 : s == 1 ? 1 : min(1, b / (1 - s))
        case .colorBurn: return b == 1 ? 1 : s == 0 ? 0 : 1 - min(1, (1 - b) / s)
        case .hardLight: return s <= 0.5 ? 2 * b * s : 1 - (1 - b) * (2 - 2 * s)
        case .softLight:
            if s <= 0.5 { return b - (1 - 2 * s) * b * (1 - b) }
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            return b + (2 * s - 1) * (d - b)
        case .difference: return abs(b - s)
        case .exclusion: return b + s - 2 * b * s
        default: return nil
        }
    }

    /// The factors of Porter and Duff by which the source and the backdrop are multiplied.
    private static func factors(_ mode: BlendMode, _ s: Double, _ b: Double) -> (Double, Double)? {
        switch mode {
        case .clear: (0, 0)
        case .source: (1, 0)
        case .sourceIn: (b, 0)
        case .sourceOut: (1 - b, 0)
        case .sourceAtop: (b, 1 - s)
        case .destinationOver: (1 - b, 1)
        case .destinationIn: (0, s)
        case .destinationOut: (0, 1 - s)
        case .destinationAtop: (1 - b, s)
        case .xor: (1 - b, 1 - s)
        default: nil
        }
    }

    private static func luminosity(_ c: [Double]) -> Double { 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] }
    private static func saturation(_ c: [Double]) -> Double { (c.max() ?? 0) - (c.min() ?? 0) }

    private static func setLuminosity(_ c: [Double], _ target: Double) -> [Double] {
        let shifted = c.map { $0 + target - luminosity(c) }
        let (low, high) = (shifted.min() ?? 0, shifted.max() ?? 0)
        return shifted.map { value in
            var value = value
            if low < 0 { value = target + (value - target) * target / (target - low) }
            if high > 1 { value = target + (value - target) * (1 - target) / (high - target) }
            return value
        }
    }

    private static func setSaturation(_ c: [Double], _ target: Double) -> [Double] {
        let (low, range) = (c.min() ?? 0, saturation(c))
        return c.map { range > 0 ? ($0 - low) * target / range : 0 }
    }

    /// Blends two pixels with straight alpha into one.
    private static func blend(_ mode: BlendMode, _ backdrop: Pixel, _ source: Pixel) -> Pixel {
        let (ab, sa) = (backdrop.w, source.w)
        let b = (0..<3).map { backdrop[$0] }
        let s = (0..<3).map { source[$0] }
        if let (fs, fb) = factors(mode, sa, ab) {
            let alpha = sa * fs + ab * fb
            return Pixel((0..<3).map { alpha > 0 ? (sa * fs * s[$0] + ab * fb * b[$0]) / alpha : 0 } + [alpha])
        }
        if mode == .plusLighter || mode == .plusDarker {
            let alpha = min(1, sa + ab)
            let color = (0..<3).map { part in
                mode == .plusLighter
                    ? min(alpha, sa * s[part] + ab * b[part])
                    : max(0, alpha - sa * (1 - s[part]) - ab * (1 - b[part]))
            }
            return Pixel(color.map { alpha > 0 ? $0 / alpha : 0 } + [alpha])
        }
        let mixed: [Double] =
            switch mode {
            case .hue: setLuminosity(setSaturation(s, saturation(b)), luminosity(b))
            case .saturation: setLuminosity(setSaturation(b, saturation(s)), luminosity(b))
            case .color: setLuminosity(s, luminosity(b))
            case .luminosity: setLuminosity(b, luminosity(s))
            default: (0..<3).map { channel(mode, b[$0], s[$0]) ?? .nan }
            }
        let alpha = sa + ab - sa * ab
        return Pixel(
            (0..<3).map { part in
                guard alpha > 0 else { return 0 }
                let over = sa * (1 - ab) * s[part] + sa * ab * mixed[part]
                return (over + (1 - sa) * ab * b[part]) / alpha
            } + [alpha])
    }

    @Test(arguments: BlendMode.allCases) func everyModeIsAsItsStandardSays(_ mode: BlendMode) throws {
        let colors = [
            RGBAColor(red: 255, green: 0, blue: 0), RGBAColor(red: 30, green: 144, blue: 200, alpha: 128), .clear,
            .white,
            RGBAColor(red: 12, green: 250, blue: 128, alpha: 1),
        ]
        for input in TransformReferenceTests.Input.all where input.size.width != 40 {
            let image = try input.image(seed: 5)
            for color in colors {
                let made = try image.transformed(by: [.tint(color, mode: mode)])
                let expected = Blackboard(image).mapped { pixel, _, _ in
                    Self.blend(mode, pixel, Blackboard.color(color))
                }
                // Dividing by nearly zero amplifies the rounding errors of floats.
                let allowed = input.layout == .rgba8 ? 1.0 : 8
                #expect(expected.worstDifference(of: made) <= allowed, "\(input.testDescription) \(color)")
                if made.alpha == .opaque { #expect(made.pixels.isOpaque) }
            }
        }
    }

    /// As in SDWebImage, a tint colours what is visible and leaves transparent pixels transparent.
    @Test func aTintColoursOnlyVisiblePixels() throws {
        let pixels = try PixelBuffer.make(PixelSize(2, 1), [10, 20, 30, 255, 9, 9, 9, 0])
        let image = Image(pixels: pixels, info: Image.Info(alpha: .straight))
        let made = try image.transformed(by: [.tint(RGBAColor(red: 0, green: 200, blue: 0))])
        #expect(made.pixels.pixel(0, 0) == [0, 200, 0, 255])
        #expect(made.pixels.pixel(1, 0)[3] == 0)
    }

    @Test func aBackgroundShowsThroughWhatIsTransparent() throws {
        for input in TransformReferenceTests.Input.all {
            let image = try input.image(seed: 8)
            let made = try image.transformed(by: [.background(RGBAColor(red: 0, green: 255, blue: 9))])
            #expect(made.alpha == .opaque)
            let expected = Blackboard(image).mapped { pixel, _, _ in
                Self.blend(.destinationOver, pixel, Blackboard.color(RGBAColor(red: 0, green: 255, blue: 9)))
            }
            #expect(expected.worstDifference(of: made) <= input.allowed())
        }
    }
}
