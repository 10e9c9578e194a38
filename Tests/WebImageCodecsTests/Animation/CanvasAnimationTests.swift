import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// Composited frames, compared with a naive model that draws everything from the first frame on.
@Suite struct CanvasAnimationTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func framesInAnyOrderAreAsDrawnFromTheFirst(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let reader = DrawnPatches(random: &random)
        let expected = reader.framesDrawnFromTheFirst
        let decoder = CanvasAnimationDecoder(reader)
        for _ in 0..<reader.patches.count * 2 {
            let index = Int.random(in: 0..<reader.patches.count, using: &random)
            let off = farthest(try decoder.frame(at: index), expected[index])
            // Halves may be rounded either way, once for each layer that is drawn.
            #expect(off <= 2, "frame \(index) is off by \(off)")
        }
    }

    private func farthest(_ frame: PixelBuffer, _ expected: [UInt8]) -> Int {
        frame.withBytes { pixels in zip(pixels, expected).map { abs(Int($0) - Int($1)) }.max() ?? .max }
    }

    @Test func goingBackwardsDoesNotDecodeEverythingEachTime() throws {
        var random = SeededGenerator(seed: 5)
        let count = 400
        let reader = DrawnPatches(random: &random, count: count, standsAlone: false)
        let decoder = CanvasAnimationDecoder(reader)
        for index in 0..<count { _ = try decoder.frame(at: index) }
        #expect(reader.decodes == count)
        for index in (0..<count).reversed() { _ = try decoder.frame(at: index) }
        // Drawing from the first frame each time would take 80 000 decodes.
        #expect(reader.decodes < count * 10, "\(reader.decodes) decodes")
    }

    @Test func aFrameThatStandsAloneNeedsNoOther() throws {
        var random = SeededGenerator(seed: 6)
        let reader = DrawnPatches(random: &random, count: 100, standsAlone: true)
        let decoder = CanvasAnimationDecoder(reader)
        _ = try decoder.frame(at: 99)
        _ = try decoder.frame(at: 3)
        #expect(reader.decodes == 2 && decoder.firstFrameNeeded(for: 50) == 50)
        // Nor does it need a saved copy of the canvas: the decoder keeps only the canvas and the last frame.
        for index in 0..<100 { _ = try decoder.frame(at: index) }
        #expect(decoder.workingByteCount == 2 * (try decoder.frame(at: 99)).byteCount.bytes)
    }

    @Test func theNextFrameNeedsNoSpareMemory() throws {
        var random = SeededGenerator(seed: 9)
        let reader = DrawnPatches(random: &random, count: 60, standsAlone: false)
        let expected = reader.framesDrawnFromTheFirst
        let decoder = CanvasAnimationDecoder(reader)
        for index in 0..<40 { _ = try decoder.frame(at: index) }
        let before = reader.decodes
        decoder.releaseSpareMemory()
        #expect(decoder.workingByteCount == expected[0].count)
        #expect(farthest(try decoder.frame(at: 40), expected[40]) <= 2 && reader.decodes == before + 1)
    }

    @Test func heldFramesKeepTheirPixelsAndReleasedOnesShareMemory() throws {
        var random = SeededGenerator(seed: 8)
        let reader = DrawnPatches(random: &random, count: 12, standsAlone: false)
        let expected = reader.framesDrawnFromTheFirst
        let decoder = CanvasAnimationDecoder(reader)
        let held = try (0..<6).map { try decoder.frame(at: $0) }
        var places: Set<UnsafeMutableRawPointer> = []
        for index in 6..<12 {
            let frame = try decoder.frame(at: index)
            #expect(farthest(frame, expected[index]) <= 2)
            places.insert(frame.base)
        }
        // At most two buffers: one in place of the last frame that is held, and one that all other frames share.
        #expect(places.count <= 2 && places.isDisjoint(with: held.map(\.base)))
        for (index, frame) in held.enumerated() { #expect(farthest(frame, expected[index]) <= 2) }
    }

    @Test func aFrameThatCannotBeDecodedSpoilsNoOther() throws {
        var random = SeededGenerator(seed: 7)
        let reader = DrawnPatches(random: &random, count: 12, standsAlone: false)
        let expected = reader.framesDrawnFromTheFirst
        let decoder = CanvasAnimationDecoder(reader)
        reader.damaged = 6
        _ = try decoder.frame(at: 5)
        #expect(throws: WebImageError.self) { try decoder.frame(at: 6) }
        #expect(throws: WebImageError.self) { try decoder.frame(at: 9) }
        #expect(farthest(try decoder.frame(at: 4), expected[4]) <= 2)
    }

    /// A file that is in memory as an array was once copied for its animation.
    @Test func aFileThatIsAnArrayIsKeptAndNotCopied() throws {
        let frames = try [Drawings.picture(20, 10), Drawings.noise(20, 10, alpha: .opaque)]
        let readers: [(ImageFormat, any FramePatchReader)] = [
            (.gif, GIFPatchReader(DecodeOptions())), (.apng, PNGPatchReader(DecodeOptions())),
            (.webp, WebPPatchReader(DecodeOptions())),
        ]
        for (format, reader) in readers {
            let file = try encodeAnimation(frames, as: format)
            let (decoder, copying) = (CanvasAnimationDecoder(reader), try Self.decoder(of: format))
            try decoder.push(file: file)
            try file.withUnsafeBytes { try copying.push($0) }
            try decoder.finish()
            #expect(Self.place(of: reader.bytes) == Self.place(of: file))
            for index in 0..<2 { #expect(try decoder.pixels(at: index) == copying.pixels(at: index)) }
        }
    }

    private static func decoder(of format: ImageFormat) throws -> any AnimationDecoder {
        let coder = try CoderRegistry.standard.encoder(for: format)
        return try #require(try coder.makeAnimationDecoder(format, DecodeOptions()))
    }

    private static func place(of bytes: [UInt8]) -> UnsafePointer<UInt8>? {
        bytes.withUnsafeBufferPointer { $0.baseAddress }
    }

    /// All frames of a piece were once kept before they were counted, which took 0.9 GB for a GIF of 64 MiB.
    @Test(arguments: [ImageFormat.gif, .apng, .webp]) func tooManyFramesOrPixelsAreRefused(_ format: ImageFormat) throws
    {
        let frames = try (0..<12).map { try Drawings.noise(9, 7, alpha: .opaque, seed: UInt64($0)) }
        let file = try encodeAnimation(frames, as: format)
        for (limits, most) in [
            (DecodeLimits(frames: 5), 5), (DecodeLimits(frames: 11), 11),
            (DecodeLimits(animationPixels: 12 * 9 * 7 - 1), 11),
        ] {
            let reader = Self.reader(of: format, DecodeOptions(limits: limits))
            let decoder = CanvasAnimationDecoder(reader)
            let error = #expect(throws: WebImageError.self) { try decoder.push(file: file) }
            #expect(error?.code == .limitExceeded && reader.patches.count == most)
            // The error states only the limit, because the number of frames that follow is not known.
            #expect(error?.message.contains("more than \(most) frames") == true)
            #expect(decoder.storedDelays.count == most)
        }
        let fitting = DecodeLimits(animationPixels: 12 * 9 * 7, frames: 12)
        let decoder = CanvasAnimationDecoder(Self.reader(of: format, DecodeOptions(limits: fitting)))
        try decoder.push(file: file)
        try decoder.finish()
        #expect(decoder.storedDelays.count == 12)
    }

    private static func reader(of format: ImageFormat, _ options: DecodeOptions) -> any FramePatchReader {
        switch format {
        case .gif: GIFPatchReader(options)
        case .apng: PNGPatchReader(options)
        default: WebPPatchReader(options)
        }
    }
}

/// Patches with random places, pixels, blending and disposal on a canvas of 9 x 7.
private final class DrawnPatches: FramePatchReader {
    static let canvas = PixelSize(width: 9, height: 7)

    let patches: [FramePatch]
    let bytes: [UInt8] = []
    private let pixels: [[UInt8]]
    private(set) var decodes = 0
    var damaged: Int?

    init(random: inout SeededGenerator, count: Int = 30, standsAlone: Bool? = nil) {
        var (patches, pixels): ([FramePatch], [[UInt8]]) = ([], [])
        for _ in 0..<count {
            var patch = FramePatch()
            patch.x = Int.random(in: 0..<Self.canvas.width, using: &random)
            patch.y = Int.random(in: 0..<Self.canvas.height, using: &random)
            patch.size = PixelSize(
                width: Int.random(in: 1...Self.canvas.width - patch.x, using: &random),
                height: Int.random(in: 1...Self.canvas.height - patch.y, using: &random))
            let isWhole = standsAlone ?? (Int.random(in: 0..<6, using: &random) == 0)
            if isWhole { (patch.x, patch.y, patch.size) = (0, 0, Self.canvas) }
            patch.blend = Bool.random(using: &random) || standsAlone == true ? .replace : .over
            let disposals: [FramePatch.Disposal] = standsAlone == true ? [.keep, .clear] : [.keep, .clear, .restore]
            patch.disposal = disposals[Int.random(in: disposals.indices, using: &random)]
            if standsAlone == false {
                (patch.x, patch.size.width, patch.blend) = (0, Self.canvas.width - 1, .over)
            }
            patches.append(patch)
            pixels.append(
                (0..<patch.size.width * patch.size.height).flatMap { _ -> [UInt8] in
                    let alpha: UInt8 = [0, 255, 255, 100][Int.random(in: 0..<4, using: &random)]
                    return [UInt8.random(in: 0...255, using: &random), 7, 200, alpha]
                })
        }
        self.patches = patches
        self.pixels = pixels
    }

    var header: ImageHeader? { ImageHeader(format: .gif, size: Self.canvas, hasAlpha: true) }

    func push(_ bytes: UnsafeRawBufferPointer, of file: [UInt8]?) {}
    func finish() {}

    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError) {
        decodes += 1
        let size = patches[index].size
        try sink.begin(RowFormat(size: size, layout: .rgba8, alpha: .straight))
        for row in 0..<size.height {
            if index == damaged, row == size.height / 2 { throw WebImageError(.corruptData, "damaged") }
            let bytes = pixels[index][row * size.width * 4..<(row + 1) * size.width * 4]
            try UnsafeMutableRawBufferPointer(start: sink.band(at: row, count: 1), count: bytes.count).copyBytes(
                from: bytes)
            try sink.commit(at: row, count: 1)
        }
    }

    /// All frames, by a compositor that is as simple as possible.
    var framesDrawnFromTheFirst: [[UInt8]] {
        var canvas = [UInt8](repeating: 0, count: Self.canvas.width * Self.canvas.height * 4)
        return patches.indices.map { index in
            let (patch, before) = (patches[index], canvas)
            for place in places(of: patch) {
                let above = Array(pixels[index][place.inPatch..<place.inPatch + 4])
                let below = Array(canvas[place.onCanvas..<place.onCanvas + 4])
                let drawn = patch.blend == .replace ? above : over(above, below)
                canvas.replaceSubrange(place.onCanvas..<place.onCanvas + 4, with: drawn)
            }
            defer {
                if patch.disposal == .restore { canvas = before }
                if patch.disposal == .clear {
                    for place in places(of: patch) {
                        canvas.replaceSubrange(place.onCanvas..<place.onCanvas + 4, with: [0, 0, 0, 0])
                    }
                }
            }
            return canvas
        }
    }

    private func places(of patch: FramePatch) -> [(onCanvas: Int, inPatch: Int)] {
        (0..<patch.size.height).flatMap { row in
            (0..<patch.size.width).map { column in
                (
                    ((patch.y + row) * Self.canvas.width + patch.x + column) * 4,
                    (row * patch.size.width + column) * 4
                )
            }
        }
    }

    private func over(_ above: [UInt8], _ below: [UInt8]) -> [UInt8] {
        let (top, bottom) = (Double(above[3]) / 255, Double(below[3]) / 255 * (1 - Double(above[3]) / 255))
        guard top > 0 else { return below }
        let colors = (0..<3).map {
            UInt8(((Double(above[$0]) * top + Double(below[$0]) * bottom) / (top + bottom)).rounded())
        }
        return colors + [UInt8(((top + bottom) * 255).rounded())]
    }
}
