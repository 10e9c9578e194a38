import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct ImageColorsTests {
    private static let red = [220, 30, 20, 255]
    private static let blue = [10, 40, 200, 255]

    private func image(
        _ pixels: [[Int]], alpha: AlphaMode = .straight, width: Int? = nil, layout: PixelLayout = .rgba8
    ) throws -> Image {
        let width = width ?? pixels.count
        let scale = layout == .rgba8 ? 1 : 257
        let buffer = try PixelBuffer.make(
            PixelSize(width, pixels.count / width), layout, pixels.joined().map { $0 * scale })
        return Image(pixels: buffer, info: Image.Info(alpha: alpha))
    }

    @Test func aPictureOfOneColourHasOnlyThatColour() throws {
        let colors = try ImageColors(of: try PlaceholderPicture.image("flat", 1, 1))
        let color = RGBColor(red: 200, green: 100, blue: 50)
        #expect(colors.average == color && colors.dominant == color)
        #expect(colors.palette.map(\.color) == [color] && colors.palette.first?.share == 1)
    }

    @Test func sharesAreCountedAndTheLargestIsFirst() throws {
        let pixels = (0..<90).map { $0 % 3 == 0 ? Self.blue : Self.red }
        for layout in [PixelLayout.rgba8, .rgba16] {
            let colors = try ImageColors(of: try image(pixels, alpha: .opaque, width: 9, layout: layout))
            #expect(
                colors.palette.map(\.color) == [
                    RGBColor(red: 220, green: 30, blue: 20), RGBColor(red: 10, green: 40, blue: 200),
                ])
            #expect(colors.palette.map { ($0.share * 3).rounded() } == [2, 1])
            #expect(colors.dominant == RGBColor(red: 220, green: 30, blue: 20))
            #expect(colors.average == RGBColor(red: 150, green: 33, blue: 80))
        }
    }

    @Test func transparentPixelsDoNotCount() throws {
        let hidden = [0, 255, 0, 0]
        let colors = try ImageColors(of: try image([hidden, hidden, hidden, Self.red]))
        #expect(colors.average == RGBColor(red: 220, green: 30, blue: 20) && colors.palette.count == 1)
        let none = try ImageColors(of: try image([hidden, hidden]))
        #expect(none.average == nil && none.dominant == nil && none.palette.isEmpty)
    }

    @Test func halfTransparentCountsHalf() throws {
        let faint = [10, 40, 200, 51]
        let colors = try ImageColors(of: try image([Self.red, faint, faint]))
        #expect(colors.palette.map { ($0.share * 7).rounded(.toNearestOrEven) } == [5, 2])
        // (220 * 255 + 2 * 10 * 51) / (255 + 2 * 51)
        #expect(colors.average == RGBColor(red: 160, green: 33, blue: 71))
        let premultiplied = try image([Self.red, faint, faint]).with(alpha: .premultiplied)
        let same = try ImageColors(of: premultiplied)
        #expect(same.palette.count == 2 && same.average?.red == 160)
    }

    @Test func theAverageIsTheMeanOfStoredValues() throws {
        let picture = try PlaceholderPicture.image("hills", 50, 40)
        let channels = picture.pixels.channels
        let means = (0..<3).map { channel in
            let sum = stride(from: channel, to: channels.count, by: 4).reduce(0) { $0 + channels[$1] }
            return UInt8((Double(sum) / 2000).rounded())
        }
        #expect(try ImageColors(of: picture).average == RGBColor(red: means[0], green: means[1], blue: means[2]))
    }

    @Test(arguments: [(-3, 1), (0, 1), (1, 1), (4, 4), (9, 9), (1000, 64)])
    func thePaletteHasTheRequestedNumberOfColoursUpTo64(count: Int, found: Int) throws {
        let picture = try PlaceholderPicture.image("hills", 60, 50)
        let colors = try ImageColors(of: picture, count: count)
        #expect(colors.palette.count == found)
        #expect(abs(colors.palette.reduce(0) { $0 + $1.share } - 1) < 1e-9)
        #expect(zip(colors.palette, colors.palette.dropFirst()).allSatisfy { $0.share >= $1.share })
        #expect(try ImageColors(of: picture, count: count) == colors)
        #expect(try ImageColors(of: picture).dominant == colors.dominant)
    }

    @Test func coloursThatLookTheSameAreOne() throws {
        var random = SeededGenerator(seed: 43)
        let noisy = (0..<400).map { _ in Self.red.map { min(255, $0 + Int.random(in: 0...6, using: &random)) } }
        let colors = try ImageColors(of: try image(noisy, alpha: .opaque, width: 20))
        #expect(colors.palette.count == 1)
    }

    /// The picture has three hues with noise. The palette has one colour near the middle of each.
    @Test func eachHueOfAPictureIsInItsPalette() throws {
        var random = SeededGenerator(seed: 44)
        let hues = [[200, 60, 50], [40, 150, 70], [60, 80, 190]]
        let pixels = (0..<900).map { index in
            hues[index / 150 % 3].map { $0 + Int.random(in: -25...25, using: &random) } + [255]
        }
        let palette = try ImageColors(of: try image(pixels, alpha: .opaque, width: 30), count: 3).palette
        #expect(palette.count == 3)
        for hue in hues {
            let found = palette.contains { swatch in
                let color = [swatch.color.red, swatch.color.green, swatch.color.blue].map { Int($0) }
                return zip(color, hue).allSatisfy { abs($0 - $1) <= 8 } && abs(swatch.share - 1.0 / 3) < 0.02
            }
            #expect(found, "\(hue) in \(palette)")
        }
    }

    @Test func coloursAreThoseOfSRGB() throws {
        let gray = try image([[188, 188, 188, 255]], alpha: .opaque)
        // Transfer 8 is linear: its values are light. Half of the light is 188 in sRGB.
        let linear = try image([[128, 128, 128, 255]], alpha: .opaque).with {
            $0.colorDescription = ColorDescription(primaries: 1, transfer: 8)
        }
        let (expected, found) = (try ImageColors(of: gray).average, try ImageColors(of: linear).average)
        #expect(abs(Int(expected?.red ?? 0) - Int(found?.red ?? 0)) <= 1)
        #expect(try BlurHash(of: linear).averageColor == found)
    }
}
