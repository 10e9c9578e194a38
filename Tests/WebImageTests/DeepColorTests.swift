import Testing
import WebImage
import WebImageCore
import WebImageTesting

/// Colours of more than 8 bits a channel that are converted to sRGB.
@Suite struct DeepColorTests {
    private static let formats = [ImageFormat.png, .jxl, .avif].filter {
        (try? CoderRegistry.standard.encoder(for: $0)) != nil
    }

    /// When it was rounded to 8 bits before the conversion, a dark gradient in linear light kept a tenth of its levels.
    @Test(arguments: formats, [nil, 128])
    func coloursAreRoundedOnceAfterTheConversion(format: ImageFormat, width: Int?) async throws {
        // An AVIF keeps only 10 of the 16 bits, so it is written at the highest quality instead of lossless.
        let options = format == .avif ? EncodeOptions(quality: 100) : EncodeOptions(isLossless: true)
        var original = ImageRequest(data: try Self.darkGradient().encoded(as: .png), name: "original")
        (original.decoding.convertsToSRGB, original.decoding.keepsBitDepth) = (false, true)
        let bytes = try await TestBench().manager.image(for: original).image.encoded(as: format, options)
        func image(keepsBitDepth: Bool) async throws -> Image {
            var request = ImageRequest(data: bytes, name: "gradient")
            request.size = width.map { TargetSize(width: $0) }
            request.decoding.keepsBitDepth = keepsBitDepth
            return try await TestBench().manager.image(for: request).image
        }
        let (deep, made) = (try await image(keepsBitDepth: true), try await image(keepsBitDepth: false))
        #expect(deep.layout == .rgba16 && made.layout == .rgba8 && made.info.colorDescription == nil)
        let wanted = deep.withPixels { $0.bindMemory(to: UInt16.self).map { (Int($0) + 128) / 257 } }
        let levels = made.withPixels { $0.map { Int($0) } }
        #expect(zip(wanted, levels).allSatisfy { abs($0 - $1) <= 1 })
        #expect(Set(levels).count > 40, "\(Set(levels).count)")
    }

    /// Pictures of several sizes share one decode, but each has its own bit depth.
    @Test func picturesThatKeepTheirColoursHaveEightBitsToo() async throws {
        let bytes = try Self.darkGradient().encoded(as: .png)
        var request = ImageRequest(data: bytes, name: "gradient")
        request.decoding.convertsToSRGB = false
        let image = try await TestBench().manager.image(for: request).image
        #expect(image.layout == .rgba8)
        #expect(image.info.colorDescription != nil || image.info.iccProfile != nil)
    }

    /// From black to a sixteenth of white, in linear light.
    private static func darkGradient() throws -> Image {
        try Image(size: PixelSize(width: 256, height: 16), layout: .rgba16, alpha: .opaque) { bytes in
            let channels = bytes.bindMemory(to: UInt16.self)
            for place in channels.indices {
                channels[place] = place % 4 == 3 ? 65_535 : UInt16(place / 4 % 256 * 16)
            }
        }.with { $0.colorDescription = ColorDescription(primaries: 1, transfer: 8) }
    }
}
