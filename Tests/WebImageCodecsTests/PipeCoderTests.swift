import PipeCoder
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A decoder may run in another place: everything that is passed to it and from it can be encoded as values.
struct PipeCoderTests {
    private static let files = SmallPictures.all()

    private func copy<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
    }

    private func pair(_ coder: any ImageCoder) -> CoderPair { CoderPair(coder) { PipeCoder($0) } }

    // MARK: Values

    @Test func aHeaderIsReadBackAsItWasWritten() throws {
        var header = ImageHeader(format: .png, size: PixelSize(width: 3, height: 4))
        #expect(try copy(header) == header)
        header.sizeBeforeCrop = PixelSize(width: 5, height: 6)
        header.orientation = .leftMirrored
        (header.hasAlpha, header.bitDepth, header.isProgressive, header.isVector) = (true, 16, true, true)
        header.colorModel = .cmyk
        header.iccProfile = [1, 2, 3]
        header.colorDescription = ColorDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: false)
        header.colorCalibration = ColorCalibration(decodingExponent: 2.2, chromaticities: [0.1, 0.2])
        header.metadata = ImageMetadata(exif: [4], xmp: [5], density: PixelDensity(horizontal: 72, vertical: 300.5))
        (header.frameCount, header.loopCount) = (nil, 0)
        header.drawingMemory = DrawingMemory(bytesPerPixel: 1.5, fixed: 7)
        header.otherSizes = [PixelSize(width: 1, height: 1)]
        #expect(try copy(header) == header)
    }

    @Test func aNegativeDensityIsRefusedWhenRead() {
        let text = Data(#"{"horizontal": -1, "vertical": 300}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PixelDensity.self, from: text) }
    }

    @Test func optionsAndPlansAreReadBackWithoutCheckpointAndSink() throws {
        var options = DecodeOptions(limits: DecodeLimits(pixels: 5, time: .milliseconds(1500)), keepsBitDepth: true) {}
        options.page = 3
        let read = try copy(options)
        #expect(read.limits == options.limits && read.keepsBitDepth && read.page == 3 && read.checkpoint == nil)
        let raster = VectorRaster(
            part: PixelRect(x: 0.5, y: 1, width: 2, height: 3), size: PixelSize(width: 9, height: 8))
        let plan = try copy(
            DecodePlan(
                scaleDenominator: 4, raster: raster, size: PixelSize(width: 7, height: 6), sink: PixelBufferSink()))
        #expect(plan.scaleDenominator == 4 && plan.raster == raster && plan.size == PixelSize(width: 7, height: 6))
        #expect(plan.sink == nil)
    }

    @Test func anErrorIsReadBackWithItsCauses() throws {
        struct Foreign: Error, CustomStringConvertible { let description = "a foreign one" }
        let inner = WebImageError(.limitExceeded, "too much", cause: Foreign(), format: .tiff)
        var error = WebImageError(.badStatus, "no", cause: inner, location: "a.tif", status: 503)
        error.retryAfter = .seconds(3)
        let read = try copy(error)
        #expect("\(read)" == "\(error)" && read.code == .badStatus && read.status == 503)
        #expect(read.retryAfter == .seconds(3) && (read.cause as? WebImageError)?.format == .tiff)
        var deep = error
        for _ in 0..<100 { deep = WebImageError(.cacheIO, "deeper", cause: deep) }
        #expect(try copy(deep).code == .cacheIO)
    }

    // MARK: Decoding

    @Test(arguments: files) func aStillDecodesAsWithoutThePipe(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameStill(file)
    }

    @Test(arguments: files) func aCutOrBrokenStillDecodesAsWithoutThePipe(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameOfCutAndBroken(file)
    }

    @Test(arguments: files) func aPlanIsFollowedAsWithoutThePipe(file: SmallPictures.File) throws {
        try pair(try file.coder()).expectTheSameOfAPlan(file)
    }

    @Test func aPlanMayStopAtTheHeaderAndACheckpointEndsTheDecode() throws {
        let file = try #require(Self.files.first { $0.format == .png })
        let coder = PipeCoder(try file.coder())
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: nil) }
        let state = try file.bytes.withUnsafeBytes { try decoder.push($0) }
        guard case .stoppedAtHeader = state else {
            Issue.record("it went on: \(state)")
            return
        }
        #expect(decoder.header?.size == PixelSize(width: 24, height: 20))
        let refused = DecodeOptions { () throws(WebImageError) in throw .cancelled }
        #expect(throws: WebImageError.self) { try coder.makeDecoder(refused) { _ in DecodePlan(sink: nil) } }
        let picky = try coder.makeDecoder(DecodeOptions()) { _ throws(WebImageError) in
            throw WebImageError(.limitExceeded, "not this one")
        }
        let error = #expect(throws: WebImageError.self) { try file.bytes.withUnsafeBytes { try picky.push($0) } }
        #expect(error?.message == "not this one")
    }

    // MARK: Animations and pages

    @Test(arguments: files) func anAnimationDecodesAsWithoutThePipe(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameAnimation(file)
    }

    @Test func anAnimationReportsItsWorkingMemory() throws {
        let file = try #require(Self.files.first { $0.name == "gif" })
        let (near, far) = try pair(try file.coder()).animationsThatTellTheSame(file)
        near.releaseWorkingMemory()
        far.releaseWorkingMemory()
        #expect(far.workingByteCount == near.workingByteCount)
    }

    @Test(.enabled(if: CoderRegistry.standard.decodableFormats.contains(.tiff))) func aPageDecodesAsWithoutThePipe()
        throws
    {
        let coder = try CoderRegistry.standard.encoder(for: .tiff)
        let pages = try #require(try coder.makePageEncoder(.tiff, EncodeOptions()))
        for width in [5, 9] {
            let size = PixelSize(width: width, height: 4)
            try pages.add(
                try Image(size: size, alpha: .opaque) { bytes in
                    for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : UInt8(width) }
                })
        }
        let file = try pages.finish()
        for page in 0..<3 {
            var options = DecodeOptions()
            options.page = page
            let far = pair(coder).expectTheSame("page \(page)") { DecodeOutcome($0, file, options) }
            #expect(page == 2 ? far.error != nil : far.header?.size.width == [5, 9][page])
        }
    }
}
