import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Gray pictures stay gray when they are encoded. Each once became RGB.
@Suite struct GrayTests {
    private static let registry = CoderRegistry.standard
    private static let size = PixelSize(width: 37, height: 21)

    /// A picture whose header states this colour model.
    private static func picture(
        _ layout: PixelLayout = .rgba8, _ alpha: AlphaMode = .opaque, model: ColorModel = .gray,
        coloured: Int? = nil
    ) throws -> Image {
        var header = ImageHeader(format: .png, size: size)
        header.colorModel = model
        return try Image(size: size, layout: layout, alpha: alpha) { bytes in
            let channel = layout == .rgba8 ? 1 : 2
            for index in 0..<size.width * size.height {
                for place in 0..<4 * channel {
                    let isAlpha = place >= 3 * channel
                    let value =
                        isAlpha ? (alpha == .opaque ? 255 : index * 5 + place % channel) : index * 7 + place % channel
                    bytes[index * 4 * channel + place] = UInt8(truncatingIfNeeded: value)
                }
            }
            if let coloured { bytes[coloured * 4 * channel + channel] ^= 1 }
        }.with { $0.header = header }
    }

    /// The colour type in the header of a PNG (PNG, third edition, 11.2.1).
    private static func colorType(_ png: [UInt8]) -> UInt8 { png[25] }

    /// The number of components of a JPEG's frame (ITU-T T.81, B.2.2).
    private static func components(_ jpeg: [UInt8]) throws -> UInt8 {
        let place = try #require(
            jpeg.indices.dropLast(9).first { jpeg[$0] == 0xFF && [0xC0, 0xC1, 0xC2].contains(jpeg[$0 + 1]) })
        return jpeg[place + 9]
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
    func aGrayPNGKeepsEveryPixelInOneChannel(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Self.picture(layout, alpha)
        let bytes = try Self.registry.encode(image, as: .png)
        #expect(Self.colorType(bytes) == (alpha == .opaque ? 0 : 4))
        let read = try Self.registry.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
        #expect(read.layout == layout && read.alpha == alpha && read.bytes == image.bytes)
        #expect(read.info.header?.colorModel == .gray)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func premultipliedGraysAreWrittenStraight(_ layout: PixelLayout) throws {
        let straight = try Self.picture(layout, .straight)
        let image = try straight.with(alpha: .premultiplied)
        for format in [ImageFormat.png, .tiff] where (try? Self.registry.encoder(for: format)) != nil {
            let read = try Self.registry.decode(
                Self.registry.encode(image, as: format), DecodeOptions(keepsBitDepth: true)
            ).image
            #expect(read.info.header?.colorModel == .gray)
            #expect(read.bytes == (try image.with(alpha: .straight)).bytes)
        }
    }

    /// One coloured pixel is enough, even if it is the last one or the one after a run of the scan.
    @Test(arguments: [0, 20, 37 * 21 - 1], [PixelLayout.rgba8, .rgba16])
    func aGrayPictureWithAColouredPixelIsWrittenInColour(_ place: Int, _ layout: PixelLayout) throws {
        let image = try Self.picture(layout, coloured: place)
        let bytes = try Self.registry.encode(image, as: .png)
        #expect(Self.colorType(bytes) == 2)
        #expect(try Self.registry.decode(bytes, DecodeOptions(keepsBitDepth: true)).image.bytes == image.bytes)
    }

    /// As in libvips and Pillow, a file that had three channels keeps them, since its users may rely on them.
    @Test func aGrayPictureFromAColourFileIsWrittenInColour() throws {
        #expect(Self.colorType(try Self.registry.encode(Self.picture(model: .rgb), as: .png)) == 2)
        #expect(try Self.components(Self.registry.encode(Self.picture(model: .rgb), as: .jpeg)) == 3)
    }

    @Test func aGrayJPEGHasOneComponentAndTheSameGrays() throws {
        let image = try Self.picture()
        let options = EncodeOptions(quality: 100)
        let bytes = try Self.registry.encode(image, as: .jpeg, options)
        let coloured = try Self.registry.encode(Self.picture(model: .rgb), as: .jpeg, options)
        #expect(try Self.components(bytes) == 1 && bytes.count < coloured.count)
        let (read, other) = (try Self.registry.decode(bytes).image, try Self.registry.decode(coloured).image)
        #expect(read.info.header?.colorModel == .gray && read.bytes == other.bytes)
        #expect(read.bytes.meanDifference(to: image.bytes) < 1)
    }

    @Test func aColouredBackgroundMakesAGrayPictureAColourJPEG() throws {
        let image = try Self.picture(.rgba8, .straight)
        let gray = EncodeOptions(background: RGBColor(red: 9, green: 9, blue: 9))
        let red = EncodeOptions(background: RGBColor(red: 200, green: 9, blue: 9))
        #expect(try Self.components(Self.registry.encode(image, as: .jpeg, gray)) == 1)
        #expect(try Self.components(Self.registry.encode(image, as: .jpeg, red)) == 3)
    }

    /// The number of channels that are written is that of the profile.
    @Test func theNumberOfChannelsIsThatOfTheProfile() throws {
        for (space, components) in [("GRAY", UInt8(1)), ("RGB ", 3)] {
            var profile = [UInt8](repeating: 0, count: 132)
            profile.replaceSubrange(16..<20, with: space.utf8)
            let image = try Self.picture().with { $0.iccProfile = profile }
            let bytes = try Self.registry.encode(image, as: .jpeg)
            #expect(try Self.components(bytes) == components)
            #expect(try Self.registry.readHeader(of: bytes).iccProfile == profile)
        }
    }

    @Test func theFramesOfAGrayAnimationAreOfOneKind() throws {
        let frames = try [nil, 5, 300].map { try Self.picture(.rgba8, .straight, coloured: $0) }
        let bytes = try Self.registry.encode(DrawnAnimation.image(frames, delay: .milliseconds(50)), as: .apng)
        let decoder = try #require(try PNGCoder().makeAnimationDecoder(.apng, DecodeOptions()))
        try bytes.withUnsafeBytes { try decoder.push($0) }
        try decoder.finish()
        #expect(decoder.storedDelays.count == 3)
        for (index, frame) in frames.enumerated() {
            let shown = try decoder.frame(at: index).withBytes { Array($0) }
            let wanted = frame.pixels.withBytes { Array($0) }
            // Fully transparent pixels may have any colour.
            let differing = shown.indices.filter { shown[$0] != wanted[$0] && wanted[$0 / 4 * 4 + 3] > 0 }
            #expect(shown.count == wanted.count && differing.isEmpty, "\(index)")
        }
    }

    /// A gray profile is kept: as a gray profile where one channel is written, otherwise as an RGB profile.
    @Test func aProfileOfGrayIsKeptWhereColoursAreNotConverted() throws {
        let profile = ProfileBytes.gray(ProfileBytes.formula(0, [1.8])).bytes
        let image = try Self.picture().with { $0.iccProfile = profile }
        let kept = try Self.registry.decode(Self.registry.encode(image, as: .jpeg), DecodeOptions()).image
        #expect(kept.info.iccProfile == profile)
        // WebP has no gray pictures.
        let webp = try Self.registry.encode(image, as: .webp, EncodeOptions(isLossless: true))
        let read = try Self.registry.decode(webp, DecodeOptions()).image
        #expect(read.bytes == image.bytes)
        let colors = try #require(read.info.iccProfile)
        #expect(colors[16..<20].elementsEqual("RGB ".utf8))
        let (gray, converted) = (try image.inSRGB(), try read.inSRGB())
        #expect(zip(gray.bytes.bytes, converted.bytes.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        #expect(gray.bytes != image.bytes)
    }

    #if TIFF
        @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
        func aGrayTIFFKeepsEveryPixelInOneChannel(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
            let image = try Self.picture(layout, alpha)
            let options = EncodeOptions(compressionLevel: 0)
            let bytes = try Self.registry.encode(image, as: .tiff, options)
            let coloured = try Self.registry.encode(Self.picture(layout, alpha, model: .rgb), as: .tiff, options)
            #expect(bytes.count < coloured.count * 2 / 3)
            let read = try Self.registry.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
            #expect(read.layout == layout && read.alpha == alpha && read.bytes == image.bytes)
            #expect(read.info.header?.colorModel == .gray)
        }
    #endif
}
