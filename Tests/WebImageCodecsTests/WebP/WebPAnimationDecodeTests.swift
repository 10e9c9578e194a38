import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@Suite struct WebPAnimationDecodeTests {
    private static let typed: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded,
    ]

    @Test(arguments: [UInt64(1), 2, 3])
    func everyBlendingAndDisposalDecodesInAnyOrder(_ seed: UInt64) throws {
        let maker = try WebPAnimationMaker.all(seed: seed)
        let shown = maker.shown()
        let result = try WebPFrames(try maker.file(), length: randomLengths(seed: seed, most: 300))
        #expect(result.error == nil && result.count == 34)
        #expect(result.decoder.storedDelays == maker.frames.map { .milliseconds($0.delay) })
        var random = SeededGenerator(seed: seed)
        for index in Array(0..<34) + (0..<34).reversed() + (0..<34).shuffled(using: &random) {
            #expect(try result.frame(index) == shown[index], "frame \(index)")
        }
    }

    @Test func theFixtureHasEverySuccessionOfBlendingAndDisposal() throws {
        let frames = try WebPAnimationMaker.all(seed: 1).frames
        let pairs = zip(frames, frames.dropFirst()).map { before, after in
            [before.replaces, before.isCleared, after.replaces, after.isCleared]
        }
        #expect(Set(pairs).count == 16)
    }

    @Test func lossyFramesWithAndWithoutAlphaAreDrawn() throws {
        for alpha in [AlphaMode.opaque, .straight] {
            let image = try Drawings.picture(30, 20, alpha: alpha)
            let frame = WebPAnimationMaker.Frame(x: 4, y: 2, image: image, replaces: true, isLossless: false)
            let maker = WebPAnimationMaker(canvas: PixelSize(width: 40, height: 24), frames: [frame], loops: 9)
            let result = try WebPFrames(try maker.file())
            let still = decodeWebP(try encodeWebP(image)).pixels.bytes
            #expect(result.error == nil && result.decoder.header?.loopCount == 9)
            var pixels = try result.frame(0).bytes
            let isDrawn = (0..<20).allSatisfy { y in
                let start = ((y + 2) * 40 + 4) * 4
                return pixels[start..<start + 120].elementsEqual(still[y * 120..<y * 120 + 120])
            }
            for y in 0..<20 {
                let start = ((y + 2) * 40 + 4) * 4
                for byte in start..<start + 120 { pixels[byte] = 0 }
            }
            #expect(isDrawn && pixels.allSatisfy { $0 == 0 })
        }
    }

    @Test func aFrameIsThereAsSoonAsItsBytesAre() throws {
        let maker = try WebPAnimationMaker.all(seed: 4, count: 5)
        let decoder = try #require(try WebPCoder().makeAnimationDecoder(.webp, DecodeOptions()))
        let shown = maker.shown()
        var counts: [Int] = []
        // The first bytes of the file state its whole length, so they are taken from the finished file.
        let file = try maker.file()
        var offset = 0
        for chunk in [Array(file.prefix(12))] + (try maker.chunks()) {
            let bytes = Array(file[offset..<offset + chunk.count])
            offset += chunk.count
            try bytes.dropLast().withUnsafeBytes { try decoder.push($0) }
            try bytes.suffix(1).withUnsafeBytes { try decoder.push($0) }
            counts.append(decoder.storedDelays.count)
            guard let last = counts.last, last > 0 else { continue }
            let isRight = try decoder.frame(at: last - 1).withBytes { Pixels(Array($0)) } == shown[last - 1]
            #expect(isRight, "frame \(last - 1)")
        }
        #expect(counts == [0, 0, 0, 1, 2, 3, 4, 5])
        #expect(decoder.header?.frameCount == 5 && decoder.header?.hasAlpha == true)
    }

    @Test func aStillHasOneFrame() throws {
        let image = try Drawings.noise(20, 9)
        let bytes = try WebPCoder().encode(image, as: .webp, EncodeOptions(isLossless: true))
        let result = try WebPFrames(bytes, length: { 7 })
        #expect(result.error == nil && result.count == 1 && result.decoder.header?.frameCount == 1)
        #expect(try result.frame(0) == image.bytes && result.decoder.header == decodeWebP(bytes).header)
    }

    @Test func theHeaderIsThatOfTheFirstFrame() throws {
        for bytes in [try WebPAnimationMaker.all(seed: 3).file(), WebPMaker.animated(.colorful(7, 5))] {
            let first = decodeWebP(bytes)
            let result = try WebPFrames(bytes)
            #expect(result.decoder.header == first.header)
            #expect(try result.frame(0).seen == first.pixels.seen)
        }
    }

    @Test func everyCutKeepsTheFramesThatAreThere() throws {
        let maker = try WebPAnimationMaker.all(seed: 5, count: 6)
        let (bytes, shown) = (try maker.file(), maker.shown())
        var counts: Set<Int> = []
        for length in 0..<bytes.count {
            let cut = try WebPFrames(Array(bytes.prefix(length)), length: { 1 + length % 60 })
            let mayBePaddingOnly = length == bytes.count - 1 && cut.error == nil
            #expect(cut.error?.code == .truncatedData || mayBePaddingOnly, "at \(length)")
            counts.insert(cut.count)
            for index in 0..<cut.count {
                #expect(try cut.frame(index) == shown[index], "frame \(index) at \(length)")
            }
        }
        #expect(counts.isSuperset(of: 0...5))
    }

    @Test(arguments: 0..<4)
    func flippedBitsGiveATypedAnswer(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16, frames: 50))
        let bytes = try WebPAnimationMaker.all(seed: 6, count: 8, isLossless: seed % 2 == 0).file()
        var failures = 0
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            let result = try WebPFrames(damaged, options, length: randomLengths(seed: UInt64(seed), most: 500))
            if let error = result.error {
                failures += 1
                #expect(Self.typed.contains(error.code), "\(error)")
            }
            for index in (0..<result.count).reversed() {
                do { _ = try result.decoder.frame(at: index) } catch {
                    #expect(Self.typed.contains(error.code), "\(error)")
                }
            }
        }
        #expect(failures > 30)
    }

    @Test func aContradictoryFrameIsCorruptAndEarlierFramesStay() throws {
        let picture = LosslessMaker.colorful(8, 6)
        let (other, canvas) = (PixelSize(width: 9, height: 6), PixelSize(width: 10, height: 8))
        let good = WebPMaker.frame(x: 2, y: 2, picture.size, picture.chunk())
        let bad: [(name: String, chunk: [UInt8])] = [
            ("size", WebPMaker.frame(x: 0, y: 0, other, picture.chunk())),
            ("place", WebPMaker.frame(x: 4, y: 2, picture.size, picture.chunk())),
            ("nothing", WebPMaker.frame(x: 0, y: 0, picture.size, [])),
            ("chunk", WebPMaker.frame(x: 0, y: 0, picture.size, WebPMaker.chunk("junk", [1, 2, 3, 4]))),
            ("length", WebPMaker.frame(x: 0, y: 0, picture.size, Array(picture.chunk().dropLast(8)))),
        ]
        for (name, chunk) in bad {
            let start = [WebPMaker.extended(0x12, canvas), WebPMaker.animation(loops: 0), good]
            for length in [Int.max, 1] {
                let result = try WebPFrames(WebPMaker.file(start + [chunk, good]), length: { length })
                #expect(result.error?.code == .corruptData && result.count == 1, "\(name)")
                #expect(throws: Never.self) { try result.frame(0) }
            }
        }
    }

    @Test func unknownChunksAreSkipped() throws {
        let picture = LosslessMaker.colorful(8, 6)
        let strange = WebPMaker.chunk("what", [1, 2, 3])
        let frame = WebPMaker.frame(x: 0, y: 0, picture.size, strange + picture.chunk() + strange)
        let bytes = WebPMaker.file([
            WebPMaker.extended(0x12, picture.size), strange, WebPMaker.animation(loops: 0), strange, frame, strange,
            frame,
        ])
        let result = try WebPFrames(bytes, length: { 5 })
        #expect(result.error == nil && result.count == 2)
        #expect(try result.frame(0).seen == picture.pixels.seen)
    }

    @Test func animationsOverALimitAreRefused() throws {
        let bytes = try WebPAnimationMaker.all(seed: 7, count: 6).file()
        let pixels = 21 * 17
        let refused = [
            DecodeLimits(frames: 5), DecodeLimits(animationPixels: pixels * 6 - 1), DecodeLimits(pixels: pixels - 1),
            DecodeLimits(bytes: ByteCount(bytes.count - 1)),
        ]
        for limits in refused {
            #expect(try WebPFrames(bytes, DecodeOptions(limits: limits)).error?.code == .limitExceeded)
        }
        let enough = DecodeLimits(
            pixels: pixels, animationPixels: pixels * 6, frames: 6, bytes: ByteCount(bytes.count))
        #expect(try WebPFrames(bytes, DecodeOptions(limits: enough)).error == nil)
        let huge = WebPMaker.file([WebPMaker.extended(0x12, PixelSize(width: 1 << 24, height: 1 << 24))])
        #expect(try WebPFrames(huge).error?.code == .limitExceeded)
    }

    @Test func theCheckpointEndsAFrame() throws {
        let calls = Counter()
        let options = DecodeOptions(
            checkpoint: { () throws(WebImageError) in if calls.next() > 2 { throw .cancelled } })
        let result = try WebPFrames(try WebPAnimationMaker.all(seed: 8, count: 4).file(), options)
        let error = #expect(throws: WebImageError.self) { for index in 0..<4 { _ = try result.frame(index) } }
        #expect(error?.code == .cancelled)
    }
}
