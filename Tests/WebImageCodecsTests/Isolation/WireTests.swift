import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@testable import WebImageCodecs

/// Values that are sent between a host and its workers. They arrive complete, and are read from bytes that may come
/// from an attacker.
@Suite struct WireTests {
    /// The number of stored properties of each type that `WireValues` writes property by property. A new property has
    /// to be added there, too.
    @Test func everyPropertyIsWritten() throws {
        func count(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
        let size = PixelSize(width: 1, height: 2)
        #expect(count(ImageHeader(format: .png, size: size)) == 22)
        // The metadata is stored behind one optional reference.
        let metadata = Mirror(reflecting: ImageMetadata(exif: [1])).children.map(\.value)
        #expect(
            metadata.count == 1 && metadata.flatMap { Mirror(reflecting: $0).children.map(\.value) }.map(count) == [4])
        #expect(count(DrawingMemory()) == 2)
        #expect(count(ColorDescription.sRGB) == 4)
        #expect(count(ColorCalibration()) == 2)
        #expect(count(RowFormat(size: size, layout: .rgba8, alpha: .opaque)) == 3)
        #expect(count(DecodeLimits.default) == 7)
        // The checkpoint is not sent, nor whether only the header is wanted, nor the idle threads except for their
        // number.
        #expect(count(DecodeOptions()) == 7)
        #expect(count(VectorRaster(part: PixelRect(x: 0, y: 0, width: 1, height: 1), size: size)) == 2)
        // The sink is not sent.
        #expect(count(DecodePlan(sink: nil)) == 4)
        // Only the number of idle threads is sent of the context.
        #expect(count(EncodeOptions()) == 21)
        #expect(count(Image.Info(alpha: .opaque)) == 7)
        #expect(count(AnimationDescription(size: size, loopCount: 1)) == 2)
    }

    @Test func encodeOptionsAndImageInfoComeWhole() throws {
        var options = EncodeOptions(
            quality: 33, isLossless: true, progressive: true, compressionLevel: 2, dithers: false,
            background: RGBColor(red: 1, green: 2, blue: 3), embedsICCProfile: false, keepsMetadata: true)
        options.chroma = .yuv422
        options.avifSpeed = 3
        options.webpEffort = 5
        options.webpContent = .text
        options.jxlEffort = 8
        options.anymap = .bitmap
        options.optimizesCoding = false
        options.paletteColors = 17
        options.firstFrameOnly = true
        options.maxPixelSize = PixelSize(width: 5, height: 6)
        options.maxFileSize = 77
        options.embedsThumbnail = true
        try expectWhole(options)
        try expectWhole(EncodeOptions())
        try expectWhole(
            Image.Info(
                header: header, alpha: .premultiplied, orientation: .left, iccProfile: [8, 9],
                colorDescription: ColorDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: false),
                metadata: ImageMetadata(xmp: [1]), isPartial: true))
        try expectWhole(AnimationDescription(size: PixelSize(width: 7, height: 8), loopCount: nil))
    }

    private func expectWhole<Value: WireValue & Equatable>(_ value: Value) throws {
        let bytes = value.wireBytes
        #expect(try read(Value.self, bytes) == value)
        // One byte less or more is refused.
        for count in 0..<min(bytes.count, 600) {
            #expect(throws: WireReader.Fault.self) { try read(Value.self, Array(bytes.prefix(count))) }
        }
        #expect(throws: WireReader.Fault.self) { try read(Value.self, bytes + [0]) }
    }

    private func read<Value: WireValue>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { bytes in Result { () throws(WireReader.Fault) in try Value(wireBytes: bytes) } }
            .get()
    }

    private var header: ImageHeader {
        var header = ImageHeader(format: .heic, size: PixelSize(width: 30, height: 20))
        header.sizeBeforeCrop = PixelSize(width: 32, height: 24)
        header.orientation = .left
        header.ignoredOrientation = .rightMirrored
        header.hasAlpha = true
        header.bitDepth = 10
        header.paletteBits = 4
        header.isProgressive = true
        header.iccProfile = [1, 2, 3]
        header.colorDescription = ColorDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: false)
        header.colorCalibration = ColorCalibration(decodingExponent: 1.8, chromaticities: [0.1, 0.2])
        header.metadata = ImageMetadata(
            exif: [4], xmp: [5, 6], iptc: [7], density: PixelDensity(horizontal: 72, vertical: 96))
        header.frameCount = 3
        header.loopCount = 0
        header.otherSizes = [PixelSize(width: 16, height: 16)]
        header.isDividedByFrequencies = true
        header.keepsWholePicture = true
        header.tileDivisor = 4
        return header
    }

    @Test func headersComeWhole() throws {
        try expectWhole(header)
        try expectWhole(ImageHeader(format: .png, size: PixelSize(width: 1, height: 1)))
    }

    @Test func errorsComeWithTheirCauses() throws {
        let cause = WebImageError(.truncatedData, "the end is missing", format: .webp)
        let error = WebImageError(.corruptData, "it cannot be read", cause: cause, format: .heic)
        let bytes = error.wireBytes
        let back = try read(WebImageError.self, bytes)
        #expect(back.code == .corruptData && back.message == error.message && back.format == .heic)
        #expect((back.cause as? WebImageError)?.code == .truncatedData)
    }

    @Test func errorsComeWithTheLimitThatWasPassed() throws {
        for limit in WebImageError.Limit.all {
            let error = WebImageError(over: limit, "it is too large")
            let back = try read(WebImageError.self, error.wireBytes)
            #expect(back.limit == limit && back.message == error.message)
        }
    }

    /// A decoder must not report errors of the network or of the cache, or that the manager was shut down.
    @Test(arguments: [WebImageError.Code.deadlineExceeded, .shutDown, .cacheIO]) func aDecoderTellsOnlyErrorsOfPictures(
        code: WebImageError.Code
    ) {
        #expect(throws: WireReader.Fault.self) {
            _ = try read(WebImageError.self, WebImageError(code, "a lie").wireBytes)
        }
    }

    @Test func aTableHasAsManyLevelsAsItsSpace() throws {
        let levels = (0..<33 * 33 * 33 * 3).map { UInt16(truncatingIfNeeded: $0) }
        let table = try #require(ProfileTable(.rgb, levels))
        #expect(try read(ProfileRead.self, ProfileRead(table: table).wireBytes).table == table)
        #expect(try read(ProfileRead.self, ProfileRead(table: nil).wireBytes).table == nil)
        #expect(ProfileTable(.inks, levels) == nil && ProfileTable(.rgb, Array(levels.dropLast())) == nil)
        var writer = WireWriter()
        writer.put(true)
        writer.put(ProfileTable.Space.rgb.rawValue)
        writer.put([UInt8](repeating: 0, count: 12))
        #expect(throws: WireReader.Fault.self) { _ = try read(ProfileRead.self, writer.bytes) }
    }

    /// Found by `make fuzz TARGET=wire`: the magnitude of the least number is not representable.
    @Test(arguments: [Int.min, Int.max, 1 << 50]) func durationsOutOfRangeAreRefused(number: Int) {
        var writer = WireWriter()
        writer.put(false)
        writer.put(1)
        writer.put(number)
        writer.put(0)
        writer.put(true)
        writer.put(0)
        #expect(throws: WireReader.Fault.self) { _ = try read(AnimationState.self, writer.bytes) }
    }

    /// From an attacker's bytes, each value is read or refused, and no memory is reserved for more than there is.
    @Test func anyBytesAreReadOrRefused() {
        var generator = SeededGenerator(seed: 11)
        let samples = [
            header.wireBytes, WebImageError(.corruptData, "broken").wireBytes,
            RowRun(row: 1, count: 2, wraps: false).wireBytes,
        ]
        for round in 0..<20_000 {
            var bytes = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) {
                bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
            }
            _ = try? read(ImageHeader.self, bytes)
            _ = try? read(WebImageError.self, bytes)
            _ = try? read(RowFormat.self, bytes)
            _ = try? read(RowRun.self, bytes)
            _ = try? read(StillState.self, bytes)
            _ = try? read(AnimationState.self, bytes)
            _ = try? read(ProfileRead.self, bytes)
            _ = try? read(WorkerHello.self, bytes)
        }
    }
}
