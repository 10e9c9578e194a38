import Testing
import WebImageCodecs
import WebImageCore

@Suite struct APNGEncodeTests {
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func everyPixelOfEveryFrameIsKept(seed: UInt64) throws {
        let size = PixelSize(width: 5 + Int(seed), height: 29 - Int(seed))
        // Some of them translucent.
        let colors = randomColors(9, seed: seed) + [0x8012_3456, 0x0100_00FF]
        let frames = try randomFrames(8, size, colors: colors, seed: seed)
        let decoder = try animationDecoder(encodeAnimation(frames, as: .apng))
        #expect(decoder.storedDelays.count == frames.count && decoder.header?.frameCount == frames.count)
        for (index, frame) in frames.enumerated() {
            #expect(try decoder.pixels(at: index) == frame.bytes, "frame \(index)")
        }
    }

    @Test func manyChunksOfDataAreKeptInOrder() throws {
        let frames = try (0..<3).map { try Drawings.noise(120, 90, seed: $0) }
        let decoder = try animationDecoder(encodeAnimation(frames, as: .apng))
        for (index, frame) in frames.enumerated() { #expect(try decoder.pixels(at: index) == frame.bytes) }
    }

    @Test(arguments: [(nil, 1), (0, 0), (1, 1), (7, 7), (-3, 0)] as [(Int?, Int)])
    func loopsAreWritten(_ given: Int?, _ read: Int) throws {
        let frames = try randomFrames(2, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        #expect(try animationDecoder(encodeAnimation(frames, as: .apng, loopCount: given)).header?.loopCount == read)
    }

    @Test func delaysAreInMillisecondsAndTheirSumIsRight() throws {
        let frames = try randomFrames(31, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        let delays = [Duration](repeating: .seconds(1) / 30, count: 30) + [.seconds(100)]
        let stored = try animationDecoder(encodeAnimation(frames, as: .apng, delays: delays)).storedDelays
        #expect(Set(stored.dropLast()) == [.milliseconds(33), .milliseconds(34)])
        #expect(stored.dropLast().reduce(.zero, +) == .seconds(1))
        #expect(stored.last == .milliseconds(65_535))
    }

    @Test func whatDoesNotChangeCostsNothing() throws {
        let noise = try Drawings.noise(100, 100)
        let one = try encodeAnimation([noise], as: .apng).count
        #expect(try encodeAnimation([noise, noise, noise], as: .apng).count - one < 400)
    }

    @Test func aPartThatChangesCostsLittleAlsoWhenItIsInTwoCorners() throws {
        let noise = try Drawings.noise(100, 100, alpha: .opaque)
        let other = try Image(size: noise.size, alpha: .straight) { bytes in
            noise.withPixels { bytes.copyMemory(from: $0) }
            for index in [0, 99 * 400 + 396] { bytes.storeBytes(of: 0xFF, toByteOffset: index + 3, as: UInt8.self) }
            for index in [0, 99 * 400 + 396] { bytes[index] ^= 0x55 }
        }
        let frames = [try opaque(noise), try opaque(other)]
        let bytes = try encodeAnimation(frames, as: .apng)
        #expect(try bytes.count - encodeAnimation([frames[0]], as: .apng).count < 600)
        #expect(try animationDecoder(bytes).pixels(at: 1) == frames[1].bytes)
    }

    @Test func levelsOfCompressionDiffer() throws {
        let frames = try (0..<2).map { try Drawings.picture(80 + $0 * 0, 80) }
        let sizes = try [0, 6].map {
            try encodeAnimation(frames, as: .apng, EncodeOptions(compressionLevel: $0)).count
        }
        #expect(sizes[0] > 80 * 80 * 4 && sizes[1] < sizes[0] / 3)
    }

    @Test func theStillPictureIsTheFirstFrameAndAStillIsOneFrame() throws {
        let image = try Drawings.picture(20, 12)
        let bytes = try CoderRegistry.standard.encoder(for: .apng).encode(image, as: .apng, EncodeOptions())
        let header = try CoderRegistry.standard.readHeader(of: bytes)
        #expect(header.format == .apng && header.frameCount == 1 && header.loopCount == 1)
        #expect(decode(bytes).pixels == image.bytes)
    }

    @Test func framesAreTurnedUprightAndOnesOfAnotherSizeRefused() throws {
        let turned = try Drawings.picture(6, 9).with { $0.orientation = .right }
        let bytes = try encodeAnimation([turned], as: .apng)
        #expect(try animationDecoder(bytes).header?.size == PixelSize(width: 9, height: 6))
        for format in [ImageFormat.apng, .gif] {
            let frames = [try Drawings.picture(6, 9), try Drawings.picture(9, 6)]
            #expect(errorCode { try encodeAnimation(frames, as: format) } == .cannotEncode)
            let coder = try CoderRegistry.standard.encoder(for: format)
            let animation = AnimationDescription(size: PixelSize(width: 6, height: 9), loopCount: nil)
            let empty = try #require(try coder.makeAnimationEncoder(format, animation, EncodeOptions()))
            #expect(errorCode { try empty.finish() } == .cannotEncode)
        }
    }

    private func opaque(_ image: Image) throws -> Image {
        try Image(size: image.size, alpha: .opaque) { bytes in
            image.withPixels { bytes.copyMemory(from: $0) }
            for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
        }
    }
}
