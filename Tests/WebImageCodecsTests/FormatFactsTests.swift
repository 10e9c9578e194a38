import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Compares the table of formats with what the coders do. `AnimationWritingTests` and `DynamicRangeWritingTests` check
/// the orientation of frames and high dynamic range.
@Suite struct FormatFactsTests {
    private static let registry = CoderRegistry.standard

    @Test func everyFormatOfACoderIsInTheTable() {
        for format in Self.registry.decodableFormats + Self.registry.encodableFormats {
            #expect(format.mimeType != nil, "\(format.rawValue)")
        }
        // Not every format of the table need be encodable: libavif and libheif may be installed without an encoder.
        #expect(Set(Self.registry.encodableFormats).isSubset(of: ImageFormat.written))
    }

    @Test func theFormatsWithoutATraitAreAlwaysThere() {
        let coders: [any ImageCoder] = [
            JPEGCoder(), PNGCoder(), WebPCoder(), GIFCoder(), BMPCoder(), ICOCoder(), QOICoder(), PNMCoder(),
        ]
        let always = Set(coders.flatMap(\.decodableFormats))
        #expect(Set(Self.registry.decodableFormats.filter { $0.trait == nil }) == always)
    }

    /// The error for BigTIFF once said that no build can write it.
    @Test func theErrorForAMissingEncoderNamesTheTrait() {
        for format in ImageFormat.written {
            let error = #expect(throws: WebImageError.self) { try CoderRegistry([]).encoder(for: format) }
            let isBuilt = Self.registry.encodableFormats.contains(format)
            let advice = CoderRegistry.advice(for: format, isWriting: true)
            #expect(error?.code == .formatNotBuilt && error?.message.contains(advice) == true)
            #expect(advice.contains("CoderRegistry") == isBuilt)
            let elsewhere = CoderRegistry.advice(for: format, isWriting: true, among: [])
            #expect(elsewhere.contains(format.trait ?? "version"))
        }
    }

    @Test(arguments: SmallPictures.all()) func vectorPicturesAreKnownByTheFormatsOfTheirCoder(
        _ file: SmallPictures.File
    ) throws {
        let drawn = try file.coder().decodableFormats.filter(\.isVector)
        let isVector = try Self.registry.readHeader(of: file.bytes).isVector
        #expect(drawn == (isVector ? try file.coder().decodableFormats : []))
    }

    @Test(arguments: registry.encodableFormats) func theFactsAreThoseOfTheEncoder(_ format: ImageFormat) throws {
        let picture = try Drawings.picture(64, 48)
        let lengths = try [10, 95].map { quality in
            try Self.registry.encode(picture, as: format, EncodeOptions(quality: quality)).count
        }
        #expect((lengths[0] < lengths[1]) == format.has(.quality), "\(lengths)")

        let deep = try Drawings.picture(64, 48, layout: .rgba16)
        let read = try Self.registry.decode(
            Self.registry.encode(deep, as: format), DecodeOptions(keepsBitDepth: true)
        ).image
        #expect((read.layout == .rgba16) == format.has(.manyBits))

        let clear = try Self.registry.decode(
            Self.registry.encode(Drawings.picture(64, 48, alpha: .straight), as: format)
        ).image
        #expect((clear.alpha == .opaque) == format.isOpaque)

        let profile = try #require(ICCProfile.bytes(for: .described(ColorDescription(primaries: 12, transfer: 13))))
        let wide = try Self.registry.encode(picture.with { $0.iccProfile = profile }, as: format)
        let colors = try Self.registry.readHeader(of: wide).colors
        #expect(
            (colors == nil || colors == .described(.sRGB)) == format.has(.noProfile), "\(String(describing: colors))")
    }
}
