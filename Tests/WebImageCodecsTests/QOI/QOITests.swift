import Testing
import WebImageCodecs
import WebImageCore

@Suite struct QOITests {
    private let coder = QOICoder()

    private func file(_ width: UInt8, _ height: UInt8, channels: UInt8 = 4, _ chunks: [UInt8]) -> [UInt8] {
        let header: [UInt8] = [0, 0, 0, width, 0, 0, 0, height, channels, 0]
        return Array("qoif".utf8) + header + chunks + [UInt8](repeating: 0, count: 7) + [1]
    }

    @Test func everyChunkGivesThePixelsOfTheSpecification() {
        let chunks: [UInt8] = [
            0xFF, 10, 20, 30, 40,  // RGBA
            0xFE, 200, 100, 50,  // RGB keeps alpha
            0x40 | 3 << 4 | 0 << 2 | 1,  // +1, -2, -1
            0x80 | 63, 0xF << 4 | 0,  // green +31, red +31+7, blue +31-8
            0xC0 | 1,  // twice more
            12,  // the first again: 30 + 100 + 210 + 440 = 780, and 780 % 64
        ]
        let result = decode(file(7, 1, chunks), with: coder)
        let expected: [[UInt8]] = [
            [10, 20, 30, 40], [200, 100, 50, 40], [201, 98, 49, 40], [239, 129, 72, 40], [239, 129, 72, 40],
            [239, 129, 72, 40], [10, 20, 30, 40],
        ]
        #expect(result.error == nil && result.pixels == Pixels(expected.flatMap { $0 }))
    }

    @Test func channelsWrapAround() {
        // Starting from opaque black, each channel goes down by two and then up by one.
        let result = decode(file(2, 1, [0x40, 0x7F]), with: coder)
        #expect(result.pixels == Pixels([254, 254, 254, 255, 255, 255, 255, 255]))
    }

    @Test func threeChannelsAreOpaqueWhateverTheChunksSay() {
        let result = decode(file(1, 1, channels: 3, [0xFF, 1, 2, 3, 4]), with: coder)
        #expect(result.pixels == Pixels([1, 2, 3, 255]) && result.format?.alpha == .opaque)
        #expect(result.header?.hasAlpha == false)
    }

    @Test func aRunGoesOnInTheNextRows() {
        let result = decode(file(3, 20, [0xFE, 9, 8, 7, 0xC0 | 58]), with: coder)
        #expect(result.error == nil && result.rows == 20)
        #expect(result.pixels == Pixels((0..<60).flatMap { _ in [9, 8, 7, 255] as [UInt8] }))
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func anEncodedPictureDecodesToTheSamePixels(_ alpha: AlphaMode) throws {
        for image in [
            try Drawings.picture(61, 47, alpha: alpha), try Drawings.picture(300, 5, alpha: alpha),
            try Drawings.noise(33, 40, alpha: .straight),
        ] {
            let bytes = try coder.encode(image, as: .qoi, EncodeOptions())
            let result = decode(bytes, with: coder, length: randomLengths(seed: 5, most: 90))
            #expect(result.error == nil && result.wasComplete && result.pixels == image.bytes)
            #expect(result.header?.size == image.size && result.header?.hasAlpha == (image.alpha != .opaque))
        }
    }

    @Test func smoothPicturesGetSmaller() throws {
        let image = try Drawings.picture(200, 200)
        #expect(try coder.encode(image, as: .qoi, EncodeOptions()).count < 200 * 200 * 2)
    }

    @Test func orientationAndPremultipliedAlphaAreAppliedToThePixels() throws {
        let turned = try Drawings.picture(6, 4).with { $0.orientation = .right }
        #expect(decode(try coder.encode(turned, as: .qoi, EncodeOptions()), with: coder).header?.size.width == 4)
        let premultiplied = try Image(size: PixelSize(width: 1, height: 1), alpha: .premultiplied) {
            $0.copyBytes(from: [50, 100, 0, 100])
        }
        let straight = decode(try coder.encode(premultiplied, as: .qoi, EncodeOptions()), with: coder)
        #expect(straight.pixels == Pixels([128, 255, 0, 100]))
        #expect(throws: WebImageError.self) { try coder.encode(turned, as: .png, EncodeOptions()) }
    }

    @Test func damagedPicturesGiveATypedAnswer() throws {
        for (index, image) in [try Drawings.noise(20, 20), try Drawings.picture(40, 33)].enumerated() {
            let bytes = try coder.encode(image, as: .qoi, EncodeOptions())
            expectToSurviveDamage(bytes, coder, seed: UInt64(index))
        }
    }

    @Test func aCutPictureHasItsFirstRows() throws {
        let image = try Drawings.noise(30, 40)
        let bytes = try coder.encode(image, as: .qoi, EncodeOptions())
        let cut = decode(Array(bytes.prefix(bytes.count / 2)), with: coder)
        #expect(cut.error?.code == .truncatedData && (19...21).contains(cut.rows))
        #expect(cut.pixels == image.bytes.prefix(cut.rows * 120))
    }

    @Test func aHeaderIsHeldAgainstTheLimits() throws {
        let huge = Array("qoif".utf8) + [255, 255, 255, 255, 255, 255, 255, 255, 4, 0]
        #expect(decode(huge, with: coder).error?.code == .limitExceeded)
        #expect(decode(file(0, 1, []), with: coder).error?.code == .corruptData)
        #expect(decode(file(1, 1, channels: 5, []), with: coder).error?.code == .corruptData)
        let short = DecodeOptions(limits: DecodeLimits(bytes: 20))
        #expect(decode(file(1, 1, [0xC0]), with: coder, options: short).error?.code == .limitExceeded)
        #expect(try header(of: file(7, 9, []), with: coder)?.size == PixelSize(width: 7, height: 9))
    }

    @Test func aCheckpointEndsTheDecode() throws {
        let bytes = try coder.encode(Drawings.noise(20, 64), as: .qoi, EncodeOptions())
        let counter = Counter()
        let options = DecodeOptions(checkpoint: { () throws(WebImageError) in
            if counter.next() == 3 { throw .cancelled }
        })
        let result = decode(bytes, with: coder, options: options)
        #expect(result.error?.code == .cancelled && result.rows == 32)
    }
}
