import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct GIFDecodeTests {
    private static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 8, 7]]

    /// Four by four pixels with the indices 0 to 3.
    static func small(_ change: (inout GIFMaker) -> Void = { _ in }) -> GIFMaker {
        let frame = GIFMaker.Frame(width: 4, height: 4, indices: (0..<16).map { UInt8($0 * 7 % 4) })
        var maker = GIFMaker(width: 4, height: 4, table: colors, frames: [frame], codeSize: 2)
        change(&maker)
        return maker
    }

    @Test(arguments: 0..<80)
    func theFirstFrameIsShownAsABrowserDoes(seed: Int) {
        let maker = GIFMaker.random(seed: UInt64(seed))
        let whole = decode(maker.file)
        #expect(whole.error == nil && whole.wasComplete)
        #expect(whole.pixels == Pixels(maker.shown))
        let pieces = decode(
            maker.file, keepsWhole: false, previewEvery: 2, length: randomLengths(seed: UInt64(seed), most: 60))
        #expect(pieces.error == nil && pieces.pixels == whole.pixels)
    }

    @Test func aFullTableIsUsedOnWithoutAClearCode() {
        for clears in [true, false] {
            var generator = SeededGenerator(seed: 5)
            let indices = (0..<200 * 100).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let frame = GIFMaker.Frame(width: 200, height: 100, indices: indices)
            let table = (0..<256).map { [UInt8($0), UInt8(255 - $0), 3] }
            let maker = GIFMaker(width: 200, height: 100, table: table, frames: [frame], clearsTable: clears)
            #expect(decode(maker.file).pixels == Pixels(maker.shown))
        }
    }

    @Test func theHeaderIsThereWithTheFirstDescriptor() throws {
        let bytes = Self.small { $0.loopCount = 3 }.file
        let end = 13 + 12 + 19 + 10
        let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: PixelBufferSink()) }
        _ = try bytes[..<(end - 1)].withUnsafeBytes { (bytes) throws(WebImageError) in try decoder.push(bytes) }
        #expect(decoder.header == nil)
        _ = try bytes[(end - 1)..<end].withUnsafeBytes { (bytes) throws(WebImageError) in try decoder.push(bytes) }
        let header = try #require(decoder.header)
        #expect(header.size == PixelSize(width: 4, height: 4) && header.loopCount == 4 && header.frameCount == nil)
        #expect(!header.hasAlpha && !header.isProgressive && header.paletteBits == 2)
    }

    @Test func framesAreCountedToTheTrailer() {
        var maker = Self.small { $0.loopCount = 0 }
        maker.frames += maker.frames + maker.frames
        let whole = decode(maker.file)
        #expect(whole.header?.frameCount == 3 && whole.header?.loopCount == 0 && whole.wasComplete)
        let open = decode(maker.open)
        #expect(open.header?.frameCount == 3 && !open.wasComplete && open.error == nil)
        #expect(decode(Self.small().file).header?.loopCount == nil)
        // An earlier sub-block of the extension may state how much is to be buffered.
        maker = Self.small()
        maker.extensions = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [5, 2, 0, 0, 1, 0, 3, 1, 4, 0, 0]
        #expect(decode(maker.file).header?.loopCount == 5)
    }

    @Test func framesAreCountedWhenOnlyTheHeaderIsWanted() throws {
        var maker = Self.small()
        maker.frames += maker.frames
        let bytes = maker.file
        let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
        for piece in [bytes[..<40], bytes[40...]] {
            let state = try piece.withUnsafeBytes { (bytes) throws(WebImageError) in try decoder.push(bytes) }
            guard case .stoppedAtHeader = state else {
                Issue.record("\(state)")
                return
            }
            #expect(decoder.header?.frameCount == (piece.startIndex == 0 ? nil : 2))
        }
    }

    @Test func alphaIsDeclaredOrBesideTheFrame() {
        #expect(decode(Self.small().file).header?.hasAlpha == false)
        #expect(decode(Self.small { $0.frames[0].transparentIndex = 2 }.file).header?.hasAlpha == true)
        #expect(decode(Self.small { $0.width = 5 }.file).format?.alpha == .straight)
        #expect(decode(Self.small { $0.width = 3 }.file).format?.alpha == .opaque)
    }

    @Test func otherExtensionsAndStrayBytesAreSkipped() {
        let comment: [UInt8] = [0x21, 0xFE, 2, 65, 66, 0]
        let text: [UInt8] = [0x21, 0x01, 12] + [UInt8](repeating: 7, count: 12) + [1, 65, 0]
        let application: [UInt8] = [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + [3, 1, 9, 0, 0]
        let maker = Self.small {
            $0.version = "GIF87a"
            $0.extensions = comment + text + application + [0, 0]
        }
        let result = decode(maker.open + [0x77, 1, 2])
        #expect(result.error == nil && result.wasComplete && result.pixels == Pixels(maker.shown))
        #expect(result.header?.loopCount == nil && result.header?.frameCount == 1)
    }

    @Test func aCanvasWithoutASizeIsAsLargeAsItsFrame() {
        var maker = Self.small { $0.frames[0].x = 1 }
        (maker.width, maker.height) = (0, 0)
        let result = decode(maker.file)
        #expect(result.pixels == Pixels(maker.shown) && result.header?.size == PixelSize(width: 5, height: 4))
    }

    @Test func anEmptyFrameShowsNothing() {
        let result = decode(Self.small { $0.frames[0].width = 0 }.file)
        #expect(result.error == nil && result.pixels == Pixels([UInt8](repeating: 0, count: 64)))
    }

    /// The stated size of the canvas, the place of the first frame, and the size of the canvas that is shown.
    @Test(arguments: [
        ((3, 2), (0, 0), (4, 4)), ((4, 4), (9, 0), (13, 4)), ((8, 3), (1, 1), (8, 5)), ((8, 8), (4, 4), (8, 8)),
    ])
    func theCanvasGrowsToTheFirstFrame(_ stated: (Int, Int), _ place: (Int, Int), _ shown: (Int, Int)) throws {
        var maker = Self.small { ($0.frames[0].x, $0.frames[0].y) = place }
        (maker.width, maker.height) = stated
        let size = PixelSize(width: shown.0, height: shown.1)
        let result = decode(maker.file)
        #expect(result.error == nil && result.header?.size == size && result.pixels == Pixels(maker.shown))
        // Later frames are cropped to the canvas.
        maker.frames.append(GIFMaker.Frame(x: 2, width: 30, height: 40, indices: [UInt8](repeating: 1, count: 1200)))
        let decoder = try animationDecoder(maker.file)
        #expect(decoder.header?.size == size && decoder.storedDelays.count == 2)
        #expect(try decoder.pixels(at: 1).count == shown.0 * shown.1 * 4)
    }

    @Test func aCodeThatStandsForNothingIsCorrupt() {
        let start = Array(Self.small().file.prefix(13 + 12 + 10)) + [2]
        let codes = [[(4, 3), (7, 3)], [(4, 3), (1, 3), (7, 3)]]
        for codes in codes {
            let bytes = start + GIFMaker.blocks(GIFMaker.pack(codes.map { (code: $0.0, width: $0.1) })) + [0x3B]
            #expect(decode(bytes).error?.code == .corruptData)
        }
        for codeSize: UInt8 in [0, 12, 255] {
            let bytes = start.dropLast() + [codeSize, 1, 0, 0, 0x3B]
            #expect(decode(Array(bytes)).error?.code == .corruptData)
        }
    }

    @Test func dataThatEndsEarlyGivesTheRowsThatAreThere() {
        var maker = Self.small()
        maker.frames[0].indices = Array(maker.frames[0].indices.prefix(10))
        let result = decode(maker.file, keepsWhole: false)
        #expect(result.error?.code == .truncatedData && result.rows == 2)
        #expect(result.pixels == Pixels(Array(Self.small().shown.prefix(32))))
    }

    @Test func anInterlacedPictureThatEndsEarlyIsCoarse() {
        let indices = (0..<256).map { UInt8($0 / 16 % 4) }
        let frame = GIFMaker.Frame(width: 16, height: 16, indices: indices, isInterlaced: true)
        let maker = GIFMaker(width: 16, height: 16, table: Self.colors, frames: [frame], codeSize: 2)
        let bytes = maker.file
        let cut = decode(Array(bytes.prefix(bytes.count * 2 / 3)), keepsWhole: false, previewEvery: 1) { 6 }
        #expect(cut.error?.code == .truncatedData && cut.rows == 16)
        #expect(!cut.previews.isEmpty && cut.previews.last == cut.pixels)
        #expect(cut.pixels.prefix(64) == Pixels(maker.shown).prefix(64))
    }

    /// Browsers and libvips treat 4 like 3, and ignore larger values.
    @Test(arguments: [(0, 2), (1, 2), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 2)])
    func eachDisposalOfAFrameIsApplied(_ disposal: Int, _ color: Int) throws {
        let colors: [[UInt8]] = [[0, 0, 0, 0], [250, 0, 0, 255], [0, 250, 0, 255], [0, 0, 250, 255]]
        // The first frame is red; the second is green on the left; the third is blue on the right. The left then shows
        // how the second frame was disposed of.
        let drawn: [[Int]] = [[1, 1, 1, 1], [2, 2, 1, 1], [2, 2, 1, 3]]
        let frames = try drawn.map { row in
            try Image(size: PixelSize(width: 4, height: 1), alpha: .opaque) { bytes in
                bytes.copyBytes(from: row.flatMap { colors[$0] })
            }
        }
        var file = try encodeAnimation(frames, as: .gif)
        let controls = file.indices.dropLast(3).filter { file[$0..<$0 + 3].elementsEqual([0x21, 0xF9, 4]) }
        try #require(controls.count == 3)
        file[controls[1] + 3] = file[controls[1] + 3] & 0b1110_0011 | UInt8(disposal) << 2
        let decoder = try animationDecoder(file)
        #expect(try Array(decoder.pixels(at: 1).bytes[..<4]) == colors[2])
        #expect(try Array(decoder.pixels(at: 2).bytes[..<4]) == colors[color])
        #expect(try Array(decoder.pixels(at: 2).bytes[12...]) == colors[3])
    }

    @Test func canvasesAndFilesOverTheLimitsAreRefused() {
        let maker = Self.small { ($0.width, $0.height) = (65_535, 65_535) }
        #expect(decode(maker.file).error?.code == .limitExceeded)
        let long = decode(Self.small().file, options: DecodeOptions(limits: DecodeLimits(bytes: ByteCount(30))))
        #expect(long.error?.code == .limitExceeded)
    }

    @Test func aFileWithoutAPictureIsCorrupt() {
        let bytes = Array(Self.small().file.prefix(25))
        #expect(decode(bytes + [0x3B]).error?.code == .corruptData)
        #expect(decode(bytes + [0x99]).error?.code == .corruptData)
        #expect(decode(bytes).error?.code == .truncatedData)
    }
}
