import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct DamagedDataTests {
    private static let typed: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded, .unknownFormat, .formatNotBuilt,
    ]

    static func fixtures() throws -> [(name: String, bytes: [UInt8])] {
        let interlaced = PNGMaker.random(.palette, depth: 4, size: (13, 11), isInterlaced: true, isKeyed: true, seed: 1)
        var plain = PNGMaker.random(.rgba, depth: 16, size: (6, 7), isInterlaced: false, isKeyed: false, seed: 2)
        plain.before = [("eXIf", EXIFOrientation.block(.left)), ("tEXt", Array("a comment".utf8))]
        let profile = EncoderTests.profile(space: "RGB ", count: 140)
        let tagged = try Drawings.picture(20, 18).with {
            $0.iccProfile = profile
            $0.orientation = .left
        }
        return [
            ("jpeg", try JPEGCoder().encode(tagged, as: .jpeg, EncodeOptions(quality: 60))),
            ("progressive jpeg", try Drawings.jpeg(24, 20, progressive: true)),
            ("cmyk jpeg", JPEGMaker.flatCMYK([1, 2, 3, 4], width: 16, height: 16, hasAdobeMarker: true)),
            ("many scans", JPEGMaker.manyScans(9)), ("png", try PNGCoder().encode(tagged, as: .png, EncodeOptions())),
            ("interlaced png", interlaced.file()), ("16-bit png", plain.file()),
        ]
    }

    @Test func everyCutGivesATypedAnswer() throws {
        for (name, bytes) in try Self.fixtures() {
            let whole = decode(bytes)
            #expect(whole.error == nil, "\(name)")
            for length in 0..<bytes.count {
                let cut = decode(Array(bytes.prefix(length)), keepsWhole: length % 2 == 0, length: { 1 + length % 50 })
                if let error = cut.error {
                    #expect(
                        error.code == .truncatedData || error.code == .unknownFormat, "\(name) at \(length): \(error)")
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
            for _ in 0..<60 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0...7, using: &generator)
                }
                let whole = decode(damaged, options: options)
                let pieces = decode(
                    damaged, keepsWhole: false, options: options, previewEvery: 5,
                    length: randomLengths(seed: UInt64(seed), most: 40))
                if let error = whole.error { #expect(Self.typed.contains(error.code), "\(name): \(error)") }
                // libpng drops the row in which it finds a wrong checksum of the whole data, so that the number of rows
                // depends on the pieces. libjpeg restarts each block, and its result does not depend on the pieces.
                if name.contains("jpeg") || (whole.error == nil && pieces.error == nil) {
                    #expect(whole.error?.code == pieces.error?.code, "\(name)")
                    #expect(whole.pixels == pieces.pixels, "\(name)")
                }
                if whole.error != nil { failures += 1 }
            }
        }
        #expect(failures > 20)
    }

    @Test func noiseAfterASignatureGivesATypedAnswer() {
        var generator = SeededGenerator(seed: 11)
        let starts: [[UInt8]] = [
            [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xC2], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A],
        ]
        for start in starts {
            for _ in 0..<200 {
                let noise = (0..<Int.random(in: 0...400, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let result = decode(start + noise, length: { 64 })
                #expect(result.error.map { Self.typed.contains($0.code) } ?? false)
            }
        }
    }
}
