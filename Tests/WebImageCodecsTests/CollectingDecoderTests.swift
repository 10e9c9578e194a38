import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct CollectingDecoderTests {
    private static let files = SmallPictures.all().filter { file in
        (try? makeDecoder(file.bytes) { (_) in DecodePlan(sink: nil) }) is any CollectingDecoder
    }

    @Test func formatsWithDecodersThatSeekCollectTheirBytes() {
        let formats = Set(Self.files.map(\.format))
        #if TIFF
            #expect(formats.contains(.tiff))
        #endif
        #if AVIF
            #expect(formats.contains(.avif))
        #endif
        #if SVG
            #expect(formats.contains(.svg))
        #endif
        #expect(!formats.contains(.jpeg))
    }

    /// This holds also for a file that is cut off, and for one that continues after the array.
    @Test(arguments: files)
    func aWholeFileDecodesLikeItsPieces(_ file: SmallPictures.File) {
        let (count, part) = (file.bytes.count, file.bytes.count * 2 / 3)
        for (length, first) in [(count, count), (part, part), (count, part), (count, 1)] {
            let bytes = Array(file.bytes.prefix(length))
            let pieces = decode(bytes) { 777 }
            let whole = decodeFile(bytes, first)
            #expect(whole.error?.code == pieces.error?.code)
            #expect(whole.format == pieces.format && whole.rows == pieces.rows && whole.pixels == pieces.pixels)
        }
    }

    @Test(arguments: files) func aFileOverTheByteLimitIsRefused(_ file: SmallPictures.File) {
        var options = DecodeOptions()
        options.limits.bytes = ByteCount(file.bytes.count - 1)
        #expect(decodeFile(file.bytes, file.bytes.count, options).error?.code == .limitExceeded)
    }

    /// Decodes bytes of which the first `count` are pushed as a file in an array.
    private func decodeFile(
        _ bytes: [UInt8], _ count: Int, _ options: DecodeOptions = DecodeOptions()
    ) -> CoderDecode {
        let sink = PixelBufferSink()
        var result = CoderDecode()
        do throws(WebImageError) {
            let decoder = try makeDecoder(bytes, options) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
            guard let collecting = decoder as? any CollectingDecoder else { return result }
            _ = try collecting.push(whole: WholeFile(Array(bytes.prefix(count))))
            try bytes.dropFirst(count).withUnsafeBufferPointer { rest throws(WebImageError) in
                _ = try decoder.push(UnsafeRawBufferPointer(rest))
            }
            try decoder.finish()
        } catch { result.error = error }
        result.format = sink.format
        result.rows = sink.rowsDone
        result.pixels = sink.buffer?.rows(sink.rowsDone) ?? Pixels([])
        return result
    }
}
