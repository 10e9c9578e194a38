import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// Frames that are larger than their canvas. Pixels outside of the canvas are not shown, but were once decoded without
/// limits.
@Suite struct GIFLargeFrameTests {
    private static let table: [[UInt8]] = [[255, 0, 0], [0, 255, 0]]

    /// - Parameter size: The size of the second frame.
    private static func file(_ size: PixelSize, canvas: PixelSize, isInterlaced: Bool) -> [UInt8] {
        func frame(_ size: PixelSize) -> GIFMaker.Frame {
            GIFMaker.Frame(
                width: size.width, height: size.height, indices: Array(repeating: 1, count: size.width * size.height),
                isInterlaced: isInterlaced)
        }
        return GIFMaker(
            width: canvas.width, height: canvas.height, table: table, frames: [frame(canvas), frame(size)], codeSize: 2
        ).file
    }

    /// - Returns: The number of rows of the frame that are read.
    private func rowsRead(_ height: Int, canvas: PixelSize, y: Int = 0, isInterlaced: Bool) throws -> Int {
        var frame = GIFFrame()
        (frame.y, frame.size, frame.isInterlaced) = (y, PixelSize(width: 3, height: height), isInterlaced)
        let format = RowFormat(size: canvas, layout: .rgba8, alpha: .straight)
        let sink = PixelBufferSink()
        try sink.begin(format)
        var writer = try GIFFrameWriter(sink, format, frame, DecodeOptions())
        try writer.setColors([255, 0, 0], transparentIndex: nil)
        var count = 0
        while !writer.isComplete, count <= height {
            try [UInt8](repeating: 0, count: 3).withUnsafeBufferPointer { try writer.write($0) }
            count += 1
        }
        return count
    }

    @Test func rowsBelowTheCanvasAreNotRead() throws {
        #expect(try rowsRead(1000, canvas: PixelSize(width: 1, height: 1), isInterlaced: true) == 1)
        #expect(try rowsRead(1000, canvas: PixelSize(width: 5, height: 9), y: 8, isInterlaced: true) == 1)
        #expect(try rowsRead(1000, canvas: PixelSize(width: 5, height: 9), isInterlaced: false) == 9)
        // The first three passes, and the rows 1, 3, 5 and 7 of the last one.
        #expect(try rowsRead(1000, canvas: PixelSize(width: 5, height: 9), isInterlaced: true) == 500 + 4)
        for height in 1...20 {
            #expect(try rowsRead(height, canvas: PixelSize(width: 5, height: 20), isInterlaced: true) == height)
        }
    }

    @Test(arguments: [false, true]) func aFrameOfMoreThanTheAllowedPixelsIsRefused(isInterlaced: Bool) throws {
        let file = Self.file(
            PixelSize(width: 30, height: 20), canvas: PixelSize(width: 4, height: 3), isInterlaced: isInterlaced)
        let allowed = CanvasAnimationDecoder(GIFPatchReader(DecodeOptions(limits: DecodeLimits(pixels: 600))))
        try allowed.push(file: file)
        try allowed.finish()
        #expect(try allowed.pixels(at: 1).bytes == Array(repeating: [0, 255, 0, 255], count: 12).flatMap { $0 })
        let refused = CanvasAnimationDecoder(GIFPatchReader(DecodeOptions(limits: DecodeLimits(pixels: 599))))
        let error = #expect(throws: WebImageError.self) { try refused.push(file: file) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func pixelsBesideTheCanvasHaveCheckpointsToo() throws {
        let calls = Counter()
        let size = PixelSize(width: 4096, height: 64)
        let file = Self.file(size, canvas: PixelSize(width: 2, height: 2), isInterlaced: true)
        let options = DecodeOptions { () throws(WebImageError) in _ = calls.next() }
        let decoder = CanvasAnimationDecoder(GIFPatchReader(options))
        try decoder.push(file: file)
        try decoder.finish()
        _ = try decoder.frame(at: 0)
        let before = calls.next()
        _ = try decoder.frame(at: 1)
        #expect(calls.next() - before > 2)
    }
}
