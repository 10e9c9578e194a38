import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem

struct PNGKind: CustomTestStringConvertible, Sendable {
    let color: PNGMaker.Color
    let depth: Int
    let isInterlaced: Bool
    let isKeyed: Bool

    var testDescription: String {
        "\(color) \(depth) bits\(isInterlaced ? ", interlaced" : "")\(isKeyed ? ", with tRNS" : "")"
    }

    static let all: [PNGKind] = {
        let depths: [(PNGMaker.Color, [Int])] = [
            (.grey, [1, 2, 4, 8, 16]), (.rgb, [8, 16]), (.palette, [1, 2, 4, 8]), (.greyAlpha, [8, 16]),
            (.rgba, [8, 16]),
        ]
        return depths.flatMap { color, depths in
            depths.flatMap { depth in
                [false, true].flatMap { isInterlaced in
                    (color == .greyAlpha || color == .rgba ? [false] : [false, true]).map {
                        PNGKind(color: color, depth: depth, isInterlaced: isInterlaced, isKeyed: $0)
                    }
                }
            }
        }
    }()
}

@Suite struct PNGDecodeTests {
    /// The end chunk may be damaged or missing, because all rows are already there.
    @Test func aDamagedEndChunkIsIgnored() {
        let sound = PNGMaker.random(
            .rgb, depth: 8, size: (20, 9), isInterlaced: false, isKeyed: false, seed: 4
        ).file()
        let whole = decode(sound)
        #expect(whole.error == nil)
        for length in [0, 1000] {
            var bytes = Array(sound.dropLast(12)) + PNGMaker.chunk("IEND", [UInt8](repeating: 1, count: length))
            bytes[bytes.count - 1] ^= 1
            let result = decode(bytes)
            #expect(result.error == nil && result.pixels == whole.pixels)
        }
    }

    private static let sizes = [(1, 1), (2, 1), (1, 3), (5, 2), (8, 8), (17, 33)]

    @Test(arguments: PNGKind.all)
    func everyKindGivesItsPixels(_ kind: PNGKind) {
        for (index, size) in Self.sizes.enumerated() {
            let maker = PNGMaker.random(
                kind.color, depth: kind.depth, size: size, isInterlaced: kind.isInterlaced, isKeyed: kind.isKeyed,
                seed: UInt64(index + 1))
            let result = decode(maker.file())
            #expect(result.error == nil && result.wasComplete)
            #expect(result.pixels == maker.expectedBytes())
            #expect(result.header?.size == PixelSize(width: size.0, height: size.1))
            #expect(result.header?.bitDepth == kind.depth)
            #expect(result.header?.isProgressive == kind.isInterlaced)
            let hasAlpha = kind.isKeyed || kind.color == .greyAlpha || kind.color == .rgba
            #expect(result.header?.hasAlpha == hasAlpha)
            #expect(result.format?.alpha == (hasAlpha ? .straight : .opaque))
        }
    }

    @Test(arguments: PNGKind.all)
    func anyPiecesAndAnySinkGiveTheSamePixels(_ kind: PNGKind) {
        let maker = PNGMaker.random(
            kind.color, depth: kind.depth, size: (40, 50), isInterlaced: kind.isInterlaced, isKeyed: kind.isKeyed,
            seed: 7)
        let bytes = maker.file()
        let whole = decode(bytes)
        #expect(whole.rows == 50)
        for seed in UInt64(1)...6 {
            let pieces = decode(
                bytes, keepsWhole: seed % 2 == 0, previewEvery: seed % 3 == 0 ? 2 : 0,
                length: randomLengths(seed: seed, most: seed == 1 ? 1 : 300))
            #expect(pieces.error == nil)
            #expect(pieces.pixels == whole.pixels)
        }
    }

    @Test(arguments: PNGKind.all.filter { $0.depth == 16 })
    func sixteenBitsAreKeptWhenAskedFor(_ kind: PNGKind) {
        let maker = PNGMaker.random(
            kind.color, depth: 16, size: (9, 11), isInterlaced: kind.isInterlaced, isKeyed: kind.isKeyed, seed: 3)
        let result = decode(maker.file(), options: DecodeOptions(keepsBitDepth: true))
        #expect(result.format?.layout == .rgba16)
        let expected = maker.expectedPixels().flatMap { $0 }.withUnsafeBytes { Pixels(Array($0)) }
        #expect(result.pixels == expected)
    }

    @Test func eightBitsStayEightWhenSixteenAreAllowed() {
        let maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
        #expect(decode(maker.file(), options: DecodeOptions(keepsBitDepth: true)).format?.layout == .rgba8)
    }

    @Test func rowsComeBeforeTheDataIsAllThere() throws {
        let bytes = try PNGCoder().encode(Drawings.noise(64, 64), as: .png, EncodeOptions())
        let half = decode(Array(bytes.prefix(bytes.count / 2)), keepsWhole: false, length: { 1000 })
        #expect(half.error?.code == .truncatedData)
        #expect(half.rows > 20 && half.rows < 40)
        #expect(half.pixels == decode(bytes).pixels.prefix(half.rows * 64 * 4))
    }

    @Test func anInterlacedPictureShowsCoarseFirst() throws {
        let maker = PNGMaker.random(.rgb, depth: 8, size: (64, 64), isInterlaced: true, isKeyed: false, seed: 4)
        let result = decode(maker.file(), previewEvery: 1, length: { 500 })
        #expect(result.previews.count > 5)
        let first = try #require(result.previews.first)
        #expect(first != result.pixels)
        #expect(first.prefix(4) == result.pixels.prefix(4))
        // The first pass has every eighth pixel, which fills its whole block.
        #expect(first.prefix(8).suffix(4) == result.pixels.prefix(4))
    }

    @Test func aCutInterlacedPictureIsWholeButCoarse() {
        let maker = PNGMaker.random(.rgb, depth: 8, size: (64, 64), isInterlaced: true, isKeyed: false, seed: 4)
        let bytes = maker.file()
        for keepsWhole in [true, false] {
            let result = decode(Array(bytes.prefix(bytes.count / 2)), keepsWhole: keepsWhole)
            #expect(result.error?.code == .truncatedData)
            #expect(result.rows == 64)
        }
        let early = decode(Array(bytes.prefix(150)))
        #expect(early.error?.code == .truncatedData)
        #expect(early.rows < 64)
    }

    @Test func anOrientationAfterTheDataIsSeenAtTheEnd() {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
        maker.after = [("eXIf", EXIFOrientation.block(.left))]
        #expect(decode(maker.file()).header?.orientation == .left)
        maker.before = [("eXIf", EXIFOrientation.block(.right))]
        maker.after = []
        #expect(decode(maker.file()).header?.orientation == .right)
    }

    /// Megabytes of XMP were once read and compared again for each chunk behind the header, and nothing could stop it.
    @Test func lookingForLateMetadataIsCheapAndCanBeStopped() throws {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
        let xmp = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + [UInt8](repeating: 32, count: 3 << 20)
        maker.before = [("iTXt", xmp)]
        maker.after = [(name: String, data: [UInt8])](repeating: ("IDAT", []), count: 20_000)
        let file = maker.file()
        let asked = Guarded(0)
        for most in [Int.max, 5000] {
            var options = DecodeOptions()
            options.checkpoint = { () throws(WebImageError) in
                if asked.withLock({
                    $0 += 1
                    return $0
                }) > most {
                    throw .cancelled
                }
            }
            asked.withLock { $0 = 0 }
            let decoder = try PNGCoder().makeDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
            var code: WebImageError.Code?
            do throws(WebImageError) {
                try file.withUnsafeBufferPointer { bytes throws(WebImageError) in
                    _ = try decoder.push(UnsafeRawBufferPointer(bytes))
                }
            } catch {
                code = error.code
            }
            #expect(decoder.header?.metadata.xmp?.count == 3 << 20)
            #expect(code == (most == .max ? nil : .cancelled) && asked.withLock { $0 } > min(most, 20_000))
        }
    }

    @Test func aProbeFindsAnOrientationBehindThePicture() throws {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (40, 40), isInterlaced: false, isKeyed: false, seed: 3)
        func probed(_ bytes: [UInt8], every length: Int) throws -> (probe: ImageProbe, header: ImageHeader?) {
            let probe = ImageProbe()
            var header: ImageHeader?
            for start in stride(from: 0, to: bytes.count, by: length) {
                let piece = Array(bytes[start..<min(start + length, bytes.count)])
                header = try piece.withUnsafeBytes { try probe.push($0) }
            }
            return (probe, header)
        }
        let plain = try probed(maker.file(), every: 7)
        #expect(plain.header?.orientation == .up && !plain.probe.mayFindLateMetadata)
        maker.after = [("eXIf", EXIFOrientation.block(.left))]
        let bytes = maker.file()
        for length in [7, bytes.count] {
            let late = try probed(bytes, every: length)
            #expect(late.header?.orientation == .left && !late.probe.mayFindLateMetadata)
        }
        // The data after a complete header may be missing or damaged.
        let early = try probed(Array(bytes.prefix(500)), every: 500)
        #expect(early.header?.orientation == .up && early.probe.mayFindLateMetadata && !early.probe.mayExtendHeader)
        let damaged = try probed(Array(bytes.prefix(bytes.count - 12)) + [UInt8](repeating: 0, count: 20), every: 9)
        #expect(damaged.header?.orientation == .left)
        let broken = try probed(Array(maker.file().prefix(500)) + [UInt8](repeating: 0, count: 90_000), every: 999)
        #expect(broken.header?.orientation == .up && !broken.probe.mayFindLateMetadata)
    }

    @Test func anAnimationGivesItsStillPicture() {
        var maker = PNGMaker.random(.rgba, depth: 8, size: (6, 6), isInterlaced: false, isKeyed: false, seed: 3)
        maker.before = [("acTL", big(2, 4) + big(0, 4))]
        maker.after = [("fdAT", big(1, 4) + [1, 2, 3])]
        let result = decode(maker.file())
        #expect(result.error == nil && result.header?.format == .apng)
        #expect(result.pixels == maker.expectedBytes())
        maker.before = []
        maker.after = [("acTL", big(2, 4) + big(0, 4))]
        #expect(decode(maker.file()).header?.format == .png)
    }

    /// Browsers show such a file as a still, so its header must describe a still as well.
    @Test(arguments: [(0, 0), (1 << 31 + 1, 0), (Int(UInt32.max), 0), (2, 1 << 31)])
    func anAnimationControlOutOfRangeIsIgnored(_ frames: Int, _ plays: Int) throws {
        var maker = PNGMaker.random(.rgba, depth: 8, size: (6, 6), isInterlaced: false, isKeyed: false, seed: 3)
        maker.before = [("acTL", big(frames, 4) + big(plays, 4))]
        let header = try #require(decode(maker.file()).header)
        #expect(header.format == .png && header.frameCount == 1 && header.loopCount == nil)
        let animation = try #require(try PNGCoder().makeAnimationDecoder(.apng, DecodeOptions()))
        try animation.push(file: maker.file())
        try animation.finish()
        #expect(animation.header?.frameCount == 1 && animation.storedDelays.count == 1)
        maker.before = [("acTL", big(1 << 31 - 1, 4) + big(1 << 31 - 1, 4))]
        #expect(decode(maker.file()).header?.frameCount == 1 << 31 - 1)
    }

    /// EXIF in a text chunk, as ImageMagick wrote it before there was a chunk for EXIF.
    @Test(arguments: ["tEXt", "zTXt"], [false, true]) func exifInATextIsRead(_ name: String, isLast: Bool) throws {
        let block = EXIFOrientation.block(.left)
        let text = { (bytes: [UInt8], count: Int) in
            let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            let lines = stride(from: 0, to: digits.count, by: 36).map {
                digits[$0..<min($0 + 36, digits.count)].joined()
            }
            return Array("\nexif\n    \(count)\n\(lines.joined(separator: "\n"))\n".utf8)
        }
        func header(_ text: [UInt8], key: String = "Raw profile type exif", limit: ByteCount = .mebibytes(4))
            -> ImageHeader?
        {
            var maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
            let data = Array(key.utf8) + [0] + (name == "zTXt" ? [0] + PNGMaker.zlib(text) : text)
            if isLast { maker.after = [(name, data)] } else { maker.before = [(name, data)] }
            let options = DecodeOptions(limits: DecodeLimits(metadata: limit))
            let whole = decode(maker.file(), options: options)
            #expect(whole.error == nil && whole.rows == 4)
            #expect(decode(maker.file(), options: options, length: { 3 }).header == whole.header)
            return whole.header
        }
        let prefixed = Array("Exif".utf8) + [0, 0] + block
        for bytes in [block, prefixed, Array(prefixed + [UInt8](repeating: 0, count: 500))] {
            let found = try #require(header(text(bytes, bytes.count)))
            #expect(found.orientation == .left && found.metadata.exif?.starts(with: block) == true)
        }
        // Texts with another name, shorter than stated, longer than allowed, or without digits are ignored.
        #expect(header(text(prefixed, prefixed.count), key: "Raw profile type iptc")?.metadata.exif == nil)
        #expect(header(text(prefixed, prefixed.count + 1))?.metadata.exif == nil)
        #expect(header(text(prefixed, prefixed.count), limit: ByteCount(prefixed.count - 1))?.metadata.exif == nil)
        #expect(header(text(prefixed, -5))?.metadata.exif == nil)
        #expect(header(Array("\nexif\n 12\n".utf8) + [UInt8](repeating: 255, count: 24))?.metadata.exif == nil)
        #expect(header([])?.metadata.exif == nil)
    }

    /// Each of them may be inflated to 1000 times its length, and a file has room for thousands.
    @Test func onlyOneRawProfileIsRead() throws {
        let block = EXIFOrientation.block(.left)
        let digits = block.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        func chunk(_ text: String) -> (String, [UInt8]) {
            ("zTXt", Array("Raw profile type exif\0\0".utf8) + PNGMaker.zlib(Array(text.utf8)))
        }
        let valid = chunk("\nexif\n\(block.count)\n\(digits)")
        for (chunks, isFound) in [([valid], true), ([chunk("\nexif\n 9\nzzz"), valid], false)] {
            var maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
            maker.before = chunks
            let result = decode(maker.file())
            #expect(result.error == nil && (result.header?.metadata.exif != nil) == isFound)
        }
    }

    @Test func aChunkOfEXIFComesBeforeAText() {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (4, 4), isInterlaced: false, isKeyed: false, seed: 3)
        let digits = EXIFOrientation.block(.left).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            .joined()
        let text = Array("Raw profile type exif\0\nexif\n\(digits.count / 2)\n\(digits)".utf8)
        maker.before = [("tEXt", text), ("eXIf", EXIFOrientation.block(.right))]
        #expect(decode(maker.file()).header?.orientation == .right)
    }

    @Test func sixteenBitsBecomeTheNearestEight() {
        let maker = PNGMaker(
            width: 4, height: 1, color: .grey, depth: 16, samples: [128, 129, 0xFF00 - 100, 0xFFFF])
        #expect(
            decode(maker.file()).pixels.bytes.enumerated().filter { $0.offset % 4 == 0 }.map(\.element) == [
                0, 1, 254, 255,
            ])
    }

    @Test func textAndProfilesOverTheMetadataLimitAreSkipped() {
        var maker = PNGMaker.random(.grey, depth: 8, size: (6, 6), isInterlaced: false, isKeyed: false, seed: 3)
        maker.before = [
            ("tEXt", [UInt8](repeating: 65, count: 300_000)), ("iCCP", [UInt8](repeating: 1, count: 200_000)),
        ]
        let options = DecodeOptions(limits: DecodeLimits(metadata: 1000))
        let result = decode(maker.file(), options: options, length: { 999 })
        #expect(result.error == nil && result.rows == 6 && result.header?.iccProfile == nil)
    }

    @Test func aWrongChecksumIsCorruptData() {
        var bytes = PNGMaker.random(.rgb, depth: 8, size: (9, 9), isInterlaced: false, isKeyed: false, seed: 3).file()
        bytes[bytes.count - 13] ^= 1
        let result = decode(bytes)
        #expect(result.error?.code == .corruptData)
    }

    @Test func aWrongChecksumOfAllRowsIsNoDamageWhereThatOfTheDataIsRight() throws {
        let bytes = PNGMaker.random(.rgb, depth: 8, size: (9, 9), isInterlaced: false, isKeyed: false, seed: 3).file()
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("IDAT".utf8)) })
        let end = bytes.count - 16
        var data = Array(bytes[place + 4..<end])
        data[data.count - 1] ^= 1
        let changed = Array(bytes[..<(place - 4)]) + PNGMaker.chunk("IDAT", data) + bytes[(end + 4)...]
        #expect(changed.count == bytes.count && changed != bytes)
        let result = decode(changed)
        #expect(result.error == nil && result.pixels == decode(bytes).pixels)
    }

    @Test func bytesAfterTheEndChunkAreIgnored() {
        let bytes = PNGMaker.random(.rgb, depth: 8, size: (9, 9), isInterlaced: false, isKeyed: false, seed: 3).file()
        let result = decode(bytes + [UInt8](repeating: 0xFF, count: 5000), length: { 100 })
        #expect(result.error == nil && result.wasComplete && result.rows == 9)
    }

    @Test func bytesBehindTheDataThatAreNoChunkAreIgnored() {
        let bytes = PNGMaker.random(.rgb, depth: 8, size: (9, 9), isInterlaced: false, isKeyed: false, seed: 3).file()
        let whole = decode(bytes).pixels
        for end in [[5, 112, 51, 202, 0, 0, 0, 37], [0, 0, 0, 1, 0x49, 0, 0, 0]] as [[UInt8]] {
            let result = decode(Array(bytes.dropLast(12)) + end + [UInt8](repeating: 7, count: 50), length: { 30 })
            #expect(result.error == nil && result.wasComplete && result.pixels == whole)
        }
        // Before the data, they are an error; and behind it, if rows are missing.
        #expect(decode(Array(bytes.prefix(33)) + [0, 0, 0, 1, 0x49, 0, 0, 0]).error?.code == .corruptData)
        let short = PNGMaker.random(.rgb, depth: 8, size: (9, 8), isInterlaced: false, isKeyed: false, seed: 3).file()
        let missing = decode(Array(bytes.prefix(33)) + short.dropFirst(33).dropLast(12) + [0, 0, 0, 1, 0x49, 0, 0, 0])
        #expect(missing.error != nil && missing.rows < 9)
    }

    /// As a test of the PNG specification's authors asks.
    @Test func chunksThatAreNotNecessaryMayHaveAnyName() {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (9, 9), isInterlaced: false, isKeyed: false, seed: 3)
        let whole = decode(maker.file()).pixels
        maker.before = [("tR\u{E}S", [1])]
        maker.after = [("a\u{1}b\u{2}", [1, 2])]
        let result = decode(maker.file())
        #expect(result.error == nil && result.pixels == whole)
    }

    @Test func anUnknownChunkThatIsNeededIsUnsupported() {
        var maker = PNGMaker.random(.rgb, depth: 8, size: (2, 2), isInterlaced: false, isKeyed: false, seed: 3)
        maker.before = [("CgBI", [1, 2, 3, 4])]
        #expect(decode(maker.file()).error?.code == .unsupportedFeature)
    }
}
