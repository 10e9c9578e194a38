import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Animations that are encoded through the registry: their sizes, orientation, colours and metadata.
@Suite struct AnimationWritingTests {
    private static let registry = CoderRegistry.standard
    static let formats: [ImageFormat] = [.gif, .apng, .webp, .avif, .heicSequence, .jxl, .tiff].filter {
        (try? registry.encoder(for: $0)) != nil
    }

    /// Frames with blocks of a few colours, which every format preserves almost exactly.
    private static func frames(
        _ width: Int, _ height: Int, change: (inout Image.Info) -> Void = { _ in }
    ) throws -> [Image] {
        try (0..<3).map { number in
            try Image(size: PixelSize(width: width, height: height), alpha: .opaque) { bytes in
                for y in 0..<height {
                    for x in 0..<width {
                        let right: [UInt8] = [20, y * 2 < height ? 20 : 220, 90]
                        let color = x * 2 < width ? [220, 20, UInt8(120 + 60 * number)] : right
                        for channel in 0..<3 { bytes[(y * width + x) * 4 + channel] = color[channel] }
                        bytes[(y * width + x) * 4 + 3] = 255
                    }
                }
            }.with(change)
        }
    }

    private static func options(_ format: ImageFormat) -> EncodeOptions {
        let isLossless = (try? registry.encoder(for: format))?.losslessFormats.contains(format) ?? false
        return EncodeOptions(quality: 100, isLossless: isLossless, keepsMetadata: true)
    }

    /// The frames of a file, with its orientation applied, and its header.
    private static func read(_ bytes: [UInt8], as format: ImageFormat) throws -> (frames: [Image], header: ImageHeader)
    {
        #if TIFF
            if format == .tiff {
                let reader = try TIFFPageReader(bytes)
                let header = try registry.readHeader(of: bytes)
                return (try (0..<reader.pageCount).map { try reader.readPage($0).upright() }, header)
            }
        #endif
        let decoder = try decoder(of: bytes)
        let header = try #require(decoder.header)
        let frames = try decoder.storedDelays.indices.map { index in
            try Image(
                pixels: decoder.frame(at: index), info: Image.Info(alpha: .straight, orientation: header.orientation)
            ).upright()
        }
        return (frames, header)
    }

    private static func decoder(of bytes: [UInt8]) throws -> any AnimationDecoder {
        let found = try #require(ImageFormat(sniffing: bytes))
        let coder = try bytes.withUnsafeBytes { try registry.coder(for: found, prefix: $0) }
        let decoder = try #require(try coder.makeAnimationDecoder(found, DecodeOptions()))
        try bytes.withUnsafeBytes { try decoder.push($0) }
        try decoder.finish()
        return decoder
    }

    /// Each delay was once rounded by itself, so that sixty frames of a sixtieth of a second took 1.02 s.
    @Test(arguments: formats.filter { ![.gif, .tiff].contains($0) })
    func roundedDelaysAddUpToTheExactTotal(_ format: ImageFormat) throws {
        let frames = try (0..<3).flatMap { _ in try Self.frames(16, 16) }
        let image = DrawnAnimation.image(frames, delay: .seconds(1) / 60)
        let bytes = try Self.registry.encode(image, as: format, Self.options(format))
        let stored = try Self.decoder(of: bytes).storedDelays
        #expect(stored.reduce(.zero, +) == .milliseconds(150))
    }

    @Test(arguments: formats, [Orientation.right, .down, .leftMirrored])
    func framesThatAreStoredTurnedAreShownUpright(_ format: ImageFormat, _ orientation: Orientation) throws {
        let frames = try Self.frames(48, 32) { $0.orientation = orientation }
        let bytes = try Self.registry.encode(
            DrawnAnimation.image(frames, delay: .milliseconds(50)), as: format, Self.options(format))
        let read = try Self.read(bytes, as: format)
        #expect(read.frames.count == 3)
        for (found, frame) in zip(read.frames, frames) {
            let upright = try frame.upright()
            #expect(found.size == upright.size && found.bytes.meanDifference(to: upright.bytes) < 2)
        }
        // The orientation is kept where the format can state it, and applied otherwise.
        #expect(read.header.orientation == ([.webp, .jxl].contains(format) ? orientation : .up))
    }

    /// Trimming crops a still that is not one of the frames by its own pixels. Such an APNG was once refused.
    @Test(arguments: formats)
    func framesOfAnotherSizeThanTheStillBesideThemAreWritten(_ format: ImageFormat) throws {
        let frames = DrawnAnimation.image(try Self.frames(40, 30), delay: .milliseconds(50))
        let image = try Self.frames(48, 32)[0].with(animation: frames.animation)
        let bytes = try Self.registry.encode(image, as: format, Self.options(format))
        let read = try Self.read(bytes, as: format).frames
        #expect(read.count == 3 && read.allSatisfy { $0.size == PixelSize(width: 40, height: 30) })
        var options = Self.options(format)
        options.maxPixelSize = PixelSize(width: 20, height: 20)
        let small = try Self.read(Self.registry.encode(image, as: format, options), as: format).frames
        #expect(small.count == 3 && small.allSatisfy { $0.size == PixelSize(width: 20, height: 15) })
    }

    /// Once the first frame was written and the others were silently dropped.
    @Test(arguments: [ImageFormat.png, .bmp, .qoi, .pnm])
    func aLosslessEncodeDoesNotReduceAnAnimationToAStill(_ format: ImageFormat) throws {
        let image = DrawnAnimation.image(try Self.frames(12, 8), delay: .milliseconds(50))
        let error = #expect(throws: WebImageError.self) {
            try Self.registry.encode(image, as: format, EncodeOptions(isLossless: true))
        }
        #expect(error?.code == .cannotEncode && error?.message.contains("3 frames") == true)
        var options = EncodeOptions(isLossless: true)
        options.firstFrameOnly = true
        let still = try Self.registry.decode(Self.registry.encode(image, as: format, options)).image
        #expect(still.bytes == image.bytes)
        // In a lossy encode the first frame alone is written.
        #expect(try Self.registry.encode(image, as: format).count > 0)
    }

    @Test(arguments: formats)
    func framesFitIntoABoxWhoseAspectIsAnother(_ format: ImageFormat) throws {
        var options = Self.options(format)
        options.maxPixelSize = PixelSize(width: 100, height: 100)
        let bytes = try Self.registry.encode(
            DrawnAnimation.image(Self.frames(301, 100), delay: .milliseconds(50)), as: format, options)
        let frames = try Self.read(bytes, as: format).frames
        #expect(frames.count == 3 && frames.allSatisfy { $0.size == PixelSize(width: 100, height: 33) })
    }

    @Test(arguments: [ImageFormat.png, .jpeg])
    func aStillIsFittedIntoTheMaximalSizeOnce(_ format: ImageFormat) throws {
        var options = EncodeOptions()
        options.maxPixelSize = PixelSize(width: 100, height: 100)
        let still = try Self.frames(301, 100)[0]
        for (image, size) in [
            (still, PixelSize(width: 100, height: 33)),
            (still.with { $0.orientation = .right }, PixelSize(width: 100, height: 33)),
        ] {
            let bytes = try Self.registry.encode(image, as: format, options)
            #expect(try Self.registry.decode(bytes).image.size == size)
        }
    }

    @Test(arguments: formats.filter { $0 != .gif })
    func profileAndMetadataOfTheFramesAreWritten(_ format: ImageFormat) throws {
        let profile = try #require(ICCProfile.bytes(for: .described(ColorDescription(primaries: 12, transfer: 13))))
        let metadata = ImageMetadata(
            exif: EXIFMaker(density: (300, 300), size: (48, 32), colorSpace: 1).block(),
            xmp: XMPMaker.packet(orientation: 1))
        let frames = try Self.frames(48, 32) {
            $0.iccProfile = profile
            $0.metadata = metadata
        }
        let bytes = try Self.registry.encode(
            DrawnAnimation.image(frames, delay: .milliseconds(50)), as: format, Self.options(format))
        let header = try #require(decode(bytes).header)
        #expect(header.metadata.xmp == metadata.xmp && header.metadata.exif != nil)
        let colors = try #require(header.colors)
        #expect(colors != .described(.sRGB))
        #if TIFF
            if format == .tiff {
                let reader = try TIFFPageReader(bytes)
                for page in 0..<3 { #expect(try reader.readPage(page).info.header?.metadata.exif != nil) }
            }
        #endif
    }

    @Test func xmpAloneIsWrittenIntoAWebP() throws {
        let packet = XMPMaker.packet(orientation: 1)
        let frames = try Self.frames(16, 16) { $0.metadata = ImageMetadata(xmp: packet) }
        let bytes = try Self.registry.encode(
            DrawnAnimation.image(frames, delay: .milliseconds(50)), as: .webp, EncodeOptions(keepsMetadata: true))
        #expect(try Self.read(bytes, as: .webp).header.metadata.xmp == packet)
    }

    @Test(arguments: formats)
    func framesOfHighDynamicRangeAreDescribedOrBecomeSRGB(_ format: ImageFormat) throws {
        let frames = try Self.frames(32, 32) { $0.colorDescription = ColorDescription(primaries: 9, transfer: 16) }
        var options = Self.options(format)
        if options.isLossless, [.webp, .tiff].contains(format) {
            // They cannot be kept, and nothing may be lost.
            let error = #expect(throws: WebImageError.self) {
                try Self.registry.encode(
                    DrawnAnimation.image(frames, delay: .milliseconds(50)), as: format, options)
            }
            #expect(error?.code == .cannotEncode)
            options.isLossless = false
        }
        let bytes = try Self.registry.encode(
            DrawnAnimation.image(frames, delay: .milliseconds(50)), as: format, options)
        let read = try Self.read(bytes, as: format)
        let isTold = read.header.colorsOfPixels.description?.transfer == 16
        #expect(isTold == [.apng, .avif, .heicSequence, .jxl].contains(format))
        for (found, frame) in zip(read.frames, frames) {
            let wanted = isTold ? frame : try frame.inSRGB()
            #expect(found.bytes.meanDifference(to: wanted.bytes) < 3)
        }
    }
}

@Suite struct DynamicRangeWritingTests {
    private static let formats = CoderRegistry.standard.encodableFormats

    @Test(arguments: formats)
    func aStillOfHighDynamicRangeIsDescribedOrBecomesSRGB(_ format: ImageFormat) throws {
        for transfer in [UInt8(16), 18] {
            let image = try Image(size: PixelSize(width: 64, height: 64), layout: .rgba16, alpha: .opaque) { bytes in
                for index in 0..<64 * 64 {
                    for (channel, value) in [UInt16(30_000), 28_000, 20_000, 65_535].enumerated() {
                        bytes.storeBytes(of: value, toByteOffset: index * 8 + channel * 2, as: UInt16.self)
                    }
                }
            }.with { $0.colorDescription = ColorDescription(primaries: 9, transfer: transfer) }
            let bytes = try CoderRegistry.standard.encode(image, as: format, EncodeOptions(quality: 95))
            let found = try CoderRegistry.standard.decode(bytes, DecodeOptions(keepsBitDepth: true)).image
            let isTold = found.info.colorDescription?.transfer == transfer
            #expect(isTold == [.png, .apng, .avif, .heic, .heicSequence, .jxl].contains(format))
            // Converted to sRGB, both pictures look the same.
            let (shown, wanted) = (try found.inSRGB(), try image.inSRGB())
            for channel in 0..<3 {
                let difference = Self.level(shown, channel) - Self.level(wanted, channel)
                #expect(abs(difference) < 0.04, "\(format) \(transfer)")
            }
        }
    }

    private static func level(_ image: Image, _ channel: Int) -> Double {
        image.withPixels { pixels in
            image.layout == .rgba8
                ? Double(pixels[channel]) / 255
                : Double(pixels.loadUnaligned(fromByteOffset: channel * 2, as: UInt16.self)) / 65_535
        }
    }
}
