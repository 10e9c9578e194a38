import Testing
import WebImageCodecs
import WebImageCore

@Suite struct APNGEncodeTests {
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func everyPixelOfEveryFrameIsKept(seed: UInt64) throws {
        let size = PixelSize(width: 5 + Int(seed), height: 29 - Int(seed))
        // The last two colours are translucent.
        let colors = randomColors(9, seed: seed) + [0x8012_3456, 0x0100_00FF]
        let frames = try randomFrames(8, size, colors: colors, seed: seed)
        let decoder = try animationDecoder(encodeAnimation(frames, as: .apng))
        #expect(decoder.storedDelays.count == frames.count && decoder.header?.frameCount == frames.count)
        for (index, frame) in frames.enumerated() {
            #expect(try decoder.pixels(at: index) == frame.bytes, "frame \(index)")
        }
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func anOpaqueAnimationIsRGBUntilAPixelIsTransparent(seed: UInt64) throws {
        let size = PixelSize(width: 9 + Int(seed), height: 33 - Int(seed))
        let opaqueOnes = try randomFrames(7, size, colors: Array(randomColors(9, seed: seed).dropFirst()), seed: seed)
            .map { try opaque($0) }
        let bytes = try encodeAnimation(opaqueOnes, as: .apng)
        #expect(colorType(of: bytes) == 2)
        try expect(bytes, shows: opaqueOnes)
        // The colour that marks unchanged pixels in RGB frames, full transparency and translucency: each turns the
        // whole file into RGBA.
        for last in [0xFFFB_04FD, 0, 0x80FF_0000] as [UInt32] {
            let frames =
                try opaqueOnes + [
                    Image(size: size) { bytes in
                        opaqueOnes[6].withPixels { bytes.copyMemory(from: $0) }
                        bytes.storeBytes(of: last.littleEndian, toByteOffset: bytes.count - 4, as: UInt32.self)
                    }
                ]
            let bytes = try encodeAnimation(frames, as: .apng)
            #expect(colorType(of: bytes) == 6)
            try expect(bytes, shows: frames)
        }
    }

    @Test func anOpaqueAnimationMarksUnchangedPixelsByAKeyColour() throws {
        let noise = try opaque(try Drawings.noise(64, 64))
        let moved = try Image(size: noise.size, alpha: .opaque) { bytes in
            noise.withPixels { bytes.copyMemory(from: $0) }
            for index in [0, bytes.count - 4] { bytes[index] ^= 0x55 }
        }
        let (still, moving) = (
            try encodeAnimation([noise], as: .apng), try encodeAnimation([noise, moved, noise], as: .apng)
        )
        #expect(colorType(of: moving) == 2 && moving.count < still.count + 1000)
        #expect(!still.contains(chunk: "tRNS") && moving.contains(chunk: "tRNS"))
        try expect(moving, shows: [noise, moved, noise])
    }

    @Test(arguments: [1, 2]) func metadataStaysWhenAlphaComesLate(frameCount: Int) throws {
        let metadata = ImageMetadata(xmp: Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
        let first = try opaque(try Drawings.noise(20, 20)).with { $0.metadata = metadata }
        let clear = try Image(size: first.size) { _ in }
        let frames = [first, clear].prefix(frameCount)
        let bytes = try encodeAnimation(Array(frames), as: .apng, EncodeOptions(keepsMetadata: true))
        #expect(try CoderRegistry.standard.readHeader(of: bytes).metadata.xmp != nil)
        #expect(colorType(of: bytes) == (frameCount == 1 ? 2 : 6))
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
        let delays = [Duration](repeating: .seconds(1) / 30, count: 30) + [.seconds(70_000)]
        let stored = try animationDecoder(encodeAnimation(frames, as: .apng, delays: delays)).storedDelays
        #expect(Set(stored.dropLast()) == [.milliseconds(33), .milliseconds(34)])
        #expect(stored.dropLast().reduce(.zero, +) == .seconds(1))
        #expect(stored.last == .seconds(65_535))
    }

    /// A delay of 65 535 hundredths of a second, as in a GIF, does not fit into 65 535 thousandths.
    @Test(
        arguments: [
            (65_535, 65_535), (65_536, 65_540), (100_000, 100_000), (655_350, 655_350), (655_351, 655_400),
            (6_553_500, 6_553_500), (6_553_600, 6_554_000),
        ])
    func aLongDelayHasACoarserUnit(_ given: Int, _ read: Int) throws {
        let frames = try randomFrames(2, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        let bytes = try encodeAnimation(frames, as: .apng, delays: [.milliseconds(given), .milliseconds(10)])
        #expect(try animationDecoder(bytes).storedDelays[0] == .milliseconds(read))
    }

    @Test func unchangedFramesCostAlmostNothing() throws {
        let noise = try Drawings.noise(100, 100)
        let one = try encodeAnimation([noise], as: .apng).count
        #expect(try encodeAnimation([noise, noise, noise], as: .apng).count - one < 400)
    }

    @Test func changesInTwoCornersCostLittle() throws {
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
        #expect(sizes[0] > 80 * 80 * 3 && sizes[1] < sizes[0] / 3)
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

    private func colorType(of png: [UInt8]) -> UInt8 { png[25] }

    private func expect(_ apng: [UInt8], shows frames: [Image]) throws {
        let decoder = try animationDecoder(apng)
        #expect(decoder.storedDelays.count == frames.count)
        for (index, frame) in frames.enumerated() {
            #expect(try decoder.pixels(at: index) == frame.bytes, "frame \(index)")
        }
    }

    private func opaque(_ image: Image) throws -> Image {
        try Image(size: image.size, alpha: .opaque) { bytes in
            image.withPixels { bytes.copyMemory(from: $0) }
            for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
        }
    }
}

extension [UInt8] {
    fileprivate func contains(chunk name: String) -> Bool {
        indices.dropLast(3).contains { self[$0..<$0 + 4].elementsEqual(name.utf8) }
    }
}
