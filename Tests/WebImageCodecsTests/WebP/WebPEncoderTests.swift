import Testing
import WebImageCodecs
import WebImageCore

@Suite struct WebPEncoderTests {
    @Test(arguments: [
        (AlphaMode.opaque, PixelLayout.rgba8), (.straight, .rgba8), (.opaque, .rgba16), (.straight, .rgba16),
    ])
    func aPictureComesBackNearlyTheSame(_ alpha: AlphaMode, _ layout: PixelLayout) throws {
        let result = decodeWebP(try encodeWebP(Drawings.picture(70, 50, layout: layout, alpha: alpha), quality: 95))
        let original = try Drawings.picture(70, 50, alpha: alpha).bytes
        #expect(result.error == nil && result.format?.alpha == alpha)
        #expect(result.pixels.meanDifference(to: original) < 8)
        for index in stride(from: 3, to: original.count, by: 4)
        where result.pixels.bytes[index] != original.bytes[index] {
            Issue.record("alpha at byte \(index) was \(original.bytes[index])")
        }
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func aLosslessPictureKeepsEveryPixelAlsoThoseThatCannotBeSeen(_ alpha: AlphaMode) throws {
        var noise = try Drawings.noise(70, 50, alpha: alpha)
        if alpha == .opaque { noise = try Drawings.picture(70, 50) }
        let image = noise.with { $0.orientation = .left }
        let bytes = try WebPCoder().encode(image, as: .webp, EncodeOptions(quality: 1, isLossless: true))
        let result = decodeWebP(bytes)
        #expect(result.error == nil && result.format?.alpha == alpha && result.header?.orientation == .left)
        #expect(result.pixels == image.bytes)
    }

    @Test func sixteenBitsCannotBeLossless() throws {
        let image = try Drawings.picture(8, 8, layout: .rgba16)
        let error = #expect(throws: WebImageError.self) {
            try WebPCoder().encode(image, as: .webp, EncodeOptions(isLossless: true))
        }
        #expect(error?.code == .cannotEncode)
    }

    @Test func premultipliedColoursAreWrittenStraight() throws {
        let size = PixelSize(width: 32, height: 32)
        let image = try Image(size: size, alpha: .premultiplied) { bytes in
            for index in bytes.indices { bytes[index] = [50, 25, 0, 64][index % 4] }
        }
        let result = decodeWebP(try encodeWebP(image, quality: 95))
        let pixel = result.pixels.bytes[64..<68].map { Int($0) }
        #expect(result.format?.alpha == .straight && pixel[3] == 64)
        #expect(zip(pixel, [199, 100, 0]).allSatisfy { abs($0 - $1) <= 6 }, "\(pixel)")
        #expect(image.bytes.bytes[0] == 50)
    }

    @Test func qualityIsEightyUnlessTold() throws {
        let image = try Drawings.noise(60, 60, alpha: .opaque)
        #expect(try encodeWebP(image) == encodeWebP(image, quality: 80))
        #expect(try encodeWebP(image, quality: 20).count < encodeWebP(image, quality: 80).count)
        #expect(try encodeWebP(image, quality: 0) == encodeWebP(image, quality: 1))
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func profileAndOrientationAreKept(_ alpha: AlphaMode) throws {
        let profile = EncoderTests.profile(space: "RGB ", count: 301)
        for tag in 1...8 {
            let image = try Drawings.picture(31, 22, alpha: alpha).with {
                $0.iccProfile = profile
                $0.orientation = Orientation(tag: tag)
            }
            let result = decodeWebP(try encodeWebP(image))
            #expect(result.error == nil && result.header?.size == image.size)
            #expect(result.header?.iccProfile == profile && result.header?.orientation == Orientation(tag: tag))
            #expect(result.header?.hasAlpha == (alpha == .straight))
        }
    }

    @Test func oversizedPicturesAndForeignFormatsAreRefused() throws {
        let wide = try Image(size: PixelSize(width: 16_384, height: 1)) { _ in }
        for (image, format) in [(wide, ImageFormat.webp), (try Drawings.picture(2, 2), .png)] {
            let error = #expect(throws: WebImageError.self) {
                try WebPCoder().encode(image, as: format, EncodeOptions())
            }
            #expect(error?.code == .cannotEncode)
        }
        let widest = try Image(size: PixelSize(width: 16_383, height: 1)) { _ in }
        #expect(decodeWebP(try encodeWebP(widest)).header?.size == widest.size)
    }
}
