import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct ThumbHashTests {
    @Test(arguments: PlaceholderGoldens.thumbs.indices)
    func theBytesAreThoseOfTheReference(index: Int) throws {
        let (kind, width, height, bytes) = PlaceholderGoldens.thumbs[index]
        let hash = try ThumbHash(of: try PlaceholderPicture.image(kind, width, height))
        #expect(PlaceholderGoldens.hexadecimal(hash.bytes) == bytes, "\(kind) \(width)x\(height)")
        #expect(try ThumbHash(bytes: hash.bytes) == hash)
    }

    /// Half of five waves is three in the original, which rounds halves up, and two in thumbhash-python, which rounds
    /// halves to even.
    @Test func halfAWaveIsRoundedUpAsInTheOriginal() throws {
        let hash = try ThumbHash(of: try PlaceholderPicture.image("translucent", 40, 80))
        #expect(PlaceholderGoldens.hexadecimal(hash.bytes) == "1c098203000732834535071082d3fbcb737096a7587784")
        #expect(hash.aspectRatio == 0.6)
    }

    @Test(arguments: PlaceholderGoldens.thumbDrawings.indices)
    func thePixelsAreThoseOfTheOriginal(index: Int) throws {
        let (bytes, width, height, sum) = PlaceholderGoldens.thumbDrawings[index]
        let hash = try ThumbHash(bytes: PlaceholderGoldens.bytes(bytes))
        let image = try hash.image()
        #expect(image.size == PixelSize(width, height))
        #expect(image.alpha == (hash.hasAlpha ? .straight : .opaque))
        #expect(image.withPixels { PlaceholderGoldens.sum($0) } == sum)
        #expect(hash.hasAlpha || image.pixels.isOpaque)
    }

    @Test func averageOpacityAndShapeAreToldWithoutDrawing() throws {
        let hills = try ThumbHash(bytes: PlaceholderGoldens.bytes("df07020e84320246515381053663944675735470b79cfb"))
        #expect(hills.averageColor == RGBColor(red: 126, green: 122, blue: 128) && hills.averageOpacity == 1)
        #expect(hills.aspectRatio == 7.0 / 6 && !hills.hasAlpha)
        let clear = try ThumbHash(of: try PlaceholderPicture.image("clear", 4, 4))
        #expect(clear.hasAlpha && clear.averageOpacity == 0 && clear.aspectRatio == 1)
        #expect(try clear.image().pixels.channels.allSatisfy { $0 <= 4 })
    }

    @Test func base64IsReadAndWritten() throws {
        for (_, _, _, bytes) in PlaceholderGoldens.thumbs {
            let hash = try ThumbHash(bytes: PlaceholderGoldens.bytes(bytes))
            #expect(try ThumbHash(base64: hash.base64) == hash && hash.description == hash.base64)
            let bare = hash.base64.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            #expect(try ThumbHash(base64: String(bare)) == hash)
        }
        #expect(
            try ThumbHash(bytes: PlaceholderGoldens.bytes("97a63251a87777778888088888877f8708")).base64
                == "l6YyUah3d3eIiAiIiId/hwg=")
    }

    @Test(arguments: [
        "", "0", "0000", "00000000", "df07020e8432024651538105366394467573547", "dg",
        "df07000e84320246515381053663944675",
        "df07020e84320246515381053663944675735470b79cfb00", "1c19820c82",
    ])
    func invalidBytesAreRefused(hexadecimal: String) throws {
        let error = #expect(throws: WebImageError.self) {
            try ThumbHash(bytes: PlaceholderGoldens.bytes(hexadecimal.count % 2 == 0 ? hexadecimal : hexadecimal + "0"))
        }
        #expect(error?.code == .badImageData)
    }

    @Test(arguments: ["", "!", "3OcRJYB4d3h/iIeHeEh3eIhw+j2", "é", String(repeating: "A", count: 1_000_000)])
    func invalidTextsAreRefused(text: String) {
        let error = #expect(throws: WebImageError.self) { try ThumbHash(base64: text) }
        #expect(error?.code == .badImageData)
    }

    @Test func anyBytesAreDrawnOrRefused() throws {
        var random = SeededGenerator(seed: 42)
        var drawn = 0
        for _ in 0..<3000 {
            var bytes = (0..<Int.random(in: 0...27, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 5, Bool.random(using: &random) { bytes[2] &= 127 }
            guard let hash = try? ThumbHash(bytes: bytes) else { continue }
            drawn += 1
            let image = try hash.image()
            #expect(max(image.size.width, image.size.height) == 32 && min(image.size.width, image.size.height) >= 5)
            #expect(hash.aspectRatio.isFinite && (0...1).contains(hash.averageOpacity))
            _ = hash.averageColor
        }
        #expect(drawn >= 20, "\(drawn)")
    }

    @Test(arguments: Orientation.allCases)
    func aPictureToBeTurnedHasTheHashOfTheTurnedOne(orientation: Orientation) throws {
        let image = try PlaceholderPicture.image("translucent", 20, 13).with { $0.orientation = orientation }
        #expect(try ThumbHash(of: image) == ThumbHash(of: image.upright()))
    }

    @Test func aLargePictureIsScaledFirst() throws {
        let image = try PlaceholderPicture.image("hills", 240, 90)
        let small = try image.resized(to: TargetSize(width: 100, height: 100))
        #expect(try ThumbHash(of: image) == ThumbHash(of: small))
        let line = try ThumbHash(of: try PlaceholderPicture.image("hills", 400, 1))
        #expect(line.aspectRatio == 7)
    }

    @Test func depthAndTheMeaningOfAlphaMakeNoDifference() throws {
        let image = try PlaceholderPicture.image("translucent", 30, 20)
        let hash = try ThumbHash(of: image)
        #expect(try ThumbHash(of: Image(pixels: try image.pixels.widened(), info: image.info)) == hash)
        let premultiplied = try image.with(alpha: .premultiplied)
        #expect(try ThumbHash(of: premultiplied) == ThumbHash(of: premultiplied.with(alpha: .straight)))
        let opaque = try PlaceholderPicture.image("hills", 30, 20)
        for alpha in [AlphaMode.straight, .premultiplied] {
            let same = Image(pixels: opaque.pixels, info: Image.Info(alpha: alpha))
            #expect(try ThumbHash(of: same) == ThumbHash(of: opaque))
        }
    }
}
