import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct GIFAndBMPDamageTests {
    private static let typed: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded, .unknownFormat, .formatNotBuilt,
    ]

    static var fixtures: [[UInt8]] {
        (0..<6).map { GIFMaker.random(seed: UInt64($0 + 1)).file } + BMPMaker.samples.map(\.file)
            + [BMPMaker.runs8, BMPMaker.runs4]
    }

    @Test(arguments: Self.fixtures.indices)
    func everyCutGivesATypedAnswer(fixture: Int) {
        let bytes = Self.fixtures[fixture]
        let whole = decode(bytes)
        #expect(whole.error == nil)
        for length in stride(from: 0, to: bytes.count, by: max(bytes.count / 300, 1)) {
            let cut = decode(Array(bytes.prefix(length)), keepsWhole: length % 2 == 0, length: { 1 + length % 50 })
            if let error = cut.error {
                #expect([.truncatedData, .unknownFormat].contains(error.code), "at \(length): \(error)")
            } else {
                #expect(cut.pixels == whole.pixels, "at \(length)")
            }
        }
    }

    @Test(arguments: 0..<6)
    func flippedBitsGiveTheSameTypedAnswerInPieces(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16))
        var failures = 0
        for bytes in Self.fixtures {
            for _ in 0..<60 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    // Headers, where most can go wrong, are damaged as often as all the rest.
                    let end = Bool.random(using: &generator) ? min(80, bytes.count) : bytes.count
                    damaged[Int.random(in: 0..<end, using: &generator)] ^=
                        1 << UInt8.random(in: 0...7, using: &generator)
                }
                let whole = decode(damaged, options: options)
                let pieces = decode(
                    damaged, keepsWhole: false, options: options, previewEvery: 5,
                    length: randomLengths(seed: UInt64(seed), most: 40))
                #expect(whole.error?.code == pieces.error?.code)
                #expect(whole.rows == pieces.rows || whole.error != nil)
                if whole.rows == pieces.rows { #expect(whole.pixels == pieces.pixels) }
                guard let error = whole.error else { continue }
                #expect(Self.typed.contains(error.code), "\(error)")
                failures += 1
            }
        }
        #expect(failures > 20)
    }

    @Test func anErrorOfTheCheckpointEndsTheDecode() {
        for bytes in Self.fixtures {
            let counter = Counter()
            let options = DecodeOptions(checkpoint: { () throws(WebImageError) in
                if counter.next() > 1 { throw .cancelled }
            })
            let code = decode(bytes, options: options) { 40 }.error?.code
            #expect(code == .cancelled || counter.next() <= 3)
        }
    }
}
