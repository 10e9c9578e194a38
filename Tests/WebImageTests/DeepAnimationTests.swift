import Testing
import WebImage
import WebImageTesting

/// Animations whose file has 16 bits a channel.
@Suite struct DeepAnimationTests {
    /// Only 8-bit frames were once converted. With `keepsBitDepth`, frames kept their PQ and HLG values.
    @Test(arguments: [UInt8(16), 18], [true, false])
    func framesOfHighDynamicRangeBecomeSRGB(transfer: UInt8, keepsBitDepth: Bool) async throws {
        let bytes = try Self.file(ColorDescription(primaries: 9, transfer: transfer))
        for width in [nil, 4] {
            var request = ImageRequest(data: bytes, name: "deep")
            request.decoding.keepsBitDepth = keepsBitDepth
            request.size = width.map { TargetSize(width: $0) }
            var first = request
            first.decoding.firstFrameOnly = true
            let manager = TestBench().manager
            let still = try await manager.image(for: first).image
            #expect(still.info.colorDescription == nil)
            let animation = try #require(try await manager.image(for: request).image.animation)
            #expect(animation.frameCount == 2)
            for index in 0..<2 {
                let frame = try await animation.frame(at: index)
                #expect(frame.info.colorDescription == nil && abs(Self.level(frame) - Self.level(still)) <= 1)
            }
            try animation.forEachFrame { frame, _ in
                #expect(frame.info.colorDescription == nil && abs(Self.level(frame) - Self.level(still)) <= 1)
            }
        }
    }

    #if JXL
        /// Covers scaling, turning and transformers.
        @Test func framesKeepTheirBitsThroughThePipeline() async throws {
            let size = PixelSize(width: 16, height: 8)
            let frames = try [30_011, 30_047].map { value in
                try Image(size: size, layout: .rgba16, alpha: .opaque) { bytes in
                    for place in stride(from: 0, to: bytes.count, by: 2) {
                        bytes.storeBytes(
                            of: place % 8 == 6 ? 65_535 : UInt16(value), toByteOffset: place, as: UInt16.self)
                    }
                }
            }
            let bytes = try DrawnAnimation.image(frames, delay: .milliseconds(50))
                .encoded(as: .jxl, EncodeOptions(isLossless: true))
            for (keepsBitDepth, width, turns) in [(true, nil, false), (true, 8, true), (false, 8, true)] {
                var request = ImageRequest(data: bytes, name: "deep")
                request.decoding.keepsBitDepth = keepsBitDepth
                request.size = width.map { TargetSize(width: $0) }
                if turns { request.transformers = [.flip(horizontally: true)] }
                let image = try await TestBench().manager.image(for: request).image
                let animation = try #require(image.animation)
                for index in 0..<2 {
                    let frame = try await animation.frame(at: index)
                    #expect(frame.layout == (keepsBitDepth ? .rgba16 : .rgba8))
                    let value = frame.withPixels { pixels in
                        keepsBitDepth ? Int(pixels.loadUnaligned(as: UInt16.self)) : Int(pixels[0]) * 257
                    }
                    #expect(abs(value - [30_011, 30_047][index]) <= (keepsBitDepth ? 1 : 129))
                }
            }
        }
    #endif

    #if JXL
        /// Preloading once decoded twice as many frames as there was room for, so that the first ones were gone at the
        /// end.
        @Test func noMoreDeepFramesArePreloadedThanThereIsRoomFor() async throws {
            let size = PixelSize(width: 16, height: 8)
            let frames = try (0..<6).map { _ in try Image(size: size, layout: .rgba16, alpha: .opaque) { _ in } }
            let bytes = try DrawnAnimation.image(frames, delay: .milliseconds(50))
                .encoded(as: .jxl, EncodeOptions(isLossless: true))
            var request = ImageRequest(data: bytes, name: "deep")
            request.decoding.keepsBitDepth = true
            let animation = try #require(try await TestBench().manager.image(for: request).image.animation)
            animation.removeKeptFrames()
            animation.bufferLimit = ByteCount(3 * 16 * 8 * 8)
            #expect(try await animation.preload() == 3)
            #expect((0..<6).map { animation.keptFrame(at: $0) != nil } == [true, true, true, false, false, false])
        }
    #endif

    /// The red of the first pixel, 0 to 255.
    private static func level(_ image: Image) -> Int {
        image.withPixels { pixels in
            image.layout == .rgba8
                ? Int(pixels[0]) : (Int(pixels.loadUnaligned(as: UInt16.self)) + 128) / 257
        }
    }

    /// An APNG of two equal frames with the gray that PQ shows at 203 cd/m².
    private static func file(_ description: ColorDescription) throws -> [UInt8] {
        let size = PixelSize(width: 8, height: 6)
        let png = try Image(size: size, layout: .rgba16, alpha: .opaque) { bytes in
            for place in stride(from: 0, to: bytes.count, by: 2) {
                bytes.storeBytes(of: place % 8 == 6 ? 65_535 : 38_056, toByteOffset: place, as: UInt16.self)
            }
        }.with { $0.colorDescription = description }.encoded(as: .png)
        func control(_ sequence: Int) -> [UInt8] {
            let numbers = [sequence, size.width, size.height, 0, 0].flatMap { PNGChunks.big($0) }
            return PNGChunks.chunk("fcTL", numbers + [0, 1, 0, 10, 0, 0])
        }
        var (bytes, data) = (Array(png[..<8]), [UInt8]())
        for (name, content) in PNGChunks.all(in: png) where name != "IEND" {
            if name == "IDAT" { data += content } else { bytes += PNGChunks.chunk(name, content) }
        }
        bytes +=
            PNGChunks.chunk("acTL", PNGChunks.big(2) + PNGChunks.big(0)) + control(0) + PNGChunks.chunk("IDAT", data)
        return bytes + control(1) + PNGChunks.chunk("fdAT", PNGChunks.big(2) + data) + PNGChunks.chunk("IEND", [])
    }
}
