import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct GIFEncodeTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func upTo256ColoursAreKeptInEveryFrame(seed: UInt64) throws {
        let size = PixelSize(width: 7 + Int(seed), height: 50 - Int(seed))
        // The first colour is fully transparent, so that parts become transparent again.
        let colors = randomColors([2, 3, 9, 40, 256][Int(seed) % 5], seed: seed)
        let frames = try randomFrames(9, size, colors: colors, seed: seed)
        let bytes = try encodeAnimation(frames, as: .gif)
        let decoder = try animationDecoder(bytes)
        #expect(decoder.storedDelays.count == frames.count)
        for (index, frame) in frames.enumerated() {
            #expect(try decoder.pixels(at: index) == frame.bytes, "frame \(index)")
        }
        #expect(decode(bytes).pixels == frames[0].bytes)
    }

    @Test(arguments: [1, 2, 3, 5, 17, 255, 256])
    func aStillOfFewColoursIsKept(count: Int) throws {
        let colors = Array(randomColors(count + 1, seed: 5).dropFirst())
        // The picture is large enough to fill the LZW table many times.
        let image = try randomFrames(1, PixelSize(width: 300, height: 200), colors: [colors[0]], seed: 1)[0]
        let noise = try Image(size: image.size, alpha: .opaque) { bytes in
            var generator = SeededGenerator(seed: 9)
            for index in 0..<300 * 200 {
                let color = index < count ? colors[index] : colors.randomElement(using: &generator) ?? 0
                bytes.storeBytes(of: color.littleEndian, toByteOffset: index * 4, as: UInt32.self)
            }
        }
        let bytes = try GIFCoder().encode(noise, as: .gif, EncodeOptions())
        #expect(decode(bytes).pixels == noise.bytes)
        let header = try CoderRegistry.standard.readHeader(of: bytes)
        #expect(header.frameCount == 1 && header.loopCount == nil && !header.hasAlpha)
    }

    @Test func aFrameWhoseColoursLeaveNoRoomForTransparencyIsDrawnWhole() throws {
        let colors = Array(randomColors(257, seed: 3).dropFirst())
        let frames = try (0..<3).map { turn in
            try Image(size: PixelSize(width: 16, height: 18), alpha: .opaque) { bytes in
                for index in 0..<288 {
                    // The last rows do not change, so that they could be left out.
                    let color = index < 256 ? colors[(index + turn * 7) % 256] : colors[index - 256]
                    bytes.storeBytes(of: color.littleEndian, toByteOffset: index * 4, as: UInt32.self)
                }
                bytes.storeBytes(of: colors[turn].littleEndian, toByteOffset: 287 * 4, as: UInt32.self)
            }
        }
        let decoder = try animationDecoder(encodeAnimation(frames, as: .gif))
        for (index, frame) in frames.enumerated() { #expect(try decoder.pixels(at: index) == frame.bytes) }
    }

    /// Some readers clear a frame's place to the background colour if the frame has no transparent colour.
    @Test func aFrameThatIsClearedHasATransparentColour() throws {
        let colors = Array(randomColors(257, seed: 3).dropFirst())
        let frames = try (0..<2).map { turn in
            try Image(size: PixelSize(width: 16, height: 16)) { bytes in
                for index in 0..<256 where turn == 0 || index >= 128 {
                    bytes.storeBytes(of: colors[index].littleEndian, toByteOffset: index * 4, as: UInt32.self)
                }
            }
        }
        let bytes = try encodeAnimation(frames, as: .gif)
        let control = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x21, 0xF9, 4]) })
        #expect(bytes[control + 3] == 2 << 2 | 1)
        let second = try animationDecoder(bytes).pixels(at: 1).bytes
        #expect((0..<256).allSatisfy { second[$0 * 4 + 3] == ($0 < 128 ? 0 : 255) })
    }

    @Test(arguments: [false, true])
    func aPhotographComesClose(dithers: Bool) throws {
        let pictures = [try SamplePictures.sunset(size), try SamplePictures.dawn(size)]
        for picture in pictures {
            let coded = try GIFCoder().encode(picture, as: .gif, EncodeOptions(dithers: dithers))
            let decoded = try CoderRegistry.standard.decode(coded).image
            let close = try #require(PixelComparison(picture, decoded))
            #expect(close.psnr > (dithers ? 30 : 32), "\(close.psnr)")
            // When scaled down, the dithered picture is nearer to the original.
            let far = try #require(
                PixelComparison(try picture.resized(to: quarter), try decoded.resized(to: quarter)))
            #expect(far.psnr > (dithers ? 42 : 34), "\(far.psnr)")
        }
    }

    @Test func aSmoothGradientUsesAllColours() throws {
        let image = try Image(size: PixelSize(width: 400, height: 40), alpha: .opaque) { bytes in
            for index in 0..<400 * 40 {
                let (x, y) = (index % 400, index / 400)
                let pixel = [UInt8(100 + x / 4), UInt8(120 + x / 5), UInt8(200 - x / 6 + y / 10), 255]
                for channel in 0..<4 { bytes[index * 4 + channel] = pixel[channel] }
            }
        }
        let decoded = try CoderRegistry.standard.decode(
            GIFCoder().encode(image, as: .gif, EncodeOptions(dithers: false))
        ).image
        let close = try #require(PixelComparison(image, decoded))
        #expect(close.maxDifference <= 3 && close.psnr > 45, "\(close)")
    }

    @Test func alphaBelowHalfBecomesTransparentAndTheRestOpaque() throws {
        let image = try Image(size: PixelSize(width: 256, height: 1), alpha: .straight) { bytes in
            for index in 0..<256 {
                for (channel, value) in [10, 20, 30, UInt8(index)].enumerated() { bytes[index * 4 + channel] = value }
            }
        }
        let decoded = decode(try GIFCoder().encode(image, as: .gif, EncodeOptions()))
        #expect(decoded.pixels.prefix(512) == Pixels(Array(repeating: 0, count: 512)))
        #expect(decoded.pixels.suffix(512) == Pixels((0..<128).flatMap { _ in [10, 20, 30, 255] }))
        #expect(decoded.format?.alpha == .straight)
    }

    @Test func aPhotographKeepsItsTransparentPixels() throws {
        let picture = try SamplePictures.sunset(size)
        let image = try Image(size: size, alpha: .straight) { bytes in
            picture.withPixels { bytes.copyMemory(from: $0) }
            for index in stride(from: 3, to: bytes.count, by: 28) { bytes[index] = 0 }
        }
        let frames = [image, picture, image]
        let decoder = try animationDecoder(encodeAnimation(frames, as: .gif))
        for (index, frame) in frames.enumerated() {
            let alphas = { (pixels: Pixels) in
                Pixels(stride(from: 3, to: pixels.count, by: 4).map { pixels.bytes[$0] })
            }
            #expect(try alphas(decoder.pixels(at: index)) == alphas(frame.bytes), "frame \(index)")
        }
    }

    /// The requested loop count, the number of repetitions in the file, and the loop count that is read.
    @Test(
        arguments: [
            (nil, nil, nil), (0, 0, 0), (1, nil, nil), (2, 1, 2), (12, 11, 12), (65_536, 65_535, 65_536),
            (70_000, 65_535, 65_536), (-3, 0, 0), (.min, 0, 0),
        ] as [(Int?, Int?, Int?)])
    func loopsAreWrittenAsRepetitions(_ count: Int?, _ stored: Int?, _ read: Int?) throws {
        let frames = try randomFrames(2, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        let bytes = try encodeAnimation(frames, as: .gif, loopCount: count)
        let name = bytes.indices.first { bytes[$0...].starts(with: "NETSCAPE2.0".utf8) }
        #expect(name.map { Int(bytes[$0 + 13]) | Int(bytes[$0 + 14]) << 8 } == stored)
        #expect(try animationDecoder(bytes).header?.loopCount == read)
    }

    @Test func delaysAreInHundredthsAndTheirSumIsRight() throws {
        let frames = try randomFrames(62, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        let delays = [Duration](repeating: .seconds(1) / 30, count: 60) + [.zero, .seconds(10_000)]
        let stored = try animationDecoder(encodeAnimation(frames, as: .gif, delays: delays)).storedDelays
        #expect(Set(stored.prefix(60)) == [.milliseconds(30), .milliseconds(40)])
        #expect(stored.prefix(60).reduce(.zero, +) == .seconds(2))
        #expect(stored[60] == .zero && stored[61] == .milliseconds(655_350))
    }

    /// In an animation of 60 frames a second, every third frame once had a delay of one hundredth. Players show such a
    /// frame for a tenth of a second, so the animation ran at a third of its speed.
    @Test func noDelayBecomesOneThatIsShownForATenthOfASecond() throws {
        let frames = try randomFrames(64, PixelSize(width: 8, height: 8), colors: randomColors(4, seed: 1), seed: 2)
        let delays =
            [Duration](repeating: .seconds(1) / 60, count: 60)
            + [.milliseconds(11), .milliseconds(50), .milliseconds(10), .zero]
        let stored = try animationDecoder(encodeAnimation(frames, as: .gif, delays: delays)).storedDelays
        #expect(Set(stored.prefix(60)) == [.milliseconds(20)])
        // The time that was added to these frames is not taken from the frames after them.
        #expect(stored.suffix(4) == [.milliseconds(20), .milliseconds(50), .milliseconds(10), .zero])
    }

    @Test func unchangedPixelsOfAPhotographCostAlmostNothing() throws {
        let picture = try SamplePictures.sunset(size)
        let one = try GIFCoder().encode(picture, as: .gif, EncodeOptions()).count
        #expect(try encodeAnimation([picture, picture, picture], as: .gif).count - one < 1000)
        let moved = try Image(size: size, alpha: .opaque) { bytes in
            picture.withPixels { bytes.copyMemory(from: $0) }
            // A patch from another place of the same picture, so that the palette fits it.
            for row in 20..<40 {
                for index in row * size.width * 4 + 80..<row * size.width * 4 + 160 { bytes[index] = bytes[index + 80] }
            }
        }
        let bytes = try encodeAnimation([picture, moved], as: .gif)
        #expect(bytes.count - one < 1500)
        let close = try #require(
            PixelComparison(moved.pixels, try animationDecoder(bytes).frame(at: 1)))
        #expect(close.psnr > 29, "\(close.psnr)")
    }

    @Test func aSizeOver16BitsAndAnotherFormatAreRefused() throws {
        let wide = try Image(size: PixelSize(width: 65_536, height: 1), alpha: .opaque) { _ in }
        #expect(errorCode { try GIFCoder().encode(wide, as: .gif, EncodeOptions()) } == .cannotEncode)
        #expect(errorCode { try GIFCoder().encode(wide, as: .png, EncodeOptions()) } == .cannotEncode)
        let animation = AnimationDescription(size: PixelSize(width: 1, height: 70_000), loopCount: nil)
        #expect(errorCode { try GIFCoder().makeAnimationEncoder(.gif, animation, EncodeOptions()) } == .cannotEncode)
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16], [AlphaMode.straight, .premultiplied])
    func everyKindOfPictureIsTaken(_ layout: PixelLayout, _ alpha: AlphaMode) throws {
        let image = try Drawings.picture(30, 20, layout: layout, alpha: alpha).with { $0.orientation = .left }
        let decoded = decode(try GIFCoder().encode(image, as: .gif, EncodeOptions()))
        #expect(decoded.format?.size == PixelSize(width: 20, height: 30) && decoded.error == nil)
    }

    private let size = PixelSize(width: 160, height: 100)
    private let quarter = TargetSize(PixelSize(width: 40, height: 25))
}
