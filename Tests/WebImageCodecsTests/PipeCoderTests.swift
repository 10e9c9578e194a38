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

/// A decoder may be elsewhere: all that it is told and tells can be written down, and nothing else is needed.
struct PipeCoderTests {
    private static let files = SmallPictures.all()

    private func copy<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
    }

    private func coder(for file: SmallPictures.File) throws -> any ImageCoder {
        try file.bytes.withUnsafeBytes { bytes in
            try CoderRegistry.standard.coder(for: ImageFormat(sniffing: bytes), prefix: bytes)
        }
    }

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

    @Test func whatIsNoDensityIsNotReadBackAsOne() {
        let text = Data(#"{"horizontal": -1, "vertical": 300}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PixelDensity.self, from: text) }
    }

    @Test func optionsAndPlansAreReadBackWithoutWhatOnlyTheirOwnerCanCall() throws {
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

    private func expectSame(_ near: DecodeOutcome, _ far: DecodeOutcome, _ name: String) {
        #expect(far.header == near.header && far.format == near.format && far.rows == near.rows, "\(name)")
        #expect(far.hasSamePixels(as: near) && far.faults == near.faults, "\(name): \(far.faults)")
        #expect(far.error?.code == near.error?.code && far.error?.message == near.error?.message, "\(name)")
    }

    @Test(arguments: files) func aStillIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        for keepsWhole in [true, false] {
            for length in [nil, 7, 64] {
                let pieces = length.map { length in { length } }
                let (near, far) = [coder, PipeCoder(coder)].map {
                    DecodeOutcome($0, file.bytes, keepsWhole: keepsWhole, previews: length == 64, length: pieces)
                }.pair
                expectSame(near, far, file.name)
                #expect(far.error == nil, "\(file.name)")
            }
        }
    }

    @Test(arguments: files) func aStillThatIsCutOrBrokenIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        var broken = file.bytes
        broken[broken.count * 2 / 3] ^= 0x55
        for bytes in [Array(file.bytes.prefix(file.bytes.count / 2)), Array(file.bytes.prefix(9)), broken] {
            let (near, far) = [coder, PipeCoder(coder)].map { DecodeOutcome($0, bytes) }.pair
            expectSame(near, far, file.name)
        }
    }

    @Test(arguments: files) func whatAPlanAsksForIsMade(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        func decode(_ coder: any ImageCoder) throws -> PixelBuffer? {
            let sink = PixelBufferSink()
            let decoder = try coder.makeDecoder(DecodeOptions(keepsBitDepth: true)) { header throws(WebImageError) in
                let part = PixelRect(x: 1, y: 1, width: 8, height: 8)
                return DecodePlan(
                    scaleDenominator: coder.scaleDenominators(for: header).last ?? 1,
                    raster: header.isVector ? VectorRaster(part: part, size: PixelSize(width: 30, height: 20)) : nil,
                    size: header.otherSizes.last, sink: sink)
            }
            _ = try file.bytes.withUnsafeBytes { try decoder.push($0) }
            try decoder.finish()
            return sink.buffer
        }
        let near = try #require(try decode(coder))
        let far = try #require(try decode(PipeCoder(coder)))
        #expect(far.size == near.size && far.layout == near.layout)
        #expect(far.withBytes { Array($0) } == near.withBytes { Array($0) })
    }

    @Test func aPlanMayStopAtTheHeaderAndACheckpointEndsTheDecode() throws {
        let file = try #require(Self.files.first { $0.format == .png })
        let coder = PipeCoder(try coder(for: file))
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

    @Test(arguments: files) func anAnimationIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        for (backwards, length) in [(false, nil), (true, 11)] {
            let pieces = length.map { length in { length } }
            let (near, far) = [coder, PipeCoder(coder)].map {
                AnimationOutcome($0, file.format, file.bytes, most: 20, backwards: backwards, length: pieces)
            }.pair
            #expect((near == nil) == (far == nil))
            guard let near, let far else { continue }
            #expect(far.delays == near.delays && far.frames == near.frames && far.faults == near.faults)
            #expect(far.error?.code == near.error?.code)
        }
    }

    @Test func anAnimationTellsWhatItsFramesNeed() throws {
        let file = try #require(Self.files.first { $0.name == "gif" })
        func animation(_ coder: any ImageCoder) throws -> any AnimationDecoder {
            let decoder = try #require(try coder.makeAnimationDecoder(.gif, DecodeOptions()))
            try decoder.push(file: file.bytes)
            try decoder.finish()
            _ = try decoder.frame(at: 1)
            return decoder
        }
        let near = try animation(try coder(for: file))
        let far = try animation(PipeCoder(try coder(for: file)))
        #expect(near.storedDelays.count == 3)
        for index in 0..<3 { #expect(far.firstFrameNeeded(for: index) == near.firstFrameNeeded(for: index)) }
        #expect(far.workingByteCount == near.workingByteCount && far.encodedByteCount == near.encodedByteCount)
        #expect(far.beginsWithStill == near.beginsWithStill && far.header == near.header)
        near.releaseWorkingMemory()
        far.releaseWorkingMemory()
        #expect(far.workingByteCount == near.workingByteCount)
    }

    @Test(.enabled(if: CoderRegistry.standard.decodableFormats.contains(.tiff))) func aPageIsTheSame() throws {
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
            let (near, far) = [coder, PipeCoder(coder)].map { DecodeOutcome($0, file, options) }.pair
            expectSame(near, far, "page \(page)")
            #expect(page == 2 ? far.error != nil : far.header?.size.width == [5, 9][page])
        }
    }
}

extension Array {
    /// The two elements of an array of two.
    fileprivate var pair: (Element, Element) { (self[0], self[1]) }
}
