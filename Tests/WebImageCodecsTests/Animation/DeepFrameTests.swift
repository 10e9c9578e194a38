import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Animations with more than 8 bits a channel.
@Suite struct DeepFrameTests {
    private static let registry = CoderRegistry.standard
    private static let lossless = EncodeOptions(isLossless: true)
    private static let deepFormats = [ImageFormat.jxl, .avif].filter {
        (try? registry.encoder(for: $0, lossless)) != nil
    }

    /// Frames whose channels have values of `bits` bits. They have no header of a source file.
    private static func frames(bits: Int) throws -> [Image] {
        let most = 1 << bits - 1
        return try (0..<3).map { frame in
            try Image(size: PixelSize(width: 21, height: 14), layout: .rgba16, alpha: .straight) { bytes in
                for place in stride(from: 0, to: bytes.count, by: 2) {
                    let value = (place * 37 + frame * 411) % (most + 1)
                    bytes.storeBytes(
                        of: UInt16((value * 65_535 + most / 2) / most), toByteOffset: place, as: UInt16.self)
                }
            }
        }
    }

    private static func values(_ image: Image) -> [Int] {
        image.withPixels { $0.bindMemory(to: UInt16.self).map { Int($0) } }
    }

    private static func decoder(
        _ bytes: [UInt8], keepsBitDepth: Bool
    ) throws -> any AnimationDecoder {
        let read = try registry.readHeader(of: bytes).format
        let coder = try #require(registry.coders.first { $0.decodableFormats.contains(read) })
        let options = DecodeOptions(keepsBitDepth: keepsBitDepth)
        let decoder = try #require(try coder.makeAnimationDecoder(read, options))
        try bytes.withUnsafeBytes { try decoder.push($0) }
        try decoder.finish()
        return decoder
    }

    @Test(arguments: deepFormats) func framesKeepTheirBits(_ format: ImageFormat) throws {
        let frames = try Self.frames(bits: format == .jxl ? 16 : 12)
        let image = DrawnAnimation.image(frames, delay: .milliseconds(50))
        let bytes = try Self.registry.encode(image, as: format, Self.lossless)
        let deep = try Self.decoder(bytes, keepsBitDepth: true)
        let narrow = try Self.decoder(bytes, keepsBitDepth: false)
        #expect(deep.header?.bitDepth == (format == .jxl ? 16 : 12))
        // Also out of order.
        for index in [0, 1, 2, 1] {
            let frame = try deep.frame(at: index)
            #expect(frame.layout == .rgba16)
            let found = frame.withBytes { $0.bindMemory(to: UInt16.self).map { Int($0) } }
            // libavif may be off by one when it widens values to 16 bits. The values in the file are at least 16 apart.
            let isSame = zip(found, Self.values(frames[index])).allSatisfy { abs($0 - $1) <= (format == .jxl ? 0 : 1) }
            #expect(isSame, "frame \(index)")
            let rounded = try narrow.frame(at: index)
            #expect(rounded.layout == .rgba8)
            let isRounded = rounded.withBytes { bytes in
                zip(bytes, found).allSatisfy { abs(Int($0) * 257 - $1) <= 257 }
            }
            #expect(isRounded, "frame \(index)")
        }
    }

    #if TIFF
        @Test func framesKeepTheirBitsAsPages() throws {
            let frames = try Self.frames(bits: 16)
            let bytes = try Self.registry.encode(
                DrawnAnimation.image(frames, delay: .milliseconds(50)), as: .tiff, Self.lossless)
            for (page, frame) in frames.enumerated() {
                var options = DecodeOptions(keepsBitDepth: true)
                options.page = page
                #expect(Self.values(try Self.registry.decode(bytes, options).image) == Self.values(frame))
            }
        }
    #endif

    /// All frames of a sequence have the depth of the first.
    @Test(arguments: deepFormats) func aFrameOfMoreBitsThanTheFirstIsNoLosslessOne(_ format: ImageFormat) throws {
        let deep = try Self.frames(bits: 10)[0]
        let image = DrawnAnimation.image(
            [try Drawings.picture(21, 14, alpha: .straight), deep], delay: .milliseconds(50))
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(image, as: format, Self.lossless)
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("more bits") == true)
        let lossy = try Self.registry.encode(image, as: format)
        #expect(try Self.decoder(lossy, keepsBitDepth: true).header?.bitDepth == 8)
    }

    /// These formats would keep only 8 bits of each channel.
    @Test(arguments: [ImageFormat.apng, .webp].filter { (try? registry.encoder(for: $0)) != nil })
    func framesOfOtherFormatsAreNotLossless(_ format: ImageFormat) throws {
        let image = DrawnAnimation.image(try Self.frames(bits: 10), delay: .milliseconds(50))
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(image, as: format, Self.lossless)
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("8 bits") == true)
        #expect(try Self.registry.encode(image, as: format).count > 0)
    }

    /// Frames of an APNG are read with 8 bits a channel, although its header states 16.
    @Test(arguments: [ImageFormat.apng, .webp, .jxl, .tiff].filter { (try? registry.encoder(for: $0)) != nil })
    func framesOfAnAPNGAreNotLossless(_ format: ImageFormat) throws {
        let header = ImageHeader(format: .apng, size: PixelSize(width: 21, height: 14), bitDepth: 16)
        let frames = try Self.frames(bits: 16).map { frame in frame.with { $0.header = header } }
        let image = DrawnAnimation.image(frames, delay: .milliseconds(50))
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(image, as: format, Self.lossless)
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("8 bits") == true)
        #expect(try Self.registry.encode(image, as: format).count > 0)
        var options = Self.lossless
        options.firstFrameOnly = true
        if format != .webp { #expect(try Self.registry.encode(image, as: format, options).count > 0) }
    }
}
