import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

@Suite struct APNGDecodeTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func everyFrameIsComposedAsTheSpecificationSays(seed: UInt64) throws {
        let maker = APNGMaker.random(seed: seed)
        let expected = maker.shown()
        let decoder = try animationDecoder(maker.file(), length: randomLengths(seed: seed, most: 200))
        #expect(decoder.header?.format == .apng && decoder.header?.frameCount == maker.frames.count)
        #expect(decoder.header?.loopCount == maker.plays)
        #expect(decoder.storedDelays.count == maker.frames.count)
        var generator = SeededGenerator(seed: seed)
        let indices = Array(expected.indices)
        for index in indices + indices.reversed() + indices.shuffled(using: &generator) {
            #expect(try decoder.pixels(at: index) == Pixels(expected[index]), "frame \(index)")
        }
    }

    @Test(arguments: [
        ((1, 10), Duration.milliseconds(100)), ((7, 0), .milliseconds(70)), ((0, 5), .zero), ((3, 1), .seconds(3)),
        ((65_535, 1), .seconds(65_535)), ((1, 64), .microseconds(15_625)),
    ])
    func aDelayIsAFractionAndDenominatorZeroMeansHundredths(_ stored: (Int, Int), _ delay: Duration) throws {
        var maker = APNGMaker.random(seed: 1)
        maker.frames[0].delay = stored
        #expect(try animationDecoder(maker.file()).storedDelays[0] == delay)
    }

    @Test func aFrameIsThereWhenTheNextOneBegins() throws {
        var maker = APNGMaker.random(seed: 8)
        maker.frames = Array(repeating: maker.frames[0], count: 3)
        let bytes = maker.file()
        let controls = bytes.indices.dropLast(4).filter { bytes[$0..<$0 + 4].elementsEqual("fcTL".utf8) }
        let decoder = try openAnimation(bytes)
        try bytes[..<(controls[1] + 34)].withUnsafeBytes { try decoder.push($0) }
        #expect(decoder.header?.frameCount == 3 && decoder.storedDelays.count == 1)
        #expect(try decoder.pixels(at: 0) == Pixels(maker.shown()[0]))
        #expect(throws: WebImageError.self) { try decoder.finish() }
        #expect(decoder.header?.frameCount == 1)
    }

    @Test func aHiddenDefaultPictureIsNoFrame() throws {
        let (red, blue) = (solid([255, 0, 0, 255]), solid([0, 0, 255, 255]))
        let bytes = APNGMaker(frames: [.init(picture: blue)], hidden: red).file()
        let decoder = try animationDecoder(bytes)
        #expect(try decoder.storedDelays.count == 1 && decoder.pixels(at: 0) == blue.expectedBytes())
        #expect(decode(bytes).pixels == red.expectedBytes())
        #expect(!decoder.beginsWithStill)
        #expect(try animationDecoder(APNGMaker(frames: [.init(picture: blue)]).file()).beginsWithStill)
    }

    /// All chunks of these kinds were once passed to each frame's decoder, so that a file of 20 MB cost as much for
    /// each of its frames.
    @Test(arguments: [PNGMaker.Color.palette, .rgb, .grey]) func superfluousTransparencyChunksAreNotKept(
        _ color: PNGMaker.Color
    )
        throws
    {
        let picture = PNGMaker.random(color, depth: 8, size: (9, 7), isInterlaced: false, isKeyed: true, seed: 3)
        let plain = APNGMaker(frames: [.init(picture: picture), .init(picture: picture)]).file()
        let place = try #require(plain.indices.dropLast(4).first { plain[$0..<$0 + 4].elementsEqual("acTL".utf8) }) - 4
        let header = picture.header().count
        var wrong = PNGMaker.chunk("tRNS", picture.transparency ?? [0])
        wrong[wrong.count - 1] ^= 1
        // The chunks come before all others and after them.
        let early = PNGMaker.chunk("tRNS", Array(repeating: 0, count: 5000)) + wrong
        var late = PNGMaker.chunk("tRNS", Array(repeating: 9, count: 300))
        for _ in 0..<50 { late += PNGMaker.chunk("tRNS", Array(repeating: 0, count: picture.transparency?.count ?? 1)) }
        let junk = Array(plain[..<header] + early + plain[header..<place] + late + plain[place...])
        let reader = PNGPatchReader(DecodeOptions())
        let decoder = CanvasAnimationDecoder(reader)
        try decoder.push(file: junk)
        try decoder.finish()
        #expect(reader.shared.reduce(0) { $0 + $1.count } <= 768 + 256 + 24)
        let expected = picture.expectedBytes()
        for index in 0..<2 { #expect(try decoder.pixels(at: index) == expected) }
        #expect(decode(junk).pixels == expected)
    }

    @Test func aPNGWithoutAnAnimationIsOneFrame() throws {
        let picture = PNGMaker.random(.rgba, depth: 8, size: (9, 7), isInterlaced: false, isKeyed: false, seed: 3)
        let decoder = try animationDecoder(picture.file())
        #expect(decoder.header?.format == .png && decoder.header?.frameCount == 1)
        #expect(try decoder.pixels(at: 0) == picture.expectedBytes())
    }

    @Test func framesBeyondThoseAnnouncedAreLeftOutAndFewerAreEnough() throws {
        var maker = APNGMaker.random(seed: 8)
        maker.frames = Array(repeating: maker.frames[0], count: 4)
        maker.announced = 2
        #expect(try animationDecoder(maker.file()).storedDelays.count == 2)
        maker.announced = 9
        let decoder = try animationDecoder(maker.file())
        #expect(decoder.storedDelays.count == 4 && decoder.header?.frameCount == 4)
    }

    /// A description, an offset into the control chunk, and the bytes that are written there.
    @Test(
        arguments: [
            ("no width", 0, [0, 0, 0, 0]), ("a width beyond the canvas", 0, [0, 0, 0, 7]),
            ("a height beyond all", 4, [255, 255, 255, 255]), ("no height", 4, [0, 0, 0, 0]),
            ("a place beyond the canvas", 8, [0, 0, 0, 4]), ("a place beyond all", 12, [255, 255, 255, 255]),
            ("an unknown disposal", 20, [3]), ("an unknown blending", 21, [2]),
        ] as [(String, Int, [UInt8])])
    func aDamagedFrameControlEndsTheAnimationBeforeIt(_ what: String, _ offset: Int, _ bytes: [UInt8]) throws {
        let pictures = [solid([1, 2, 3, 255]), solid([4, 5, 6, 255]), solid([7, 8, 9, 255]), solid([9, 9, 9, 255])]
        for hidden in [nil, solid([0, 0, 0, 255])] {
            for damaged in 0...3 {
                var maker = APNGMaker(frames: pictures.map { .init(picture: $0) }, hidden: hidden)
                maker.changeControl = {
                    if $0 == damaged { $1.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
                }
                try expect(maker.file(), shows: Array(pictures.prefix(damaged)), orElse: hidden ?? pictures[0])
            }
        }
    }

    /// The number of the chunk from which on sequence numbers are wrong, and the number of frames before it.
    @Test(arguments: [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
    func chunksOutOfOrderEndTheAnimationBeforeThem(number: Int, count: Int) throws {
        let pictures = [solid([1, 2, 3, 255]), solid([4, 5, 6, 255]), solid([7, 8, 9, 255])]
        var maker = APNGMaker(frames: pictures.map { .init(picture: $0) })
        try expect(maker.file(), shows: pictures, orElse: pictures[0])
        maker.sequenceFault = (number, 1)
        try expect(maker.file(), shows: Array(pictures.prefix(count)), orElse: pictures[0])
    }

    /// - Parameter still: The picture that is shown if there are no frames.
    private func expect(_ file: [UInt8], shows frames: [PNGMaker], orElse still: PNGMaker) throws {
        let decoder = try animationDecoder(file, length: { 7 })
        let shown = frames.isEmpty ? [still] : frames
        #expect(decoder.storedDelays.count == shown.count && decoder.header?.frameCount == shown.count)
        for (index, picture) in shown.enumerated() where index < decoder.storedDelays.count {
            #expect(try decoder.pixels(at: index) == picture.expectedBytes(), "frame \(index)")
        }
        #expect(decode(file).error == nil)
        #expect(decoder.beginsWithStill == (decode(file).pixels == shown[0].expectedBytes()))
    }

    @Test func aWrongChecksumIsFoundInControlsAndInData() throws {
        let maker = APNGMaker(frames: Array(repeating: .init(picture: solid([1, 2, 3, 255])), count: 2))
        let bytes = maker.file()
        let control = try #require(bytes.indices.first { bytes[$0...].starts(with: "fcTL".utf8) })
        var damaged = bytes
        damaged[control + 25] ^= 1
        #expect(try animationDecoder(damaged).storedDelays.count == 1)

        let data = try #require(bytes.indices.first { bytes[$0...].starts(with: "fdAT".utf8) })
        let length = bytes[data - 4..<data].reduce(0) { $0 << 8 | Int($1) }
        damaged = bytes
        damaged[data + 4 + length] ^= 0x80
        let decoder = try animationDecoder(damaged)
        #expect(try decoder.pixels(at: 0) == maker.frames[0].picture.expectedBytes())
        #expect(errorCode { try decoder.pixels(at: 1) } == .corruptData)
    }

    @Test func aFrameWithTooLittleDataIsCorrupt() throws {
        var maker = APNGMaker(frames: Array(repeating: .init(picture: solid([1, 2, 3, 255])), count: 2))
        maker.changeControl = { index, control in if index == 1 { control[7] = 2 } }
        maker.frames[1].picture.height = 1
        let decoder = try animationDecoder(maker.file())
        #expect(errorCode { try decoder.pixels(at: 1) } == .corruptData)
    }

    @Test func limitsHoldBeforeAnythingIsDecoded() throws {
        let bytes = APNGMaker(frames: Array(repeating: .init(picture: solid([1, 2, 3, 255])), count: 5)).file()
        for limits in [
            DecodeLimits(pixels: 15), DecodeLimits(animationPixels: 79), DecodeLimits(frames: 4),
            DecodeLimits(bytes: ByteCount(bytes.count - 1)),
        ] {
            #expect(errorCode { try animationDecoder(bytes, DecodeOptions(limits: limits)) } == .limitExceeded)
        }
        let enough = DecodeLimits(
            pixels: 16, animationPixels: 80, frames: 5, bytes: ByteCount(bytes.count))
        #expect(errorCode { try animationDecoder(bytes, DecodeOptions(limits: enough)) } == nil)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func flippedBitsAndCutsGiveTypedAnswers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = APNGMaker.random(seed: seed + 10).file()
        let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16))
        let typed: Set<WebImageError.Code> = [
            .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded, .unknownFormat,
        ]
        var failures = 0
        for turn in 0..<200 {
            var damaged = bytes
            if turn % 4 == 0 {
                damaged.removeLast(Int.random(in: 1...bytes.count, using: &generator))
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    damaged[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8(turn % 8)
                }
            }
            guard let decoder = try? openAnimation(damaged, options) else { continue }
            var code = errorCode {
                for start in stride(from: 0, to: damaged.count, by: 37) {
                    try damaged[start..<min(start + 37, damaged.count)].withUnsafeBytes { try decoder.push($0) }
                }
                try decoder.finish()
            }
            for index in decoder.storedDelays.indices.reversed() {
                code = errorCode { try decoder.pixels(at: index) } ?? code
            }
            guard let code else { continue }
            #expect(typed.contains(code))
            failures += 1
        }
        #expect(failures > 50)
    }

    private func solid(_ color: [UInt16]) -> PNGMaker {
        PNGMaker(width: 4, height: 4, color: .rgba, depth: 8, samples: (0..<16).flatMap { _ in color })
    }
}

/// The code of the error that `body` throws, or nil if it throws none.
func errorCode(_ body: () throws -> Void) -> WebImageError.Code? {
    do { try body() } catch { return (error as? WebImageError)?.code ?? WebImageError.Code(rawValue: -1) }
    return nil
}
func errorCode<Result>(_ body: () throws -> Result) -> WebImageError.Code? { errorCode { _ = try body() } }
