import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Decoders stop when their sink wants no further rows.
@Suite struct EarlyStopTests {
    /// A sink that wants only the first `count` rows.
    final class TopRows: RowSink {
        private let whole = PixelBufferSink()
        private let count: Int

        init(_ count: Int) { self.count = count }

        var rows: Int { whole.rowsDone }
        var buffer: PixelBuffer? { whole.buffer }
        var wantsRows: Bool { whole.rowsDone < count }

        func begin(_ format: RowFormat) throws(WebImageError) { try whole.begin(format) }
        func band(at row: Int, count: Int) -> UnsafeMutableRawPointer { whole.band(at: row, count: count) }
        func commit(at row: Int, count: Int) { whole.commit(at: row, count: count) }
    }

    @Test(arguments: [ImageFormat.jpeg, .qoi, .pnm], [false, true])
    func rowsBehindThoseThatAreWantedAreNotDecoded(_ format: ImageFormat, isProgressive: Bool) throws {
        let size = PixelSize(width: 64, height: 400)
        var random = SeededGenerator(seed: 3)
        let image = try Image(size: size, alpha: .opaque) { pixels in
            for place in pixels.indices {
                pixels[place] = place % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        let coder = try CoderRegistry.standard.encoder(for: format)
        let bytes = try coder.encode(image, as: format, EncodeOptions(progressive: isProgressive))
        let whole = try bytes.withUnsafeBytes { try CoderRegistry.standard.decode($0).image }
        let sink = TopRows(100)
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        var used = 0
        var state = DecodeState.needsBytes
        while used < bytes.count, case .needsBytes = state {
            let end = min(used + 512, bytes.count)
            state = try bytes[used..<end].withUnsafeBytes { bytes throws(WebImageError) in try decoder.push(bytes) }
            used = end
        }
        try decoder.finish()
        guard case .complete = state else {
            Issue.record("the decoder is \(state)")
            return
        }
        #expect((100..<200).contains(sink.rows))
        if format != .jpeg || !isProgressive { #expect(used < bytes.count * 3 / 4) }
        let top = try #require(sink.buffer)
        for row in 0..<100 {
            let (one, other) = (top.row(row), whole.pixels.row(row))
            let isSame = UnsafeRawBufferPointer(start: one, count: 256)
                .elementsEqual(UnsafeRawBufferPointer(start: other, count: 256))
            #expect(isSame, "row \(row)")
        }
    }
}
