import Testing
import WebImageCodecs
import WebImageCore

/// A sink that records whether the decoder asked for memory.
private final class UntouchedSink: RowSink {
    var wasTouched = false

    func begin(_ format: RowFormat) throws(WebImageError) { wasTouched = true }
    func band(at row: Int, count: Int) -> UnsafeMutableRawPointer { preconditionFailure("no row was to come") }
    func commit(at row: Int, count: Int) throws(WebImageError) { wasTouched = true }
}

@Suite struct DecodeLimitTests {
    @Test func aPictureOverTheLimitIsRefusedBeforeMemoryIsAskedFor() throws {
        let fixtures = [
            try Drawings.jpeg(101, 100), try Drawings.jpeg(101, 100, progressive: true),
            try PNGCoder().encode(Drawings.picture(101, 100), as: .png, EncodeOptions()),
        ]
        for bytes in fixtures {
            let sink = UntouchedSink()
            var wasPlanned = false
            let options = DecodeOptions(limits: DecodeLimits(pixels: 10_099))
            let decoder = try makeDecoder(bytes, options) { (_) throws(WebImageError) in
                wasPlanned = true
                return DecodePlan(scaleDenominator: 8, sink: sink)
            }
            let error = #expect(throws: WebImageError.self) { try bytes.withUnsafeBytes { _ = try decoder.push($0) } }
            #expect(error?.code == .limitExceeded && !sink.wasTouched && !wasPlanned)
            #expect(decode(bytes, options: DecodeOptions(limits: DecodeLimits(pixels: 10_100))).error == nil)
        }
    }

    @Test func aHugePNGIsRefusedByItsHeaderAlone() {
        var maker = PNGMaker.random(.grey, depth: 1, size: (1, 1), isInterlaced: false, isKeyed: false, seed: 1)
        maker.width = 0x7FFF_FFFF
        maker.height = 0x7FFF_FFFF
        maker.samples = []
        let header = Array(maker.header())
        #expect(decode(header).error?.code == .limitExceeded)
    }

    @Test func anEmptyPictureIsCorrupt() {
        var maker = PNGMaker.random(.grey, depth: 8, size: (1, 1), isInterlaced: false, isKeyed: false, seed: 1)
        maker.width = 0
        #expect(decode(maker.header()).error?.code == .corruptData)
    }

    @Test func moreBytesThanAllowedAreRefused() throws {
        for bytes in [
            try Drawings.jpeg(64, 64), try PNGCoder().encode(Drawings.noise(64, 64), as: .png, EncodeOptions()),
        ] {
            let options = DecodeOptions(limits: DecodeLimits(bytes: ByteCount(bytes.count - 100)))
            #expect(decode(bytes, options: options, length: { 50 }).error?.code == .limitExceeded)
            let enough = DecodeOptions(limits: DecodeLimits(bytes: ByteCount(bytes.count)))
            #expect(decode(bytes, options: enough).error == nil)
        }
    }

    @Test func aCheckpointEndsTheDecode() throws {
        let interlaced = PNGMaker.random(.rgb, depth: 8, size: (64, 64), isInterlaced: true, isKeyed: false, seed: 1)
        let fixtures = [
            try Drawings.jpeg(64, 200), try Drawings.jpeg(64, 200, progressive: true),
            try PNGCoder().encode(Drawings.noise(64, 200), as: .png, EncodeOptions()), interlaced.file(),
        ]
        for bytes in fixtures {
            for allowed in 0...3 {
                let calls = Counter()
                let options = DecodeOptions(checkpoint: { () throws(WebImageError) in
                    if calls.next() > allowed { throw .cancelled }
                })
                let result = decode(bytes, keepsWhole: false, options: options)
                #expect(result.error?.code == .cancelled)
                #expect(result.rows < 200)
            }
        }
    }

    @Test func anErrorOfTheSinkEndsTheDecode() throws {
        let interlaced = PNGMaker.random(.rgb, depth: 8, size: (64, 64), isInterlaced: true, isKeyed: false, seed: 1)
        let fixtures = [
            try Drawings.jpeg(64, 64), try Drawings.jpeg(64, 64, progressive: true),
            try PNGCoder().encode(Drawings.noise(64, 64), as: .png, EncodeOptions()), interlaced.file(),
        ]
        for bytes in fixtures {
            let sink = StrictSink()
            sink.failure = (row: 20, error: WebImageError(.transformFailed, "the sink is full"))
            let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
            let error = #expect(throws: WebImageError.self) { try bytes.withUnsafeBytes { _ = try decoder.push($0) } }
            #expect(error?.code == .transformFailed)
            #expect(sink.rowsDone > 0 && sink.rowsDone <= 20)
        }
    }

    @Test func anErrorOfThePlanIsThrownByTheDecoder() throws {
        for bytes in [
            try Drawings.jpeg(8, 8), try PNGCoder().encode(Drawings.picture(8, 8), as: .png, EncodeOptions()),
        ] {
            let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in throw .cancelled }
            let error = #expect(throws: WebImageError.self) { try bytes.withUnsafeBytes { _ = try decoder.push($0) } }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func withoutASinkTheDecoderStopsAtTheHeader() throws {
        for bytes in [
            try Drawings.jpeg(80, 80), try PNGCoder().encode(Drawings.noise(80, 80), as: .png, EncodeOptions()),
        ] {
            let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
            let state = try bytes.withUnsafeBytes { try decoder.push($0) }
            guard case .stoppedAtHeader = state else {
                Issue.record("the decoder went on: \(state)")
                continue
            }
            #expect(decoder.header?.size == PixelSize(width: 80, height: 80))
            try decoder.finish()
        }
    }
}
