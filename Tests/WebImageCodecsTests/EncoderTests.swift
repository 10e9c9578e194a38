import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

@Suite struct EncoderTests {
    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.opaque, .straight])
    func aPNGKeepsEveryPixel(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Drawings.picture(37, 21, layout: layout, alpha: alpha)
        let bytes = try PNGCoder().encode(image, as: .png, EncodeOptions())
        let decoded = try CoderRegistry.standard.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
        #expect(decoded.layout == layout && decoded.alpha == alpha)
        if layout == .rgba8 || alpha == .straight { #expect(decoded.bytes == image.bytes) }
    }

    @Test func aPNGKeepsTheColourOfPixelsThatCannotBeSeen() throws {
        let image = try Drawings.noise(50, 50)
        let bytes = try PNGCoder().encode(image, as: .png, EncodeOptions(compressionLevel: 1))
        #expect(try CoderRegistry.standard.decode(bytes).image.bytes == image.bytes)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16])
    func premultipliedPixelsAreWrittenStraight(_ layout: PixelLayout) throws {
        let straight = try Drawings.picture(60, 40, layout: layout, alpha: .straight)
        let premultiplied = try Drawings.picture(60, 40, layout: layout, alpha: .premultiplied)
        let bytes = try PNGCoder().encode(premultiplied, as: .png, EncodeOptions())
        let decoded = try CoderRegistry.standard.decode(bytes).image
        let reference = try CoderRegistry.standard.decode(PNGCoder().encode(straight, as: .png, EncodeOptions())).image
        #expect(decoded.alpha == .straight)
        // Pixels with a small alpha have lost their colour; those in the lower right half have not.
        #expect(decoded.bytes.suffix(2400).meanDifference(to: reference.bytes.suffix(2400)) < 2)
    }

    @Test func compressionLevelsDiffer() throws {
        let image = try Drawings.picture(200, 200)
        let sizes = try [0, 6, 9].map {
            try PNGCoder().encode(image, as: .png, EncodeOptions(compressionLevel: $0)).count
        }
        #expect(sizes[0] > 100_000 && sizes[1] < sizes[0] / 4 && sizes[2] <= sizes[1])
    }

    @Test func effortDecidesTheSizeOfAWebP() throws {
        let image = try SamplePictures.sunset(PixelSize(width: 240, height: 180))
        func size(_ effort: Int?) throws -> Int {
            var options = EncodeOptions()
            options.webpEffort = effort
            return try WebPCoder().encode(image, as: .webp, options).count
        }
        #expect(try size(6) < size(0) && size(nil) == size(4) && size(-3) == size(0) && size(99) == size(6))
    }

    @Test(arguments: [false, true]) func aCancelledWebPEncodeEndsEarly(isLossless: Bool) throws {
        let image = try SamplePictures.sunset(PixelSize(width: 240, height: 180))
        let calls = Guarded(0)
        func encode(endingAt last: Int) throws -> [UInt8] {
            calls.withLock { $0 = 0 }
            var options = EncodeOptions(isLossless: isLossless)
            options.context.checkpoint = { () throws(WebImageError) in
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if number == last { throw .cancelled }
            }
            return try WebPCoder().encode(image, as: .webp, options)
        }
        #expect(
            try encode(endingAt: .max) == WebPCoder().encode(image, as: .webp, EncodeOptions(isLossless: isLossless)))
        let whole = calls.withLock { $0 }
        #expect(whole > 3)
        let error = #expect(throws: WebImageError.self) { try encode(endingAt: 2) }
        #expect(error?.code == .cancelled && calls.withLock { $0 } == 2)
    }

    @Test func theContentOptionChangesAWebP() throws {
        let image = try SamplePictures.sunset(PixelSize(width: 240, height: 180))
        let files = try WebPContent.allCases.map { content in
            var options = EncodeOptions()
            options.webpContent = content
            return try WebPCoder().encode(image, as: .webp, options)
        }
        // The files for text and for icons may be equal.
        #expect(Set(files).count >= 4)
        #expect(try files[0] == WebPCoder().encode(image, as: .webp, EncodeOptions()))
    }

    @Test func usualCodesOfAJPEGKeepItsPixels() throws {
        let image = try Drawings.picture(300, 200)
        var options = EncodeOptions(quality: 85)
        let optimised = try JPEGCoder().encode(image, as: .jpeg, options)
        options.optimizesCoding = false
        let usual = try JPEGCoder().encode(image, as: .jpeg, options)
        #expect(usual.count > optimised.count)
        #expect(decode(usual).pixels == decode(optimised).pixels)
        // A progressive JPEG has optimised codes in any case.
        options.progressive = true
        let progressive = try JPEGCoder().encode(image, as: .jpeg, options)
        #expect(decode(progressive).pixels == decode(optimised).pixels)
    }

    @Test func qualityDecidesTheSizeAndEightyIsTheDefault() throws {
        let image = try Drawings.picture(200, 200)
        let size = { (quality: Int?) in
            try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: quality)).count
        }
        #expect(try size(20) < size(80) && size(80) < size(95))
        #expect(try size(nil) == size(80))
        #expect(try size(-5) == size(1) && size(400) == size(100))
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.straight, .premultiplied])
    func transparentPixelsBecomeTheBackgroundInAJPEG(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Image(size: PixelSize(width: 16, height: 16), layout: layout, alpha: alpha) { _ in }
        let background = RGBColor(red: 200, green: 40, blue: 90)
        let bytes = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: 100, background: background))
        let pixels = try CoderRegistry.standard.decode(bytes).image.bytes.bytes
        for (channel, wanted) in [200, 40, 90, 255].enumerated() { #expect(abs(Int(pixels[channel]) - wanted) <= 2) }
    }

    @Test func halfTransparentPixelsMixWithTheBackground() throws {
        let image = try Image(size: PixelSize(width: 16, height: 16), alpha: .straight) { bytes in
            for index in 0..<256 {
                bytes.storeBytes(of: UInt32(littleEndian: 0x8000_00FF), toByteOffset: index * 4, as: UInt32.self)
            }
        }
        let bytes = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: 100))
        let pixels = try CoderRegistry.standard.decode(bytes).image.bytes.bytes
        for (channel, wanted) in [255, 127, 127].enumerated() { #expect(abs(Int(pixels[channel]) - wanted) <= 2) }
    }

    @Test(arguments: [ImageFormat.jpeg, .png], Orientation.allCases)
    func theOrientationIsWritten(_ format: ImageFormat, _ orientation: Orientation) throws {
        let image = try Drawings.picture(12, 9).with { $0.orientation = orientation }
        let bytes = try CoderRegistry.standard.encoder(for: format).encode(image, as: format, EncodeOptions())
        #expect(try CoderRegistry.standard.decode(bytes).image.info.orientation == orientation)
    }

    @Test(arguments: [ImageFormat.jpeg, .png])
    func aProfileIsWrittenUnlessEmbeddingIsOff(_ format: ImageFormat) throws {
        // Longer than one APP2 marker can hold, for JPEG.
        let profile = Self.profile(space: "RGB ", count: format == .jpeg ? 150_000 : 300)
        let image = try Drawings.picture(12, 9).with { $0.iccProfile = profile }
        let coder = try CoderRegistry.standard.encoder(for: format)
        let bytes = try coder.encode(image, as: format, EncodeOptions())
        #expect(decode(bytes, length: { 777 }).header?.iccProfile.map(Pixels.init) == Pixels(profile))
        #expect(try CoderRegistry.standard.decode(bytes).image.info.iccProfile?.count == profile.count)
        let without = try coder.encode(image, as: format, EncodeOptions(embedsICCProfile: false))
        #expect(decode(without).header?.iccProfile == nil)
    }

    /// libpng left out such profiles without a word: of version 4 with a length that is no multiple of four, or with padding. It
    /// does not read the former either, but other programs do.
    @Test(arguments: [(300, 7), (301, 0)])
    func aProfileIsWrittenToAPNGWhateverItsLength(count: Int, padding: Int) throws {
        var profile = Self.profile(space: "RGB ", count: count)
        profile[8] = 4
        let padded = profile + [UInt8](repeating: 0, count: padding)
        let image = try Drawings.picture(12, 9).with { $0.iccProfile = padded }
        let bytes = try PNGCoder().encode(image, as: .png, EncodeOptions())
        #expect(bytes.firstRange(of: Array("iCCPicc\0\0".utf8)) != nil)
        if count % 4 == 0 { #expect(decode(bytes).header?.iccProfile.map(Pixels.init) == Pixels(profile)) }
    }

    @Test func aProfileOverTheLimitIsIgnored() throws {
        let image = try Drawings.picture(12, 9).with { $0.iccProfile = Self.profile(space: "RGB ", count: 150_000) }
        let bytes = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions())
        let result = decode(bytes, options: DecodeOptions(limits: DecodeLimits(metadata: 100_000)))
        #expect(result.error == nil && result.header?.iccProfile == nil)
    }

    @Test(arguments: [ImageFormat.jpeg, .png])
    func aProfileForOtherColoursIsNotWritten(_ format: ImageFormat) throws {
        for profile in [Self.profile(space: "CMYK", count: 300), [1, 2, 3], []] {
            let image = try Drawings.picture(12, 9).with { $0.iccProfile = profile }
            let bytes = try CoderRegistry.standard.encoder(for: format).encode(image, as: format, EncodeOptions())
            #expect(decode(bytes).header?.iccProfile == nil)
        }
    }

    @Test func oversizedPicturesAndForeignFormatsAreRefused() throws {
        let long = try Image(size: PixelSize(width: 65_501, height: 1), alpha: .opaque) { _ in }
        #expect(throws: WebImageError.self) { try JPEGCoder().encode(long, as: .jpeg, EncodeOptions()) }
        let image = try Drawings.picture(2, 2)
        do {
            _ = try JPEGCoder().encode(image, as: .png, EncodeOptions())
            Issue.record("a JPEG coder wrote a PNG")
        } catch { #expect(error.code == .cannotEncode) }
        do {
            _ = try PNGCoder().encode(image, as: .webp, EncodeOptions())
            Issue.record("a PNG coder wrote a WebP")
        } catch { #expect(error.code == .cannotEncode) }
    }

    /// A profile with a valid header and no tags. The rest is noise, because libpng ignores a profile that compresses
    /// to less than 92 bytes.
    static func profile(space: String, count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 9)
        var bytes = [UInt8](repeating: 0, count: 132)
        for _ in 132..<count { bytes.append(.random(in: 0...255, using: &generator)) }
        bytes.replaceSubrange(0..<4, with: big(count, 4))
        bytes[8] = 2
        bytes.replaceSubrange(12..<16, with: "mntr".utf8)
        bytes.replaceSubrange(16..<20, with: space.utf8)
        bytes.replaceSubrange(20..<24, with: "XYZ ".utf8)
        bytes.replaceSubrange(36..<40, with: "acsp".utf8)
        bytes.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        return bytes
    }

    @Test func aPNGHasOneChunkWithItsOrientation() throws {
        let image = try Image(size: PixelSize(width: 2, height: 2), alpha: .opaque) { _ in }.with {
            $0.orientation = .left
        }
        let bytes = try PNGCoder().encode(image, as: .png, EncodeOptions())
        let places = bytes.indices.filter { bytes[$0...].starts(with: "eXIf".utf8) }
        #expect(places.count == 1)
    }
}
