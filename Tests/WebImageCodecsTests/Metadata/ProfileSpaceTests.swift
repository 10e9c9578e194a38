import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// A profile is ignored if its colour space is not that of the pixels.
@Suite struct ProfileSpaceTests {
    private static let gray = EncoderTests.profile(space: "GRAY", count: 300)
    private static let rgb = EncoderTests.profile(space: "RGB ", count: 300)

    private func withProfile(_ profile: [UInt8], _ jpeg: [UInt8]) -> [UInt8] {
        let marker = JPEGMaker.marker(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
        return Array(jpeg.prefix(2)) + marker + jpeg.dropFirst(2)
    }

    @Test func aJPEGUsesOnlyAProfileThatFitsItsColours() throws {
        let color = try Drawings.jpeg(16, 16)
        let level = JPEGMaker.manyScans(2)
        let inks = JPEGMaker.flatCMYK([9, 9, 9, 9], width: 8, height: 8, hasAdobeMarker: false)
        let cases: [([UInt8], [UInt8], ColorModel, Bool)] = [
            (color, Self.gray, .rgb, false), (color, Self.rgb, .rgb, true), (level, Self.gray, .gray, true),
            (level, Self.rgb, .gray, true), (inks, Self.rgb, .cmyk, false), (inks, Self.gray, .cmyk, false),
        ]
        for (file, profile, model, counts) in cases {
            let header = try #require(decode(withProfile(profile, file)).header)
            #expect(header.iccProfile == profile && header.colorModel == model)
            #expect(header.colors == (counts ? .profile(profile) : nil))
            #expect(header.colorsOfPixels.profile == (counts ? profile : nil))
        }
    }

    @Test func aWebPUsesNoProfileOfGray() throws {
        let still = try WebPCoder().encode(Drawings.picture(8, 8), as: .webp, EncodeOptions())
        let file = WebPMaker.file([
            WebPMaker.extended(0x20, PixelSize(width: 8, height: 8)), WebPMaker.chunk("ICCP", Self.gray),
            WebPMaker.pictureChunks(of: still),
        ])
        let header = try #require(decode(file).header)
        #expect(header.iccProfile == Self.gray && header.colors == nil)
    }

    #if TIFF
        @Test func aTIFFUsesOnlyAProfileThatFitsItsColours() throws {
            for (photometric, samples, counts) in [(2, 3, false), (1, 1, true)] {
                var maker = TIFFMaker.random(5, 5, photometric: photometric, samples: samples)
                maker.profile = Self.gray
                let header = try #require(decode(maker.file()).header)
                #expect(header.colors == (counts ? .profile(Self.gray) : nil))
            }
        }
    #endif

    @Test func aColourDescriptionReplacesAProfileThatDoesNotFit() {
        var header = ImageHeader(format: .avif, size: PixelSize(width: 1, height: 1), iccProfile: Self.gray)
        header.colorDescription = ColorDescription(primaries: 12, transfer: 13)
        #expect(header.colors == .described(ColorDescription(primaries: 12, transfer: 13)))
        header.colorModel = .gray
        #expect(header.colors == .profile(Self.gray))
    }
}
