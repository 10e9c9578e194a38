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

/// Transforms that depend on pixels, draw pictures, look colours up, or call closures.
@Suite struct TransformKindTests {
    private func image(_ size: PixelSize, alpha: AlphaMode = .opaque, _ pixel: (Int, Int) -> [Int]) throws -> Image {
        let channels = (0..<size.width * size.height).flatMap { pixel($0 % size.width, $0 / size.width) }
        return Image(pixels: try PixelBuffer.make(size, channels), info: Image.Info(alpha: alpha))
    }

    // MARK: trim

    @Test func marginsOfOneColourAreCutOff() throws {
        let image = try image(PixelSize(40, 30)) { x, y in
            (8..<20).contains(x) && (5..<25).contains(y) ? [200, 30, 10, 255] : [250, 250, 250, 255]
        }
        // A median filter of three by three removes the four corners of the rectangle, which changes no side.
        #expect(try image.transformed(by: [.trim()]).size == PixelSize(12, 20))
        #expect(try image.transformed(by: [.trim(equalHorizontally: true)]).size == PixelSize(24, 20))
        #expect(try image.transformed(by: [.trim(equalVertically: true)]).size == PixelSize(12, 20))
        #expect(try image.transformed(by: [.trim(threshold: 255)]).size == PixelSize(40, 30))
        #expect(try image.transformed(by: [.trim(color: .black)]).size == PixelSize(40, 30))
        // The transforms after a trim use the size that the trim has found.
        let chain: [ImageTransform] = [.trim(), .resize(width: 6), .pad(1)]
        #expect(try image.transformed(by: chain).size == PixelSize(8, 12))
    }

    @Test func aSinglePixelIsNoPartOfThePictureAndNothingButMarginStays() throws {
        let dot = try image(PixelSize(20, 20)) { x, y in x == 10 && y == 10 ? [0, 0, 0, 255] : [255, 255, 255, 255] }
        #expect(try dot.transformed(by: [.trim()]).size == PixelSize(20, 20))
        let clear = try image(PixelSize(20, 10), alpha: .straight) { x, _ in
            x < 6 ? [0, 0, 0, 0] : [9, 9, 9, 255]
        }
        #expect(try clear.transformed(by: [.trim()]).size == PixelSize(14, 10))
        let one = try image(PixelSize(1, 1)) { _, _ in [3, 3, 3, 255] }
        #expect(try one.transformed(by: [.trim()]).size == PixelSize(1, 1))
    }

    // MARK: smart crops

    @Test func aSmartCropKeepsSkinTonesAndEdges() throws {
        // Skin tones and hard edges on the right, and only gray elsewhere.
        let image = try image(PixelSize(320, 100)) { x, y in
            (240..<290).contains(x) && (20..<80).contains(y)
                ? ((x / 8 + y / 8) % 2 == 0 ? [224, 172, 140, 255] : [120, 60, 40, 255]) : [90, 90, 92, 255]
        }
        let kept = try image.transformed(by: [.crop(width: 100, height: 100, at: .smart)])
        #expect(kept.size == PixelSize(100, 100))
        let skin = (0..<100 * 100).count { kept.pixels.pixel($0 % 100, $0 / 100)[0] > 110 }
        #expect(skin > 45 * 60)
        let covered = try image.transformed(by: [.resize(width: 50, height: 50, fit: .cover, at: .smart)])
        #expect(covered.size == PixelSize(50, 50))
        let warm = (0..<50 * 50).count { covered.pixels.pixel($0 % 50, $0 / 50)[0] > 110 }
        #expect(warm > 22 * 30)
    }

    // MARK: look-up

    @Test func aCubeLooksColoursUp() throws {
        let text = """
            TITLE "swap"
            # red and blue change places
            LUT_3D_SIZE 2
            DOMAIN_MIN 0.0 0.0 0.0
            DOMAIN_MAX 1.0 1.0 1.0

            0 0 0
            0 0 1
            0 1 0
            0 1 1
            1 0 0
            1 0 1
            1 1 0
            1 1 1
            """
        let cube = try ColorCube(text: text)
        // The same text with a byte order mark and the line ends of Windows.
        #expect(try ColorCube(text: "\u{FEFF}" + text.replacing("\n", with: "\r\n")) == cube)
        let image = try image(PixelSize(150, 3)) { x, y in [x, 2 * x % 256, 7 * y, 255] }
        let made = try image.transformed(by: [.lookup(cube)])
        for x in 0..<150 { #expect(made.pixels.pixel(x, 1) == [7, 2 * x % 256, x, 255]) }
        #expect(try image.transformed(by: [.lookup(cube, amount: 0)]).pixels.channels == image.pixels.channels)
        let curves = try ColorCube(text: "LUT_1D_SIZE 3\n0 0 0\n0.25 0.5 1\n1 1 1")
        let bent = try image.transformed(by: [.lookup(curves)])
        for x in 0..<100 {
            let expected = [Double(x) / 2, Double(2 * x % 256), 14.0]
            for part in 0..<3 { #expect(abs(Double(bent.pixels.pixel(x, 1)[part]) - expected[part]) <= 2.5) }
        }
    }

    /// A steep curve. A cube of 65 colours a side was once used for it and was off by 10 levels.
    @Test func curvesAreAsFineAsTheirPoints() throws {
        func text(_ power: Double) -> String {
            (0..<256).reduce(into: "LUT_1D_SIZE 256") { text, index in
                let value = pow(Double(index) / 255, power)
                text += "\n\(value) \(1 - value) \(index == 100 ? 1 : 0)"
            }
        }
        let curves = try ColorCube(text: text(1 / 2.2))
        let ramp = try image(PixelSize(256, 1)) { x, _ in [x, x, x, 255] }
        let made = try ramp.transformed(by: [.lookup(curves)])
        for x in 0..<256 {
            let value = (255 * pow(Double(x) / 255, 1 / 2.2)).rounded()
            #expect(made.pixels.pixel(x, 0) == [Int(value), 255 - Int(value), x == 100 ? 255 : 0, 255])
        }
        #expect(ImageTransform.lookup(curves) != .lookup(try ColorCube(text: text(1 / 2.3))))
        // A one-dimensional table differs from a cube with the same numbers.
        let cube = try ColorCube(side: 2) { $0 }
        let rows = "\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1"
        #expect(ImageTransform.lookup(try ColorCube(text: "LUT_1D_SIZE 8" + rows)) != .lookup(cube))
        #expect(ImageTransform.lookup(try ColorCube(text: "LUT_3D_SIZE 2" + rows)) == .lookup(cube))
    }

    /// Between the corners of a cell, values are interpolated within a tetrahedron, which is exact for linear changes.
    @Test func aCubeOfAnyLinearChangeIsExact() throws {
        let cube = try ColorCube(side: 9) { SIMD3($0.x * 0.5 + $0.y * 0.2, $0.z * 0.7 + 0.1, 1 - $0.y) }
        let input = TransformReferenceTests.Input(size: PixelSize(200, 7), layout: .rgba16, alpha: .straight)
        let image = try input.image()
        let made = try image.transformed(by: [.lookup(cube)])
        let expected = Blackboard(image).mapped { p, _, _ in [p.x * 0.5 + p.y * 0.2, p.z * 0.7 + 0.1, 1 - p.y, p.w] }
        #expect(expected.worstDifference(of: made) <= 4)
    }

    @Test(arguments: [
        "", "LUT_3D_SIZE 1\n0 0 0", "LUT_3D_SIZE 2\n0 0 0", "LUT_3D_SIZE 200", "0 0 0", "LUT_3D_SIZE x",
        "LUT_3D_SIZE 2\nLUT_3D_SIZE 2", "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1", "LUT_1D_SIZE 2\n0 0 0\nnan 1 1",
        "LUT_1D_SIZE 2\n0 0\n1 1 1", "LUT_1D_SIZE 2\n0 0 0 0\n1 1 1", "hello",
        "LUT_1D_SIZE 2\nDOMAIN_MAX 2 2 2\n0 0 0\n1 1 1",
    ])
    func invalidCubesAreRefused(text: String) {
        #expect(throws: WebImageError.self) { try ColorCube(text: text) }
    }

    // MARK: watermark

    @Test func aMarkLiesWhereItIsPutAndIsCutAtTheEdges() throws {
        let gray = try image(PixelSize(300, 200)) { _, _ in [100, 100, 100, 255] }
        let mark = try image(PixelSize(150, 50), alpha: .straight) { x, _ in x < 140 ? [200, 0, 0, 255] : [0, 0, 0, 0] }
        let made = try gray.transformed(by: [.watermark(mark, at: .bottomRight, offset: (10, 20), opacity: 0.5)])
        #expect(made.alpha == .opaque)
        #expect(made.pixels.pixel(139, 150) == [100, 100, 100, 255])
        #expect(made.pixels.pixel(140, 130) == [150, 50, 50, 255])
        #expect(made.pixels.pixel(279, 179) == [150, 50, 50, 255])
        #expect(made.pixels.pixel(280, 179) == [100, 100, 100, 255])
        #expect(made.pixels.pixel(200, 180) == [100, 100, 100, 255])
        let beyond = try gray.transformed(by: [.watermark(mark, at: .topLeft, offset: (-100, -40))])
        #expect(beyond.pixels.pixel(39, 9) == [200, 0, 0, 255] && beyond.pixels.pixel(40, 9) == [100, 100, 100, 255])
        let scaled = try gray.transformed(by: [.watermark(mark, at: .topLeft, scale: 0.1)])
        #expect(scaled.pixels.pixel(20, 5) == [200, 0, 0, 255] && scaled.pixels.pixel(31, 5) == [100, 100, 100, 255])
        let tiled = try gray.transformed(by: [.watermark(mark, offset: (10, 30), tiles: true)])
        for (x, y) in [(0, 0), (160, 0), (0, 80), (299, 129)] { #expect(tiled.pixels.pixel(x, y) == [200, 0, 0, 255]) }
        for (x, y) in [(145, 0), (0, 60), (155, 90)] { #expect(tiled.pixels.pixel(x, y) == [100, 100, 100, 255]) }
    }

    // MARK: closures

    @Test func closuresGetPixelsNeighboursOrThePicture() throws {
        let input = TransformReferenceTests.Input(size: PixelSize(200, 9), layout: .rgba8, alpha: .straight)
        let image = try input.image()
        let swapped = try image.transformed(by: [
            .customPixels(id: "swap") { stretch in
                for index in 0..<stretch.count {
                    let pixel = stretch[index]
                    stretch[index] = SIMD4(pixel.z, pixel.y, pixel.x, pixel.w)
                }
            }
        ])
        let board = Blackboard(image)
        #expect(board.mapped { p, _, _ in [p.z, p.y, p.x, p.w] }.worstDifference(of: swapped) <= 1)
        let spread = try image.transformed(by: [
            .gray(0),
            .customNeighbors(id: "cross/2", reach: 2) { near in
                (near[-2, 0] + near[2, 0] + near[0, -2] + near[0, 2]) / 4
            }, .gray(0),
        ])
        let expected = board.made(image.size) { x, y in
            (board.pixel(x - 2, y) + board.pixel(x + 2, y) + board.pixel(x, y - 2) + board.pixel(x, y + 2)) / 4
        }
        #expect(expected.worstDifference(of: spread) <= 1)
        let cut = try image.transformed(by: [
            .blur(sigma: 1),
            .custom(id: "upper half") { image throws(WebImageError) in
                try image.transformed(by: [.crop(width: 200, height: 4, at: .top)])
            }, .resize(width: 20, height: 4, fit: .fill),
        ])
        #expect(cut.size == PixelSize(20, 4) && cut.layout == .rgba8)
    }

    /// Values beyond 1 reached the next step of the same pass, so that the result depended on how steps were combined.
    @Test func closuresGiveValuesFromZeroToOne() throws {
        let gray = try image(PixelSize(4, 4)) { _, _ in [99, 99, 99, 255] }
        let bright = ImageTransform.customPixels(id: "bright") { stretch in
            for index in 0..<stretch.count { stretch[index] = SIMD4(2, 2, 2, 1) }
        }
        let made = try gray.transformed(by: [bright, .brightness(-0.5)])
        #expect(Set(made.pixels.channels) == [128, 255] || Set(made.pixels.channels) == [127, 255])
    }

    @Test func aVignetteOfATransparentColourChangesNothing() throws {
        let gray = try image(PixelSize(9, 9)) { _, _ in [99, 99, 99, 255] }
        let clear = RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)
        let made = try gray.transformed(by: [.vignette(strength: 1, start: 0, color: clear)])
        #expect(made.pixels.channels == gray.pixels.channels)
    }

    /// The colours were limited to the closure's alpha, which does not count.
    @Test func aClosuresAlphaDoesNotChangeOpaquePictures() throws {
        let opaque = try image(PixelSize(8, 8)) { x, y in [x * 30, y * 30, 99, 255] }
        let made = try opaque.transformed(by: [
            .customNeighbors(id: "clear", reach: 1) { SIMD4($0[0, 0].x, $0[0, 0].y, $0[0, 0].z, 0.25) }
        ])
        #expect(made.pixels.channels == opaque.pixels.channels)
    }

    /// Closures may return infinite values and values that are not numbers.
    @Test func infiniteAndNaNPixelsDoNotTrap() throws {
        let image = try image(PixelSize(8, 8)) { x, _ in [x * 30, 1, 2, x < 4 ? 0 : 255] }
        let odd: [ImageTransform] = [
            .customPixels(id: "odd") { stretch in
                for index in 0..<stretch.count {
                    let pixel = stretch[index]
                    stretch[index] = SIMD4(pixel.x / 0, pixel.y / (pixel.w - pixel.w), -pixel.z / 0, pixel.w)
                }
            },
            .customNeighbors(id: "odd", reach: 1) { near in near[-1, 0] / (near[1, 0] - near[1, 0]) },
        ]
        let cube = try ColorCube(text: "LUT_3D_SIZE 2\n" + String(repeating: "0 0 0\n1 1 1\n", count: 4))
        // What is no number becomes 0, and what is infinite the largest or smallest value.
        let expected: [(Int) -> [Int]] = [{ [$0 > 0 ? 255 : 0, 255, 0, 255] }, { [$0 > 1 ? 255 : 0, 255, 255, 255] }]
        for (change, pixel) in zip(odd, expected) {
            let made = try image.transformed(by: [change])
            #expect(made.pixels.channels == (0..<64).flatMap { pixel($0 % 8) })
            for next in [ImageTransform.sharpenLightness(sigma: 1), .lookup(cube), .blur(sigma: 2), .gray()] {
                let both = try image.transformed(by: [change, next])
                let apart = Blackboard(try made.transformed(by: [next]))
                #expect(apart.worstDifference(of: both) <= 1, "\(next)")
            }
        }
    }

    /// Transforms that give different pixels are not equal.
    @Test func transformsThatDifferInOrientationOrOpacityAreNotEqual() throws {
        let mark = try image(PixelSize(3, 3)) { x, y in [x * 80, y * 80, 0, 255] }
        var info = mark.info
        info.orientation = .right
        let turned = Image(pixels: mark.pixels, info: info)
        #expect(ImageTransform.watermark(mark) != .watermark(turned))
        let geometry = ImgproxyGeometry()
        #expect(
            ImageTransform.imgproxyWatermark(mark, behind: geometry) != .imgproxyWatermark(turned, behind: geometry))
        #expect(ImageTransform.customPixels(id: "a") { _ in } != .customPixels(id: "a", keepsOpaque: false) { _ in })
    }

    @Test func aClosuresErrorComesThrough() throws {
        let image = try image(PixelSize(4, 4)) { _, _ in [1, 2, 3, 255] }
        let failing = ImageTransform.custom(id: "no") { _ throws(WebImageError) in
            throw WebImageError(.unsupportedFeature, "not today")
        }
        let error = #expect(throws: WebImageError.self) { try image.transformed(by: [.gray(), failing]) }
        #expect(error?.code == .unsupportedFeature)
    }

    // MARK: Metadata

    @Test func metadataAndProfilesStayAndTheOrientationIsApplied() throws {
        var info = Image.Info(alpha: .opaque, orientation: .right)
        info.metadata.exif = [1, 2, 3]
        info.iccProfile = [9]
        let image = Image(pixels: try PixelBuffer.random(PixelSize(20, 10), alpha: .opaque, seed: 1), info: info)
        let made = try image.transformed(by: [.blur(sigma: 1)])
        #expect(made.size == PixelSize(10, 20) && made.info.orientation == .up)
        #expect(made.info.metadata.exif == [1, 2, 3] && made.info.iccProfile == [9])
    }
}
