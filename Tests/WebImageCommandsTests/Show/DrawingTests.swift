import Foundation
import Testing
import WebImage
import WebImageCore

@testable import WebImageCommands

/// The bytes of drawings for terminals, and the pixels that a terminal shows for them.
struct DrawingTests {
    private static func image(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws -> Image {
        let values = (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
        return try Image(size: PixelSize(width: width, height: height)) { $0.copyBytes(from: values) }
    }

    /// A picture of 2x2 pixels: red and green, then blue and transparent.
    private static func four() throws -> Image {
        let values: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 0]]
        return try image(2, 2) { x, y in values[y * 2 + x] }
    }

    private static func bitmap(_ image: Image, on background: RGBColor = .black) throws -> Bitmap {
        try Bitmap(image, background: background)
    }

    private static let colors: [[UInt8]?] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], nil]

    @Test func fourPixelsAsHalfBlocks() throws {
        let bytes = BlockDrawing.bytes(of: try Self.bitmap(Self.four()), hasTrueColor: true)
        let wanted = "\u{1B}[38;2;255;0;0;48;2;0;0;255m\u{2580}\u{1B}[38;2;0;255;0;49m\u{2580}\u{1B}[0m\n"
        #expect(String(decoding: bytes, as: UTF8.self) == wanted)
        #expect(try DrawingReader.blocks(bytes).pixels == Self.colors)
        let few = BlockDrawing.bytes(of: try Self.bitmap(Self.four()), hasTrueColor: false)
        let fewWanted = "\u{1B}[38;5;196;48;5;21m\u{2580}\u{1B}[38;5;46;49m\u{2580}\u{1B}[0m\n"
        #expect(String(decoding: few, as: UTF8.self) == fewWanted)
    }

    @Test func fourPixelsAsSixels() throws {
        let bytes = SixelDrawing.bytes(of: try Self.bitmap(Self.four()), by: MedianCutPalette.self)
        let head = "\u{1B}P0;1;0q\"1;1;2;2#0;2;100;0;0#1;2;0;100;0#2;2;0;0;100"
        #expect(String(decoding: bytes, as: UTF8.self) == head + "#0@$#1?@$#2A\u{1B}\\\n")
        let read = try DrawingReader.sixel(bytes)
        #expect(read.width == 2 && read.height == 2 && read.pixels == Self.colors)
    }

    @Test func fourPixelsByKittysProtocol() async throws {
        let png = try Self.four().encoded(as: .png)
        let bytes = KittyDrawing.bytes(png: png, columns: nil)
        let wanted = "\u{1B}_Ga=T,f=100,q=2,m=0;\(Data(png).base64EncodedString())\u{1B}\\\n"
        #expect(String(decoding: bytes, as: UTF8.self) == wanted)
        let piece = try #require(try DrawingReader.kitty(bytes).first)
        let read = try await Image(data: Array(try #require(Data(base64Encoded: piece.data))))
        #expect(read.withPixels { Array($0) } == (try Self.four().withPixels { Array($0) }))
    }

    @Test func aLongPictureGoesToKittyInPieces() throws {
        var state = UInt32(7)
        let noise: [UInt8] = (0..<10_000).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
        let pieces = try DrawingReader.kitty(KittyDrawing.bytes(png: noise, columns: 12))
        #expect(pieces.map(\.data.utf8.count) == [4096, 4096, 4096, 13_336 - 3 * 4096])
        #expect(pieces.map(\.keys) == ["a=T,f=100,q=2,c=12,m=1", "m=1", "m=1", "m=0"])
        #expect(Data(base64Encoded: pieces.map(\.data).joined()) == Data(noise))
    }

    @Test(arguments: [(1, 1), (3, 5), (7, 6), (10, 13), (80, 24)])
    func drawingsReproduceThePixels(width: Int, height: Int) throws {
        // Sixel has colours in hundredths, which multiples of 51 survive. Every third pixel is transparent.
        let image = try Self.image(width, height) { x, y in
            [UInt8(x * 51 % 256 / 51 * 51), UInt8(y * 51 % 256 / 51 * 51), 102, (x + y) % 3 == 0 ? 0 : 255]
        }
        let bitmap = try Self.bitmap(image)
        let wanted = (0..<height).flatMap { y in
            (0..<width).map { x in bitmap.color(x, y).map { [$0.red, $0.green, $0.blue] } }
        }
        let sixel = try DrawingReader.sixel(SixelDrawing.bytes(of: bitmap, by: MedianCutPalette.self))
        #expect(sixel.pixels == wanted && sixel.width == width && sixel.height == height)
        let blocks = try DrawingReader.blocks(BlockDrawing.bytes(of: bitmap, hasTrueColor: true))
        #expect(Array(blocks.pixels.prefix(width * height)) == wanted && blocks.width == width)
        #expect(blocks.pixels.dropFirst(width * height).allSatisfy { $0 == nil })
    }

    @Test func manyColoursBecomeFewThatAreNear() throws {
        let image = try Self.image(128, 96) { x, y in [UInt8(x * 2), UInt8(y * 255 / 95), UInt8((x + y) % 256), 255] }
        let bytes = SixelDrawing.bytes(of: try Self.bitmap(image), by: MedianCutPalette.self)
        let palette = MedianCutPalette.make(for: try Self.bitmap(image), most: 256)
        #expect(palette.colors.count == 256 && Set(palette.colors).count > 240)
        let read = try DrawingReader.sixel(bytes)
        var sums = [0, 0, 0]
        for y in 0..<96 {
            for x in 0..<128 {
                let pixel = try #require(read.pixels[y * 128 + x])
                let wanted = [x * 2, y * 255 / 95, (x + y) % 256]
                for channel in 0..<3 { sums[channel] += Int(pixel[channel]) - wanted[channel] }
            }
        }
        // Dithering keeps the average colour of an area.
        #expect(sums.allSatisfy { abs($0) < 128 * 96 * 2 }, "\(sums)")
    }

    @Test func aPaletteHasNoMoreColoursThanAreAllowed() throws {
        let image = try Self.image(40, 40) { x, y in [UInt8(x * 6), UInt8(y * 6), 0, 255] }
        for most in [1, 2, 16, 255] {
            #expect(MedianCutPalette.make(for: try Self.bitmap(image), most: most).colors.count == most)
        }
        let clear = try Self.image(4, 4) { _, _ in [1, 2, 3, 0] }
        #expect(MedianCutPalette.make(for: try Self.bitmap(clear), most: 256).colors.isEmpty)
    }

    @Test func halfTransparentPixelsMixWithTheBackground() throws {
        let image = try Self.image(3, 1) { x, _ in [200, 100, 0, [128, 15, 255][x]] }
        let onBlack = try Self.bitmap(image), onWhite = try Self.bitmap(image, on: .white)
        #expect(onBlack.color(0, 0) == RGBColor(red: 100, green: 50, blue: 0))
        #expect(onWhite.color(0, 0) == RGBColor(red: 227, green: 177, blue: 127))
        #expect(onBlack.color(1, 0) == nil && onBlack.color(2, 0) == RGBColor(red: 200, green: 100, blue: 0))
    }

    @Test(arguments: [
        ([0, 0, 0], 16), ([255, 255, 255], 231), ([255, 0, 0], 196), ([128, 128, 128], 244), ([95, 135, 175], 67),
        ([9, 8, 7], 232), ([238, 238, 238], 255),
    ])
    func theNearestOf256Colours(color: [UInt8], number: Int) {
        #expect(XtermPalette.nearest(RGBColor(red: color[0], green: color[1], blue: color[2])) == number)
    }
}
