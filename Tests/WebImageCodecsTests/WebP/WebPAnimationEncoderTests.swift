import Testing
import WebImageCodecs
import WebImageCore

@Suite struct WebPAnimationEncoderTests {
    private func encode(
        _ frames: [Image], delays: [Int] = [], loopCount: Int? = 0, _ options: EncodeOptions = EncodeOptions()
    ) throws -> [UInt8] {
        let size = frames.first?.size ?? PixelSize(width: 8, height: 8)
        let encoder = try #require(
            try WebPCoder().makeAnimationEncoder(.webp, AnimationDescription(size: size, loopCount: loopCount), options)
        )
        for (index, frame) in frames.enumerated() {
            try encoder.add(frame, delay: .milliseconds(delays.isEmpty ? 50 : delays[index]))
        }
        return try encoder.finish()
    }

    /// Frames in which a card moves over a picture.
    private func scene(_ count: Int, alpha: AlphaMode = .opaque, on background: Image? = nil) throws -> [Image] {
        try (0..<count).map { index in
            let picture = try (background ?? Drawings.picture(64, 48, alpha: alpha)).bytes.bytes
            return try Image(size: PixelSize(width: 64, height: 48), alpha: alpha) { bytes in
                bytes.copyBytes(from: picture)
                for y in 10..<22 {
                    for x in index * 5..<index * 5 + 12 {
                        let card: [UInt8] = [240, 255, 255, 255]
                        let start: Int = (y * 64 + x) * 4
                        for channel in 0..<4 { bytes[start + channel] = card[channel] }
                    }
                }
            }
        }
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func losslessFramesComeBackExactly(_ alpha: AlphaMode) throws {
        let frames = try scene(8, alpha: alpha)
        let delays = [10, 20, 2000, 0, 70_000, 33, 40, 50]
        let result = try WebPFrames(try encode(frames, delays: delays, loopCount: 3, EncodeOptions(isLossless: true)))
        #expect(result.error == nil && result.decoder.header?.loopCount == 3 && result.decoder.header?.frameCount == 8)
        #expect(result.decoder.storedDelays == delays.map { .milliseconds($0) })
        for (index, frame) in frames.enumerated() {
            #expect(try result.frame(index).seen == frame.bytes.seen, "frame \(index)")
        }
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func framesComeBackNearlyTheSame(_ alpha: AlphaMode) throws {
        let frames = try scene(8, alpha: alpha)
        let result = try WebPFrames(try encode(frames, EncodeOptions(quality: 95)))
        #expect(result.error == nil && result.count == 8)
        for (index, frame) in frames.enumerated() {
            let difference = try result.frame(index).meanDifference(to: frame.bytes)
            #expect(difference < 8, "frame \(index): \(difference)")
        }
    }

    @Test func theLoopCountIsWritten() throws {
        let frames = try scene(2)
        for (told, stored) in [(nil, 1), (0, 0), (1, 1), (65_535, 65_535), (70_000, 65_535)] as [(Int?, Int)] {
            #expect(try WebPFrames(encode(frames, loopCount: told)).decoder.header?.loopCount == stored)
        }
    }

    /// libwebpmux stores only the opaque card of each frame, without the flag for alpha. Pillow once showed black
    /// around it.
    @Test(arguments: [false, true]) func aCanvasThatIsNotCoveredIsSaidToHaveAlpha(hasProfile: Bool) throws {
        let colors: [[UInt8]] = [[255, 255, 255, 255], [255, 0, 0, 255], [0, 0, 255, 255]]
        let clear = try colors.map { color in
            try Image(size: PixelSize(width: 64, height: 48), alpha: .straight) { bytes in
                for row in 20..<30 {
                    for column in 10..<40 {
                        for channel in 0..<4 { bytes[(row * 64 + column) * 4 + channel] = color[channel] }
                    }
                }
            }
        }.map { image in
            image.with { $0.iccProfile = hasProfile ? EncoderTests.profile(space: "RGB ", count: 301) : nil }
        }
        for options in [EncodeOptions(), EncodeOptions(isLossless: true)] {
            let moving = try encode(clear, options)
            #expect(moving[20] & 0x12 == 0x12 && decodeWebP(moving).header?.hasAlpha == true)
            guard options.isLossless else { continue }
            for index in 0..<3 { #expect(try WebPFrames(moving).frame(index).seen == clear[index].bytes.seen) }
        }
        // Opaque frames that cover the canvas have no flag for alpha.
        let noise = try (0..<3).map { try Drawings.noise(32, 32, alpha: .opaque, seed: UInt64($0)) }
        #expect(try encode(noise, EncodeOptions(isLossless: true))[20] & 0x12 == 0x02)
    }

    @Test func onlyChangedPartsOfFramesAreEncodedAgain() throws {
        let noise = try Drawings.noise(64, 48, alpha: .opaque)
        let (one, eight) = (try encode(scene(1, on: noise)), try encode(scene(8, on: noise)))
        #expect(eight.count < one.count * 2)
    }

    @Test func framesThatShowTheSameBecomeOne() throws {
        let frames = try scene(2)
        let result = try WebPFrames(
            try encode([frames[0], frames[0], frames[1]], delays: [30, 40, 50], EncodeOptions(isLossless: true)))
        #expect(result.decoder.storedDelays == [.milliseconds(70), .milliseconds(50)])
        #expect(try result.frame(0) == frames[0].bytes && result.frame(1) == frames[1].bytes)
    }

    @Test func aSingleFrameBecomesAStill() throws {
        let bytes = try encode(scene(1))
        let header = decodeWebP(bytes).header
        #expect(header?.frameCount == 1 && header?.loopCount == nil)
    }

    @Test func qualityDecidesTheSize() throws {
        let frames = try (0..<3).map { try Drawings.noise(60, 60, alpha: .opaque, seed: UInt64($0)) }
        let sizes = try [1, 20, 80, nil, 100].map { try encode(frames, EncodeOptions(quality: $0)).count }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2] && sizes[2] == sizes[3] && sizes[3] < sizes[4])
    }

    @Test func theProfileIsKept() throws {
        let profile = EncoderTests.profile(space: "RGB ", count: 301)
        let frames = try scene(3).map { $0.with { $0.iccProfile = profile } }
        let result = try WebPFrames(try encode(frames))
        #expect(result.error == nil && result.count == 3 && result.decoder.header?.iccProfile == profile)
        let without = try WebPFrames(try encode(frames, EncodeOptions(embedsICCProfile: false)))
        #expect(without.decoder.header?.iccProfile == nil)
    }

    @Test func sixteenBitsAndPremultipliedFramesAreTaken() throws {
        let frames = [
            try Drawings.picture(40, 30, layout: .rgba16, alpha: .straight),
            try Drawings.picture(40, 30, alpha: .premultiplied),
        ]
        let straight = try Drawings.picture(40, 30, alpha: .straight).bytes
        let result = try WebPFrames(try encode(frames, EncodeOptions(quality: 95)))
        // The second frame may be so close to the first that it is left out.
        for index in 0..<result.count { #expect(try result.frame(index).meanDifference(to: straight) < 12) }
    }

    @Test func unsupportedSizesDepthsAndFormatsAreRefused() throws {
        let wide = AnimationDescription(size: PixelSize(width: 16_384, height: 1), loopCount: 0)
        let small = try Drawings.picture(4, 4)
        let deep = try Drawings.picture(8, 8, layout: .rgba16)
        let attempts: [() throws -> Void] = [
            { _ = try WebPCoder().makeAnimationEncoder(.webp, wide, EncodeOptions()) },
            { _ = try WebPCoder().makeAnimationEncoder(.gif, wide, EncodeOptions()) }, { _ = try self.encode([]) },
            { _ = try self.encode([try Drawings.picture(8, 8), small]) },
            { _ = try self.encode([deep], EncodeOptions(isLossless: true)) },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = #expect(throws: WebImageError.self) { try attempt() }
            #expect(error?.code == .cannotEncode, "\(index)")
        }
    }
}
