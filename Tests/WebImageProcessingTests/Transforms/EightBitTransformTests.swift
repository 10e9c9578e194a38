import Testing
import WebImageCore
import WebImageProcessing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Pictures of 8 bits have fast paths of their own: tables, vector registers, sums of 16 bits. All are compared with
/// plain arithmetic in double precision.
@Suite struct EightBitTransformTests {
    /// A chain of transforms, and a reference of what it does to a colour.
    struct Chain: CustomTestStringConvertible, Sendable {
        typealias Step = @Sendable (SIMD3<Double>) -> SIMD3<Double>

        var testDescription: String
        var transforms: [ImageTransform]
        var steps: [Step]

        init(_ name: String, _ parts: [(ImageTransform, Step)]) {
            testDescription = name
            transforms = parts.map(\.0)
            steps = parts.map(\.1)
        }

        func color(_ color: SIMD3<Double>) -> SIMD3<Double> {
            steps.reduce(color) { $1($0).clamped(lowerBound: .zero, upperBound: .one) }
        }
    }

    static func matrix(_ matrix: ColorMatrix) -> (ImageTransform, Chain.Step) {
        let values = matrix.values.map { Double($0) }
        let step: Chain.Step = { color in
            var made = SIMD3<Double>()
            for row in 0..<3 {
                made[row] = values[row * 5 + 4]
                for part in 0..<3 { made[row] += values[row * 5 + part] * color[part] }
            }
            return made
        }
        return (.colors(matrix), step)
    }

    static func gamma(_ gamma: Double) -> (ImageTransform, Chain.Step) {
        let step: Chain.Step = { color in
            var made = SIMD3<Double>()
            for part in 0..<3 where color[part] > 0 { made[part] = pow(color[part], 1 / gamma) }
            return made
        }
        return (.gamma(gamma), step)
    }

    /// A matrix that changes red, green and blue differently and mixes none.
    static let apart =
        ColorMatrix([
            1.5, 0, 0, 0, -0.2, 0, -1, 0, 0, 1, 0, 0, 0.3, 0, 0.4, 0, 0, 0, 1, 0,
        ]) ?? .identity

    static let unmixed = [
        Chain("contrast", [matrix(.contrast(1.2))]),
        Chain("harsh contrast", [matrix(.contrast(40))]),
        Chain("negative", [matrix(.inverted)]),
        Chain("bright gamma", [gamma(2.2)]),
        Chain("dark gamma", [gamma(0.4)]),
        Chain("brightest gamma", [gamma(100)]),
        Chain("darkest gamma", [gamma(0.01)]),
        Chain("parts apart", [matrix(apart)]),
        Chain("three in a row", [matrix(.contrast(1.2)), matrix(.brightness(0.1)), gamma(1.1)]),
    ]

    static let mixed = [
        Chain("sepia", [matrix(.sepia())]),
        Chain("hue, then gamma", [matrix(.hue(degrees: 77)), gamma(2.2)]),
        Chain("gamma, then contrast", [gamma(2.2), matrix(.saturation(1.5)), matrix(.contrast(8))]),
        Chain(
            "five in a row",
            [
                matrix(.contrast(1.2)), matrix(.brightness(0.1)), matrix(.saturation(1.3)), matrix(.sepia(0.2)),
                gamma(1.1),
            ]),
    ]

    /// A picture with all 256 levels of each channel, in three orders. Its width need not be a multiple of a vector's
    /// length.
    private static func levels(_ layout: PixelLayout, _ alpha: AlphaMode, width: Int) throws -> Image {
        let top = layout.top
        let height = (261 + width - 1) / width
        let alphas = [top, 0, top / 2, 1]
        var channels: [Int] = []
        for index in 0..<width * height {
            let level = index % 256
            for part in [level, 255 - level, level * 7 % 256] { channels.append(part * top / 255) }
            channels.append(alpha == .opaque ? top : alphas[index % 4])
        }
        let pixels = try PixelBuffer.make(PixelSize(width, height), layout, channels)
        return Image(pixels: pixels, info: Image.Info(alpha: alpha))
    }

    /// The largest difference of stored colours from the exact ones, in levels; infinite if alpha has changed.
    private static func worst(_ chain: Chain, _ image: Image) throws -> Double {
        let made = try image.transformed(by: chain.transforms)
        let (input, output) = (image.pixels.channels, made.pixels.channels)
        let top = Double(image.layout.top)
        var worst = 0.0
        for at in stride(from: 0, to: input.count, by: 4) {
            if output[at + 3] != input[at + 3] { return .infinity }
            let isSeen = input[at + 3] > 0
            var color = SIMD3<Double>()
            for part in 0..<3 where isSeen { color[part] = Double(input[at + part]) / top }
            let exact = chain.color(color)
            for part in 0..<3 { worst = max(worst, abs(exact[part] * top - Double(output[at + part]))) }
        }
        return worst
    }

    @Test(arguments: unmixed + mixed, [AlphaMode.opaque, .straight])
    func everyLevelOfABytePictureIsRoundedOnce(_ chain: Chain, _ alpha: AlphaMode) throws {
        for width in [1, 7, 16, 261] {
            let worst = try Self.worst(chain, Self.levels(.rgba8, alpha, width: width))
            #expect(worst < 0.54, "\(width) wide")
        }
    }

    @Test(arguments: unmixed + mixed, [AlphaMode.opaque, .straight])
    func deepPicturesKeepFiveDigits(_ chain: Chain, _ alpha: AlphaMode) throws {
        // A contrast in the chain amplifies the error, too.
        let allowed = chain.testDescription.contains("contrast") ? 20.0 : 1.2
        for width in [7, 261] {
            let worst = try Self.worst(chain, Self.levels(.rgba16, alpha, width: width))
            #expect(worst < allowed, "\(width) wide")
        }
    }

    @Test(arguments: [0.1, 0.5, 1, 1.7, 2.4]) func aSmallBlurLeavesEvenPicturesAsTheyAre(_ sigma: Double) throws {
        for level in 0...255 {
            let pixel = [level, 255 - level, level / 2, 255]
            for size in [PixelSize(1, 1), PixelSize(19, 5)] {
                let pixels = try PixelBuffer.constant(size, pixel)
                let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
                let made = try image.transformed(by: [.blur(sigma: sigma)])
                #expect(made.pixels.channels == pixels.channels)
            }
        }
    }

    /// The second blur receives rows one by one, without a picture in memory.
    @Test(arguments: [PixelSize(1, 70), PixelSize(70, 1), PixelSize(5, 3), PixelSize(67, 71)])
    func smallBlursMayFollowEachOther(_ size: PixelSize) throws {
        let pixels = try PixelBuffer.random(size, alpha: .opaque, seed: 7)
        let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
        let made = try image.transformed(by: [.blur(sigma: 1.2), .blur(sigma: 2)])
        #expect(Blackboard(image).blurred(sigma: 1.2).blurred(sigma: 2).worstDifference(of: made) <= 1.5)
        let cut = try image.transformed(by: [.blur(sigma: 2, cut: 0.2)])
        #expect(Blackboard(image).blurred(sigma: 2, reach: 3).worstDifference(of: cut) <= 0.75)
    }

    @Test func sharpeningBytesAddsTheDifference() throws {
        let image = Image(
            pixels: try PixelBuffer.random(PixelSize(67, 31), alpha: .opaque, seed: 3), info: Image.Info(alpha: .opaque)
        )
        for amount in [0, 0.3, 1] {
            let made = try image.transformed(by: [.sharpen(sigma: 1.5, amount: amount)])
            let expected = Blackboard(image).sharpened(sigma: 1.5, amount: amount, threshold: 0)
            #expect(expected.worstDifference(of: made) <= 2)
        }
    }
}

extension SIMD3<Double> {
    fileprivate static var one: SIMD3 { SIMD3(repeating: 1) }
}
