import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Each transform, compared with its definition, in levels of the picture's depth.
@Suite struct TransformReferenceTests {
    struct Input: CustomTestStringConvertible, Sendable {
        var size: PixelSize
        var layout: PixelLayout
        var alpha: AlphaMode
        var testDescription: String { "\(size) \(layout) \(alpha)" }

        /// One pixel, one column, one row, odd sizes, and rows that are longer than a run of pixels.
        static let all: [Input] = [PixelLayout.rgba8, .rgba16].flatMap { layout in
            [AlphaMode.opaque, .straight, .premultiplied].flatMap { alpha in
                [PixelSize(1, 1), PixelSize(1, 40), PixelSize(40, 1), PixelSize(37, 23), PixelSize(261, 9)].map {
                    Input(size: $0, layout: layout, alpha: alpha)
                }
            }
        }

        func image(seed: UInt64 = 1) throws -> Image {
            let pixels = try PixelBuffer.random(size, layout, alpha: alpha, seed: seed)
            if alpha == .premultiplied { pixels.premultiply() }
            return Image(pixels: pixels, info: Image.Info(alpha: alpha))
        }

        /// The allowed difference in levels. Stored colours are rounded once. Colours of translucent pixels are then
        /// multiplied by alpha, so that two roundings may add up. With 16 bits, 32-bit floats add rounding errors of
        /// their own.
        func allowed(_ eight: Double = 1) -> Double { layout == .rgba8 ? eight : eight * 4 }
    }

    @Test(arguments: Input.all) func cropsTurnsAndCanvasesChangeNoPixel(_ input: Input) throws {
        let image = try input.image()
        let board = Blackboard(image)
        let (width, height) = (input.size.width, input.size.height)
        let half = PixelSize(max(width / 2, 1), max(height / 2, 1))
        let cropped = try image.transformed(by: [
            .crop(
                PixelRect(x: 0, y: Double(height - half.height), width: Double(half.width), height: Double(half.height))
            )
        ])
        #expect(
            board.cropped(x: 0, y: height - half.height, to: half).worstDifference(of: cropped) <= input.allowed(1))
        let flipped = try image.transformed(by: [.flip(horizontally: true)])
        #expect(board.made(input.size) { board.pixel(width - 1 - $0, $1) }.worstDifference(of: flipped) <= 1)
        let turned = try image.transformed(by: [.turn(quarters: 1)])
        #expect(
            board.made(input.size.transposed) { board.pixel($1, height - 1 - $0) }.worstDifference(of: turned) <= 1)
        let padded = try image.transformed(by: [
            .pad(
                EdgeLengths(top: 1, right: 2, bottom: 3, left: 4),
                color: RGBAColor(red: 200, green: 100, blue: 0, alpha: 128))
        ])
        let canvas = PixelSize(width + 6, height + 4)
        let expected = board.onCanvas(canvas, x: 4, y: 1, RGBAColor(red: 200, green: 100, blue: 0, alpha: 128))
        #expect(expected.worstDifference(of: padded) <= input.allowed())
    }

    @Test(arguments: Input.all) func aBlurIsAGaussian(_ input: Input) throws {
        let image = try input.image()
        let board = Blackboard(image)
        for sigma in [0.4, 1, 2.4, 2.6, 7.5, 40] {
            let blurred = try image.transformed(by: [.blur(sigma: sigma)])
            // Large blurs are off by 0.2 levels of 255 at the worst frequency, in addition to the rounding.
            let allowed = input.layout == .rgba8 ? 1.0 : 64
            #expect(board.blurred(sigma: sigma).worstDifference(of: blurred) <= allowed, "sigma \(sigma)")
        }
    }

    @Test(arguments: Input.all) func aBlurThatIsCutHasTheWeightsThatLibvipsTakes(_ input: Input) throws {
        let image = try input.image()
        // exp(-d * d / 18) is 0.2 at 5.38.
        let blurred = try image.transformed(by: [.blur(sigma: 3, cut: 0.2)])
        #expect(Blackboard(image).blurred(sigma: 3, reach: 5).worstDifference(of: blurred) <= input.allowed())
    }

    @Test(arguments: Input.all) func sharpeningAddsTheDifferenceToTheBlur(_ input: Input) throws {
        let image = try input.image()
        for (sigma, amount, threshold) in [(1.0, 1.0, 0.0), (4, 2.5, 0), (1.5, 1, 0.4)] {
            let sharp = try image.transformed(by: [.sharpen(sigma: sigma, amount: amount, threshold: threshold)])
            let expected = Blackboard(image).sharpened(sigma: sigma, amount: amount, threshold: threshold)
            // A difference at the very threshold may fall on either side of it.
            #expect(Self.share(of: sharp, beyond: input.layout == .rgba8 ? 2 : 300, from: expected) < 0.001)
        }
    }

    /// The cutout once got a bright line along its edges, as if it lay on black.
    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func aCutOutOfOneColorIsNotChangedBySharpening(_ layout: PixelLayout)
        throws
    {
        let size = PixelSize(40, 40)
        let round = try Image(size: size, alpha: .straight) { bytes in
            for pixel in 0..<size.width * size.height {
                let (x, y) = (Double(pixel % size.width) - 19.5, Double(pixel / size.width) - 19.5)
                let alpha = min(max(14.5 - (x * x + y * y).squareRoot(), 0), 1)
                for (part, value) in [100, 150, 60, UInt8(alpha * 255)].enumerated() { bytes[pixel * 4 + part] = value }
            }
        }
        let pixels = layout == .rgba8 ? round.pixels : try round.pixels.widened()
        let image = Image(pixels: pixels, info: round.info)
        for sigma in [0.5, 2, 20] {
            let sharp = try image.transformed(by: [.sharpen(sigma: sigma, amount: 3)])
            let made = layout == .rgba8 ? sharp.pixels : try sharp.pixels.narrowed()
            made.withBytes { bytes in
                round.pixels.withBytes { before in
                    for pixel in 0..<size.width * size.height where before[pixel * 4 + 3] > 0 {
                        for part in 0..<4 {
                            #expect(abs(Int(bytes[pixel * 4 + part]) - Int(before[pixel * 4 + part])) <= 1)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: Input.all) func sharpeningTheLightnessIsAsLibvipsDoesIt(_ input: Input) throws {
        let image = try input.image()
        // exp(-d * d / 2 sigma^2) is 0.1 at 2.15 sigma.
        for (sigma, reach) in [(0.4, 0), (1.0, 2), (3, 6), (8, 17)] {
            let sharp = try image.transformed(by: [.sharpenLightness(sigma: sigma)])
            let expected = Blackboard(image).lightnessSharpened(sigma: sigma, reach: reach)
            // A difference at the very threshold may fall on either side of it.
            #expect(Self.share(of: sharp, beyond: input.layout == .rgba8 ? 2 : 300, from: expected) < 0.001, "\(sigma)")
        }
    }

    /// The share of pixels, from 0 to 1, that differ by more than `allowed` levels.
    static func share(of image: Image, beyond allowed: Double, from board: Blackboard) -> Double {
        guard image.size == board.size else { return 1 }
        let top = Double(image.layout.top)
        let far = zip(board.pixels, Blackboard(image).pixels).filter { pair in
            let difference = pair.0 - pair.1
            return (0..<4).contains { abs(difference[$0]) * top > allowed }
        }
        return Double(far.count) / Double(board.pixels.count)
    }

    @Test(arguments: Input.all) func squaresHaveTheMeanOfTheirPixels(_ input: Input) throws {
        let image = try input.image()
        for side in [2, 7, 64] {
            let made = try image.transformed(by: [.pixelate(side)])
            #expect(Blackboard(image).pixelated(side).worstDifference(of: made) <= input.allowed(), "\(side)")
        }
    }

    @Test(arguments: Input.all) func rotatingIsCatmullAndRomsSpline(_ input: Input) throws {
        let image = try input.image()
        for degrees in [30.0, -137.5, 90, 1] {
            let rotated = try image.transformed(by: [.rotate(degrees: degrees, grows: degrees != 90)])
            let kept = try image.transformed(by: [.rotate(degrees: degrees, grows: false)])
            let board = Blackboard(image)
            #expect(
                board.rotated(degrees: degrees, to: rotated.size).worstDifference(of: rotated) <= input.allowed(),
                "\(degrees)")
            #expect(kept.size == input.size)
            #expect(board.rotated(degrees: degrees, to: input.size).worstDifference(of: kept) <= input.allowed())
        }
    }

    @Test func aRotatedCanvasHoldsAllCorners() throws {
        let image = try Input(size: PixelSize(100, 100), layout: .rgba8, alpha: .opaque).image()
        #expect(try image.transformed(by: [.rotate(degrees: 45)]).size == PixelSize(142, 142))
        #expect(try image.transformed(by: [.rotate(degrees: 180)]).size == PixelSize(100, 100))
        #expect(try image.transformed(by: [.rotate(degrees: 180)]).alpha == .opaque)
        #expect(try image.transformed(by: [.rotate(degrees: 45)]).alpha == .straight)
        let red = try image.transformed(by: [.rotate(degrees: 45, background: RGBAColor(red: 255, green: 0, blue: 0))])
        #expect(red.alpha == .opaque && red.pixels.pixel(0, 0) == [255, 0, 0, 255])
    }

    /// The background fills only the corners of the new canvas. Transparent pixels of the picture stay transparent.
    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func theBackgroundOfARotatedPictureIsOnlyWhereThePictureIsNot(layout: PixelLayout) throws {
        let image = try Input(size: PixelSize(61, 40), layout: layout, alpha: .straight).image()
        let red = RGBAColor(red: 255, green: 0, blue: 0)
        let made = try image.transformed(by: [.rotate(degrees: 30, background: red)])
        let board = Blackboard(image).rotated(degrees: 30, to: made.size)
        let opaque = Blackboard(
            image.size, image.pixels.channels.indices.filter { $0 % 4 == 0 }.map { _ in [1, 1, 1, 1] })
        let cover = opaque.rotated(degrees: 30, to: made.size)
        let expected = Blackboard(
            made.size, zip(board.pixels, cover.pixels).map { $0 + Blackboard.color(red) * (1 - max($0.w, $1.w)) })
        #expect(expected.worstDifference(of: made) <= (layout == .rgba8 ? 1 : 4))
        #expect(made.alpha == .straight)
    }

    @Test(arguments: Input.all) func matricesAndCurvesChangeColoursAsTheySay(_ input: Input) throws {
        let image = try input.image()
        let board = Blackboard(image)
        let matrices: [ColorMatrix] = [
            .gray(), .gray(0.3), .sepia(), .sepia(0.5), .brightness(0.2), .brightness(-0.7), .contrast(1.7),
            .contrast(0.2), .saturation(2), .hue(degrees: 77), .inverted, .opacity(0.4),
            try #require(ColorMatrix([0.5, 0, 0, 0.5, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0.1, 0.1, 0.1, 0.4, 0.1])),
        ]
        for matrix in matrices {
            let made = try image.transformed(by: [.colors(matrix)])
            let expected = board.mapped { pixel, _, _ in
                var made = Blackboard.Pixel()
                for row in 0..<4 {
                    let weights = matrix.values[row * 5..<row * 5 + 5].map { Double($0) }
                    made[row] = weights[4]
                    for part in 0..<4 { made[row] += weights[part] * pixel[part] }
                }
                return made
            }
            #expect(expected.worstDifference(of: made) <= input.allowed(), "\(matrix)")
        }
        let bright = try image.transformed(by: [.gamma(2.2)])
        let expected = board.mapped { pixel, _, _ in
            Blackboard.Pixel((0..<4).map { $0 == 3 ? pixel[3] : Self.power(pixel[$0], 1 / 2.2) })
        }
        // The curve is a table of 1025 entries, and steep near black.
        #expect(Self.share(of: bright, beyond: input.layout == .rgba8 ? 2 : 600, from: expected) < 0.05)
    }

    private static func power(_ value: Double, _ exponent: Double) -> Double {
        value <= 0 ? 0 : pow(value, exponent)
    }

    @Test(arguments: Input.all) func roundCornersCoverWhatACircleCovers(_ input: Input) throws {
        let image = try input.image()
        let radii = CornerRadii(topLeft: 9, topRight: 3, bottomRight: 0, bottomLeft: 6)
        let rounded = try image.transformed(by: [.roundCorners(radii)])
        let (width, height) = (input.size.width, input.size.height)
        let most = Double(min(width, height)) / 2
        // Coverage is measured at sixteen by sixteen points in each pixel.
        func isInside(_ x: Double, _ y: Double) -> Bool {
            let (right, low) = (x > Double(width) / 2, y > Double(height) / 2)
            let radius = min(low ? (right ? 0.0 : 6) : (right ? 3 : 9), most)
            let (dx, dy) = (right ? Double(width) - x : x, low ? Double(height) - y : y)
            if dx >= radius || dy >= radius { return true }
            return (radius - dx) * (radius - dx) + (radius - dy) * (radius - dy) <= radius * radius
        }
        let expected = Blackboard(image).mapped { pixel, x, y in
            var count = 0
            for row in 0..<16 {
                for column in 0..<16
                where isInside(Double(x) + (Double(column) + 0.5) / 16, Double(y) + (Double(row) + 0.5) / 16) {
                    count += 1
                }
            }
            var masked = pixel
            masked.w *= Double(count) / 256
            return masked
        }
        // The coverage may be off by more if the radii are as small as a pixel.
        let tolerance = most < 2 ? 0.2 : 0.06
        #expect(expected.worstDifference(of: rounded) <= tolerance * Double(input.layout.top))
    }

    @Test func aBorderLiesAlongTheEdgeAndCornersStayClear() throws {
        let image = try Input(size: PixelSize(200, 120), layout: .rgba8, alpha: .opaque).image()
        let blue = RGBAColor(red: 0, green: 0, blue: 255)
        let made = try image.transformed(by: [.roundCorners(50, border: 3, borderColor: blue)])
        #expect(made.pixels.pixel(0, 0)[3] == 0 && made.pixels.pixel(199, 119)[3] == 0)
        for (x, y) in [(100, 0), (100, 2), (0, 60), (199, 60), (100, 119)] {
            #expect(made.pixels.pixel(x, y) == [0, 0, 255, 255])
        }
        #expect(made.pixels.pixel(100, 3) == image.pixels.pixel(100, 3))
        #expect(made.pixels.pixel(3, 60) == image.pixels.pixel(3, 60))
        // In the corner the border follows the circle, at a distance of 50 - 1.5 from the circle's middle.
        let place = Int(50 - 48.5 / 2.0.squareRoot())
        #expect(made.pixels.pixel(place, place) == [0, 0, 255, 255])
    }

    @Test(arguments: Input.all) func aVignetteMixesByTheDistanceFromTheMiddle(_ input: Input) throws {
        let image = try input.image()
        let red = RGBAColor(red: 255, green: 0, blue: 0)
        let made = try image.transformed(by: [.vignette(strength: 0.8, start: 0.25, color: red)])
        let expected = Blackboard(image).mapped { pixel, x, y in
            let across = 2 * (Double(x) + 0.5) / Double(input.size.width) - 1
            let down = 2 * (Double(y) + 0.5) / Double(input.size.height) - 1
            let distance = ((across * across + down * down) / 2).squareRoot()
            let t = min(max((distance - 0.25) / 0.75, 0), 1)
            let amount = t * t * (3 - 2 * t) * 0.8
            var mixed = pixel + (Blackboard.color(red) - pixel) * amount
            mixed.w = pixel.w
            return mixed
        }
        #expect(expected.worstDifference(of: made) <= input.allowed())
    }
}
