import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct BlurHashTests {
    @Test(arguments: PlaceholderGoldens.blurTexts.indices)
    func theTextIsThatOfTheReference(index: Int) throws {
        let (kind, width, height, x, y, text) = PlaceholderGoldens.blurTexts[index]
        let hash = try BlurHash(of: try PlaceholderPicture.image(kind, width, height), components: (x: x, y: y))
        #expect(hash.text == text, "\(kind) \(width)x\(height)")
        #expect(hash.components == (x, y))
    }

    @Test(arguments: PlaceholderGoldens.blurPixels.indices)
    func thePixelsAreThoseOfTheReference(index: Int) throws {
        let (text, width, height, punch, pixels) = PlaceholderGoldens.blurPixels[index]
        let image = try BlurHash(text).image(width: width, height: height, punch: Double(punch))
        let bytes = image.withPixels { Array($0) }
        let colors = bytes.enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
        #expect(PlaceholderGoldens.hexadecimal(colors) == pixels)
        #expect(image.alpha == .opaque && image.pixels.isOpaque)
    }

    @Test func aTextComesBackAsItWas() throws {
        for (_, _, _, _, _, text) in PlaceholderGoldens.blurTexts {
            let hash = try BlurHash(text)
            #expect(hash.text == text && hash.description == text)
            let json = try JSONEncoder().encode([hash])
            #expect(try JSONDecoder().decode([BlurHash].self, from: json) == [hash])
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([BlurHash].self, from: Array("[\"no\"]".utf8).data)
        }
    }

    @Test(arguments: [
        ("", "does not begin"), ("~1234567", "does not begin"), ("L9HeRpmpZRrEQ_MfEMNE*%1GwIF", "should have 28"),
        ("L9HeRpmpZRrEQ_MfEMNE*%1GwIFoo", "should have 28"), ("00M|T", "should have 6"),
        ("00M|T\u{0}", "character at 5"),
        ("00M|é", "character at 4"), ("00M|T\"", "character at 5"), (String(repeating: "0", count: 200), "200 bytes"),
        (String(repeating: "\u{1F600}", count: 1_000_000), "4000000 bytes"),
    ])
    func anInvalidTextIsRefusedWithAReason(text: String, reason: String) {
        let error = #expect(throws: WebImageError.self) { try BlurHash(text) }
        #expect(error?.code == .badImageData && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// Texts with valid letters and length may encode impossible values, such as an average brighter than white.
    @Test func anyTextIsDrawnOrRefused() throws {
        var random = SeededGenerator(seed: 41)
        let letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".map { $0 }
        var drawn = 0
        for round in 0..<600 {
            let (x, y) = (Int.random(in: 1...9, using: &random), Int.random(in: 1...9, using: &random))
            var text = [letters[x - 1 + (y - 1) * 9]]
            for _ in 1..<4 + 2 * x * y { text.append(letters.randomElement(using: &random) ?? "0") }
            if round % 3 == 0 { text[Int.random(in: 0..<text.count, using: &random)] = "\u{FF}" }
            guard let hash = try? BlurHash(String(text)) else { continue }
            drawn += 1
            #expect(hash.text == String(text))
            _ = hash.averageColor
            let punches: [Double] = [0, 1, 1e30, 1e300]
            let punch = punches.randomElement(using: &random) ?? 1
            let image = try hash.image(width: 3, height: 2, punch: punch)
            #expect(image.size == PixelSize(3, 2))
        }
        #expect(drawn >= 400)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if let hash = try? BlurHash(String(decoding: bytes, as: UTF8.self)) { _ = hash.averageColor }
        }
    }

    @Test func anImpossibleSizeContrastOrCountIsAnError() throws {
        let hash = try BlurHash("00M|T9")
        for (width, height) in [(0, 5), (5, -1), (.max, .max), (2000, 2000), (1 << 21, 1)] {
            let error = #expect(throws: WebImageError.self) { try hash.image(width: width, height: height) }
            #expect(error?.code == .limitExceeded)
        }
        for punch in [-1, Double.nan, .infinity] {
            let error = #expect(throws: WebImageError.self) { try hash.image(width: 1, height: 1, punch: punch) }
            #expect(error?.code == .transformFailed)
        }
        let image = try PlaceholderPicture.image("flat", 4, 4)
        for components in [(0, 3), (10, 3), (4, 0), (4, 10), (.min, .max)] {
            let error = #expect(throws: WebImageError.self) {
                try BlurHash(of: image, components: (x: components.0, y: components.1))
            }
            #expect(error?.code == .transformFailed)
        }
    }

    @Test(arguments: Orientation.allCases)
    func aPictureToBeTurnedHasTheHashOfTheTurnedOne(orientation: Orientation) throws {
        let image = try PlaceholderPicture.image("hills", 20, 13).with { $0.orientation = orientation }
        #expect(try BlurHash(of: image) == BlurHash(of: image.upright()))
    }

    @Test func depthAndTheMeaningOfAlphaMakeNoDifference() throws {
        let image = try PlaceholderPicture.image("hills", 40, 37)
        let hash = try BlurHash(of: image)
        for alpha in [AlphaMode.opaque, .straight, .premultiplied] {
            let deep = Image(pixels: try image.pixels.widened(), info: Image.Info(alpha: alpha))
            #expect(try BlurHash(of: deep) == hash)
            #expect(try BlurHash(of: Image(pixels: image.pixels, info: Image.Info(alpha: alpha))) == hash)
        }
    }

    @Test func transparentPixelsShowTheBackground() throws {
        let clear = try PlaceholderPicture.image("clear", 6, 5)
        #expect(try BlurHash(of: clear).averageColor == .white)
        let green = RGBColor(red: 10, green: 200, blue: 30)
        #expect(try BlurHash(of: clear, background: green).averageColor == green)
        let translucent = try PlaceholderPicture.image("translucent", 21, 40)
        let flat = try translucent.flattened(onto: green)
        #expect(try BlurHash(of: translucent, background: green) == BlurHash(of: flat))
        let premultiplied = try translucent.with(alpha: .premultiplied)
        #expect(
            try BlurHash(of: premultiplied, background: green) == BlurHash(of: premultiplied.flattened(onto: green)))
    }

    @Test func theAverageIsThatOfLight() throws {
        #expect(
            try BlurHash(of: try PlaceholderPicture.image("flat", 9, 9)).averageColor
                == RGBColor(red: 200, green: 100, blue: 50))
        // The average has half of the light of white, not half of its stored value.
        let checker = try BlurHash(of: try PlaceholderPicture.image("checker", 12, 12), components: (x: 1, y: 1))
        #expect(checker.averageColor == RGBColor(red: 188, green: 188, blue: 188))
        #expect(
            try checker.image(width: 2, height: 1).withPixels { Array($0) } == [188, 188, 188, 255, 188, 188, 188, 255])
    }

    /// The reference sums light in 32-bit floats, which are too coarse for so many pixels: it gives another gray.
    @Test func aVeryLargePictureKeepsItsColour() throws {
        let gray = Image(
            pixels: try PixelBuffer(size: PixelSize(4100, 4100)), info: Image.Info(alpha: .opaque))
        gray.pixels.mutableBytes.initializeMemory(as: UInt8.self, repeating: 128)
        let hash = try BlurHash(of: gray, components: (x: 1, y: 1))
        #expect(hash.averageColor == RGBColor(red: 128, green: 128, blue: 128))
    }

    @Test func aSideThatNoTableCanHoldIsRefused() throws {
        let line = Image(pixels: try PixelBuffer(size: PixelSize(1 << 20 + 1, 1)), info: Image.Info(alpha: .opaque))
        let error = #expect(throws: WebImageError.self) { try BlurHash(of: line) }
        #expect(error?.code == .limitExceeded)
    }
}

extension [UInt8] {
    fileprivate var data: Data { Data(self) }
}
