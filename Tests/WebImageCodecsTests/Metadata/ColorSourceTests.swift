import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// The ways in which files describe their colours, and which of them counts.
@Suite struct ColorSourceTests {
    private static let pq = ColorDescription(primaries: 9, transfer: 16)
    private static let formats: [ImageFormat] = [.png, .avif, .heic, .jxl].filter {
        (try? CoderRegistry.standard.encoder(for: $0)) != nil
    }

    private static func header(
        _ before: [(String, [UInt8])], after: [(String, [UInt8])] = []
    ) throws -> ImageHeader {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (5, 4), isInterlaced: false, isKeyed: false, seed: 1)
        maker.before = before.map { (name: $0.0, data: $0.1) }
        maker.after = after.map { (name: $0.0, data: $0.1) }
        return try #require(decode(maker.file()).header)
    }

    private static let gamma = ("gAMA", big(100_000, 4))
    private static let white = (
        "cHRM", [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000].flatMap { big($0, 4) }
    )
    private static let standard = ("sRGB", [UInt8(0)])
    private static let cicp = ("cICP", [9, 16, 0, 1] as [UInt8])
    private static let profile = (
        "iCCP", Array("x".utf8) + [0, 0] + PNGMaker.zlib(EncoderTests.profile(space: "RGB ", count: 300))
    )

    @Test func codePointsCountMoreThanAProfileAndThatMoreThanTheRest() throws {
        let all = try Self.header([Self.gamma, Self.white, Self.profile, Self.cicp])
        #expect(all.colors == .described(Self.pq) && all.iccProfile == nil)
        let profile = try Self.header([Self.gamma, Self.white, Self.profile])
        #expect(profile.iccProfile?.count == 300 && profile.colorCalibration == nil)
        #expect(try Self.header([Self.gamma, Self.standard, Self.white]).colors == nil)
        let calibration = try #require(try Self.header([Self.gamma, Self.white]).colorCalibration)
        #expect(calibration.decodingExponent == 1 && calibration.chromaticities?.count == 8)
        #expect(try Self.header([Self.gamma]).colors == .calibrated(ColorCalibration(decodingExponent: 1)))
    }

    @Test func invalidAndLateColourChunksAreIgnored() throws {
        let others: [(String, [UInt8])] = [
            ("cICP", [9, 16, 1, 1]), ("cICP", [2, 2, 0, 1]), ("cICP", [9, 16, 0]), ("gAMA", [0, 1]), ("cHRM", [1]),
        ]
        for other in others { #expect(try Self.header([other]).colors == nil, "\(other)") }
        #expect(try Self.header([("gAMA", big(0, 4))]).colors == .calibrated(ColorCalibration()))
        #expect(try Self.header([], after: [Self.cicp, Self.gamma, Self.white]).colors == nil)
        // A chunk with a wrong checksum.
        var maker = PNGMaker.random(.rgb, depth: 8, size: (5, 4), isInterlaced: false, isKeyed: false, seed: 1)
        maker.before = [(name: "cICP", data: [9, 16, 0, 1])]
        var file = maker.file()
        let place = try #require(file.indices.first { file[$0...].starts(with: "cICP".utf8) })
        file[place + 5] = 18
        #expect(decode(file).error == nil && decode(file).header?.colors == nil)
    }

    @Test(arguments: formats, [UInt8(16), 18])
    func highDynamicRangeIsWrittenAndReadAgain(_ format: ImageFormat, _ transfer: UInt8) throws {
        let description = ColorDescription(primaries: 9, transfer: transfer)
        let image = try Drawings.picture(40, 24, layout: .rgba16).with { $0.colorDescription = description }
        let encoder = try CoderRegistry.standard.encoder(for: format)
        let bytes = try encoder.encode(image, as: format, EncodeOptions(quality: 95))
        let found = try CoderRegistry.standard.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
        #expect(found.info.header?.bitDepth ?? 8 > 8 && found.layout == .rgba16)
        #expect(found.info.iccProfile == nil && found.info.colorDescription?.primaries == 9)
        #expect(found.info.colorDescription?.transfer == transfer)
        if format == .png { #expect(found.bytes == image.bytes) }
        // Without the profile and code points, the pixels count as sRGB.
        let plain = try encoder.encode(image, as: format, EncodeOptions(embedsICCProfile: false))
        #expect(try CoderRegistry.standard.decode(plain).image.info.colorDescription == nil)
    }

    /// Readers take the colours of these files for sRGB, so they are converted.
    @Test(arguments: [ImageFormat.bmp, .qoi, .pnm, .png])
    func formatsWithoutProfilesGetSRGB(_ format: ImageFormat) throws {
        let profile = ProfileBytes.rgb(ProfileBytes.displayP3, ProfileBytes.sRGBCurve).bytes
        let image = try Drawings.picture(16, 8).with { $0.iccProfile = profile }
        let registry = CoderRegistry.standard
        func pixels(_ options: EncodeOptions) throws -> Image {
            try registry.decode(registry.encode(image, as: format, options)).image
        }
        let converted = try image.inSRGB()
        #expect(converted.bytes != image.bytes)
        let found = try pixels(EncodeOptions())
        #expect(found.bytes == (format == .png ? image : converted).bytes)
        #expect((found.info.iccProfile != nil) == (format == .png))
        #expect(try pixels(EncodeOptions(isLossless: true)).bytes == image.bytes)
    }

    @Test func unconvertedPixelsCarryAProfileIfOneDescribesThem() throws {
        let linear = try Self.header([Self.gamma])
        let profile = try #require(linear.colorsOfPixels.profile)
        #expect(profile.count > 128 && profile[16..<20].elementsEqual("RGB ".utf8))
        #expect(try Self.header([Self.cicp]).colorsOfPixels.description == Self.pq)
        let plain = try Self.header([]).colorsOfPixels
        #expect(plain.profile == nil && plain.description == nil)
    }

    #if AVIF
        @Test(.enabled(if: formats.contains(.avif))) func anAVIFSaysThatItIsSRGB() throws {
            let bytes = try AVIFCoder().encode(Drawings.picture(16, 16), as: .avif, EncodeOptions())
            let header = try CoderRegistry.standard.readHeader(of: bytes)
            #expect(header.colorDescription?.primaries == 1 && header.colorDescription?.transfer == 13)
            #expect(header.colorDescription?.isFullRange == true && header.colorsOfPixels.profile == nil)
        }
    #endif
}
