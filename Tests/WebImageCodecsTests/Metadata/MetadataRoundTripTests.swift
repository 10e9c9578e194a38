import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// Metadata in every format that can hold it.
@Suite struct MetadataRoundTripTests {
    static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .jxl].filter {
        (try? CoderRegistry.standard.encoder(for: $0)) != nil
    }

    static func encode(_ image: Image, _ format: ImageFormat, _ options: EncodeOptions) throws -> [UInt8] {
        try CoderRegistry.standard.encoder(for: format).encode(image, as: format, options)
    }

    static let kept = EncodeOptions(quality: 95, keepsMetadata: true)

    @Test func fiveFormatsHoldMetadata() {
        #if AVIF && JXL
            #expect(Self.formats.count == 5)
        #else
            #expect(Self.formats.count >= 3)
        #endif
    }

    @Test(arguments: formats)
    func metadataIsWrittenOnlyOnRequestAndReadBack(_ format: ImageFormat) throws {
        let metadata = ImageMetadata(
            exif: EXIFMaker(density: (300, 300), size: (40, 30), colorSpace: 1).block(),
            xmp: XMPMaker.packet(orientation: 1))
        var withDensity = metadata
        withDensity.density = PixelDensity(300)
        let image = try Drawings.picture(40, 30).with { $0.metadata = withDensity }
        let bytes = try Self.encode(image, format, Self.kept)
        for length in [Int.max, 1, 700] {
            let result = decode(bytes, length: { length })
            let found = try #require(result.header?.metadata)
            // The packet is unchanged, and the EXIF block has the same length although its height changes from two
            // bytes to four.
            #expect(found.exif?.count == metadata.exif?.count && found.xmp == metadata.xmp)
            #expect(found.density == PixelDensity(300) && result.error == nil)
        }
        let plain = try Self.encode(image, format, EncodeOptions())
        #expect(decode(plain).header?.metadata == ImageMetadata())
        #expect(plain.count < bytes.count)
    }

    @Test(arguments: formats)
    func metadataIsReadFromTheFirstBytes(_ format: ImageFormat) throws {
        let metadata = ImageMetadata(
            exif: EXIFMaker(orientation: 1).block(), xmp: XMPMaker.packet(orientation: 1), density: PixelDensity(96))
        let image = try Drawings.noise(300, 200, alpha: .opaque).with { $0.metadata = metadata }
        let bytes = try Self.encode(image, format, Self.kept)
        let header = try CoderRegistry.standard.readHeader(of: Array(bytes.prefix(6000)))
        #expect(bytes.count > 12_000)
        // In a WebP, EXIF and XMP come after the picture.
        if format == .webp { return #expect(header.metadata == ImageMetadata()) }
        #expect(header.metadata.xmp == metadata.xmp && header.metadata.exif != nil)
        let density = try #require(header.metadata.density)
        #expect(abs(density.horizontal - 96) < 0.1)
    }

    @Test(arguments: formats)
    func densityAloneIsKept(_ format: ImageFormat) throws {
        let density = try #require(PixelDensity(horizontal: 150, vertical: 75))
        let image = try Drawings.picture(20, 10).with { $0.metadata = ImageMetadata(density: density) }
        let found = try #require(decode(try Self.encode(image, format, Self.kept)).header?.metadata.density)
        #expect(abs(found.horizontal - 150) < 0.02 && abs(found.vertical - 75) < 0.02)
    }

    @Test(arguments: formats, Orientation.allCases)
    func aTurnedPictureIsTheUprightOneAndTurnedOnce(_ format: ImageFormat, _ orientation: Orientation) throws {
        let upright = try Drawings.picture(64, 40)
        let inverse: Orientation = [.right: .left, .left: .right][orientation] ?? orientation
        let stored = Image(
            pixels: try upright.pixels.oriented(by: inverse),
            info: Image.Info(
                alpha: .opaque, orientation: orientation,
                metadata: ImageMetadata(
                    exif: EXIFMaker(orientation: 4).block(), xmp: XMPMaker.packet(orientation: 4))))
        // The loss of this format for this picture, without an orientation.
        let plain = try CoderRegistry.standard.decode(try Self.encode(upright, format, Self.kept)).image
        let noise = plain.bytes.meanDifference(to: upright.bytes)
        #expect(noise < 8)
        for options in [Self.kept, EncodeOptions(quality: 95)] {
            let decoded = try CoderRegistry.standard.decode(try Self.encode(stored, format, options)).image
            #expect(decoded.info.orientation == orientation && decoded.size == stored.size)
            let turned = try decoded.upright()
            #expect(turned.size == upright.size && turned.info.orientation == .up)
            #expect(turned.bytes.meanDifference(to: upright.bytes) < noise * 1.1 + 0.2)
            // The orientation is applied and the metadata kept. Every reader shows the new file upright.
            let again = try Self.encode(turned, format, Self.kept)
            let found = try CoderRegistry.standard.decode(again).image
            #expect(found.info.orientation == .up)
            let exif = found.info.metadata.exif.flatMap { EXIFBlock($0) }
            #expect(exif?.orientation ?? .up == .up)
            #expect(found.info.metadata.xmp == (options.keepsMetadata ? XMPMaker.packet(orientation: 1) : nil))
        }
    }

    @Test(arguments: formats)
    func onlyOnePlaceTellsThatAPictureMustBeTurned(_ format: ImageFormat) throws {
        let image = try Drawings.picture(24, 16).with {
            $0.orientation = .left
            $0.metadata = ImageMetadata(exif: EXIFMaker(orientation: 8).block())
        }
        let found = try CoderRegistry.standard.decode(try Self.encode(image, format, Self.kept)).image
        let block = try #require(found.info.metadata.exif.flatMap { EXIFBlock($0) })
        #expect(found.info.orientation == .left)
        #expect(block.orientation == ([.avif, .jxl].contains(format) ? .up : .left))
    }

    @Test(arguments: formats)
    func longerMetadataThanTheLimitIsLeftOut(_ format: ImageFormat) throws {
        let image = try Drawings.picture(24, 16).with {
            $0.metadata = ImageMetadata(
                exif: EXIFMaker(hasThumbnail: false).block() + [UInt8](repeating: 9, count: 4000),
                xmp: [UInt8](repeating: 0x41, count: 5000))
        }
        let bytes = try Self.encode(image, format, Self.kept)
        let whole = try #require(decode(bytes).header?.metadata)
        #expect(whole.exif != nil && whole.xmp?.count == 5000)
        let limits = DecodeLimits(metadata: 2000)
        let result = decode(bytes, options: DecodeOptions(limits: limits))
        #expect(result.error == nil && result.header?.metadata == ImageMetadata())
    }

    @Test func metadataTooLongForAJPEGIsRefused() throws {
        for metadata in [
            ImageMetadata(exif: EXIFMaker().block() + [UInt8](repeating: 1, count: 65_600)),
            ImageMetadata(xmp: [UInt8](repeating: 0x41, count: 65_505)),
        ] {
            let image = try Drawings.picture(8, 8).with { $0.metadata = metadata }
            let error = #expect(throws: WebImageError.self) { try Self.encode(image, .jpeg, Self.kept) }
            #expect(error?.code == .cannotEncode)
            #expect(try Self.encode(image, .png, Self.kept).count > 65_000)
        }
        let image = try Drawings.picture(8, 8).with {
            $0.metadata = ImageMetadata(xmp: [UInt8](repeating: 0x41, count: 65_504))
        }
        #expect(decode(try Self.encode(image, .jpeg, Self.kept)).header?.metadata.xmp?.count == 65_504)
    }
}
