import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// How pictures with more than 8 bits a channel are written.
@Suite struct DeepPictureTests {
    private static let registry = CoderRegistry.standard
    private static let lossless = EncodeOptions(isLossless: true)

    /// BMP and QOI once lost half of the bits in a lossless encode.
    @Test(arguments: [ImageFormat.bmp, .qoi, .ico, .webp])
    func aFormatOfEightBitsCannotHoldSixteenWithoutLoss(_ format: ImageFormat) throws {
        let image = try Drawings.picture(20, 10, layout: .rgba16)
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(image, as: format, Self.lossless)
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("8 bits") == true)
        #expect(try Self.registry.encode(image, as: format).count > 0)
    }

    @Test(arguments: [AlphaMode.opaque, .straight], [Orientation.up, .right])
    func anAPNGOfOneFrameKeepsSixteenBits(_ alpha: AlphaMode, _ orientation: Orientation) throws {
        let image = try Drawings.picture(20, 10, layout: .rgba16, alpha: alpha).with { $0.orientation = orientation }
        for options in [EncodeOptions(), Self.lossless] {
            let bytes = try Self.registry.encode(image, as: .apng, options)
            let found = try Self.registry.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
            #expect(found.info.header?.format == .apng && found.layout == .rgba16)
            let upright = try image.upright()
            #expect(found.size == upright.size && found.bytes == upright.bytes)
        }
    }

    @Test func aLosslessIconIsExactIfThePictureFits() throws {
        let image = try Drawings.noise(40, 30, alpha: .straight)
        let found = try Self.registry.decode(Self.registry.encode(image, as: .ico, Self.lossless)).image
        #expect(found.bytes == image.bytes)
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(try Drawings.noise(300, 200), as: .ico, Self.lossless)
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("256") == true)
    }

    #if AVIF
        private static func depth(of bytes: [UInt8]) throws -> Int? { try registry.readHeader(of: bytes).bitDepth }

        private static func opened(_ bytes: [UInt8]) throws -> Image {
            try registry.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
        }

        /// A picture whose channels have values of `bits` bits.
        private static func picture(bits: Int) throws -> Image {
            let most = 1 << bits - 1
            return try Image(size: PixelSize(width: 33, height: 20), layout: .rgba16, alpha: .straight) { bytes in
                for place in stride(from: 0, to: bytes.count, by: 2) {
                    let value = place * 37 % (most + 1)
                    bytes.storeBytes(
                        of: UInt16((value * 65_535 + most / 2) / most), toByteOffset: place, as: UInt16.self)
                }
            }
        }

        @Test(arguments: [10, 12]) func aLosslessAVIFHoldsPicturesOfTenAndTwelveBits(bits: Int) throws {
            let image = try Self.picture(bits: bits)
            let bytes = try Self.registry.encode(image, as: .avif, Self.lossless)
            #expect(try Self.depth(of: bytes) == bits)
            // libavif may be off by one when it widens values to 16 bits. The values in the file are at least 16 apart.
            let isSame = try zip(Self.values(Self.opened(bytes)), Self.values(image)).allSatisfy { abs($0 - $1) <= 1 }
            #expect(isSame)
        }

        /// A picture that was decoded from a lossy AVIF of 10 bits also has values in between. The header's depth
        /// decides.
        @Test(arguments: [(10, 10), (12, 12), (11, 12)])
        func aLosslessAVIFHasTheDepthOfItsSource(source: Int, written: Int) throws {
            let header = ImageHeader(format: .avif, size: PixelSize(width: 40, height: 30), bitDepth: source)
            let image = try Drawings.picture(40, 30, layout: .rgba16).with { $0.header = header }
            let bytes = try Self.registry.encode(image, as: .avif, Self.lossless)
            let found = try Self.opened(bytes)
            #expect(found.info.header?.bitDepth == written)
            let step = 65_535 / (1 << written - 1)
            let isNear = zip(Self.values(found), Self.values(image)).allSatisfy { abs($0 - $1) <= step / 2 + 1 }
            #expect(isNear)
        }

        @Test(arguments: [(8, 8), (10, 10), (12, 12), (16, 10)])
        func aLossyAVIFHasTheDepthOfItsSourceUpToTwelveBits(source: Int, written: Int) throws {
            let header = ImageHeader(format: .png, size: PixelSize(width: 40, height: 30), bitDepth: source)
            let layout: PixelLayout = source == 8 ? .rgba8 : .rgba16
            let image = try Drawings.picture(40, 30, layout: layout).with { $0.header = header }
            #expect(try Self.depth(of: Self.registry.encode(image, as: .avif)) == written)
        }

        private static func values(_ image: Image) -> [Int] {
            image.withPixels { bytes in
                stride(from: 0, to: bytes.count, by: 2).map {
                    Int(bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self))
                }
            }
        }
    #endif
}
