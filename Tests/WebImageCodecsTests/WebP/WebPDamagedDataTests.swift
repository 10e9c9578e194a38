import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct WebPDamagedDataTests {
    private static let typed: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded,
    ]

    private static func fixtures() throws -> [(name: String, bytes: [UInt8])] {
        let tagged = try Drawings.picture(40, 38, alpha: .straight).with {
            $0.iccProfile = EncoderTests.profile(space: "RGB ", count: 141)
            $0.orientation = .left
        }
        return [
            ("lossy", try encodeWebP(Drawings.picture(40, 38))), ("lossy with metadata", try encodeWebP(tagged)),
            ("lossless", WebPMaker.file([LosslessMaker.colorful(31, 20).chunk()])),
            ("animated", WebPMaker.animated(LosslessMaker.colorful(7, 5))),
        ]
    }

    @Test func everyCutGivesATypedAnswer() throws {
        for (name, bytes) in try Self.fixtures() {
            let whole = decodeWebP(bytes)
            #expect(whole.error == nil, "\(name)")
            for length in 0..<bytes.count {
                let cut = decodeWebP(
                    Array(bytes.prefix(length)), keepsWhole: length % 2 == 0, length: { 1 + length % 50 })
                if let error = cut.error {
                    #expect(error.code == .truncatedData, "\(name) at \(length): \(error)")
                } else {
                    #expect(cut.pixels == whole.pixels, "\(name) at \(length)")
                }
            }
        }
    }

    @Test(arguments: 0..<8)
    func flippedBitsGiveATypedAnswer(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 20))
        var failures = 0
        for (name, bytes) in try Self.fixtures() {
            for round in 0..<150 {
                var damaged = bytes
                // The first half of the rounds damages headers, on which most depends.
                let reach = round < 75 ? min(bytes.count, 70) : bytes.count
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: 0..<reach, using: &generator)] ^=
                        1 << UInt8.random(in: 0...7, using: &generator)
                }
                let whole = decodeWebP(damaged, options: options)
                let pieces = decodeWebP(
                    damaged, keepsWhole: false, options: options, length: randomLengths(seed: UInt64(seed), most: 40))
                for error in [whole.error, pieces.error].compactMap(\.self) {
                    #expect(Self.typed.contains(error.code), "\(name): \(error)")
                }
                if whole.error == nil, pieces.error == nil { #expect(whole.pixels == pieces.pixels, "\(name)") }
                if whole.error != nil { failures += 1 }
            }
        }
        #expect(failures > 50)
    }

    @Test func noiseAfterTheBeginningGivesATypedAnswer() {
        var generator = SeededGenerator(seed: 12)
        let starts = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANMF", "junk"]
        for start in starts {
            for _ in 0..<150 {
                let noise = (0..<Int.random(in: 0...400, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let result = decodeWebP(WebPMaker.file([WebPMaker.chunk(start, noise)]), length: { 64 })
                #expect(result.error.map { Self.typed.contains($0.code) } ?? false)
            }
        }
    }

    @Test func sizesThatContradictEachOtherAreRefused() {
        let picture = LosslessMaker.colorful(8, 6)
        let other = PixelSize(width: 9, height: 6)
        let small = PixelSize(width: 8, height: 5)
        let animation = WebPMaker.animation(loops: 0)
        var short = WebPMaker.file([picture.chunk()])
        short[4] -= 10
        let files: [(name: String, bytes: [UInt8])] = [
            ("canvas", WebPMaker.file([WebPMaker.extended(0x10, other), picture.chunk()])),
            (
                "frame",
                WebPMaker.file([
                    WebPMaker.extended(0x12, other), animation, WebPMaker.frame(x: 0, y: 0, other, picture.chunk()),
                ])
            ),
            (
                "place",
                WebPMaker.file([
                    WebPMaker.extended(0x12, picture.size), animation,
                    WebPMaker.frame(x: 2, y: 0, picture.size, picture.chunk()),
                ])
            ),
            (
                "frame larger than the canvas",
                WebPMaker.file([
                    WebPMaker.extended(0x12, small), animation,
                    WebPMaker.frame(x: 0, y: 0, picture.size, picture.chunk()),
                ])
            ),
            ("length of the file", short),
            ("no picture", WebPMaker.file([WebPMaker.extended(0, other), WebPMaker.chunk("EXIF", [1, 2])])),
        ]
        for (name, bytes) in files {
            #expect(decodeWebP(bytes).error?.code == .corruptData, "\(name)")
            #expect(decodeWebP(bytes, length: { 1 }).error?.code == .corruptData, "\(name) in pieces")
        }
    }

    @Test func aPictureOverALimitIsRefusedBeforeMemoryIsAskedFor() throws {
        let huge = PixelSize(width: 1 << 24, height: 1 << 24)
        let bomb = decodeWebP(WebPMaker.file([WebPMaker.extended(0x12, huge)]))
        #expect(bomb.error?.code == .limitExceeded && bomb.format == nil)
        let bytes = try encodeWebP(Drawings.picture(40, 30))
        for limits in [DecodeLimits(pixels: 1199), DecodeLimits(bytes: ByteCount(bytes.count - 1))] {
            #expect(decodeWebP(bytes, options: DecodeOptions(limits: limits)).error?.code == .limitExceeded)
        }
        let enough = DecodeLimits(pixels: 1200, bytes: ByteCount(bytes.count))
        #expect(decodeWebP(bytes, options: DecodeOptions(limits: enough)).error == nil)
    }

    @Test func metadataThatIsTooLongIsLeftOut() throws {
        let image = try Drawings.picture(20, 20).with {
            $0.iccProfile = EncoderTests.profile(space: "RGB ", count: 400)
            $0.orientation = .left
        }
        let limits = DecodeLimits(metadata: ByteCount(399))
        let result = decodeWebP(try encodeWebP(image), options: DecodeOptions(limits: limits))
        #expect(result.error == nil && result.header?.iccProfile == nil && result.header?.orientation == .left)
    }

    /// A wrong chunk length at the end of the file must not lose the picture.
    @Test func aBrokenChunkAfterThePictureDoesNoHarm() {
        let picture = LosslessMaker.colorful(8, 6)
        let bytes = WebPMaker.file([picture.chunk(), Array("EXIF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF], [1, 2, 3]])
        let result = decodeWebP(bytes)
        #expect(result.error == nil && result.pixels == picture.pixels)
    }
}
