import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Requests that decide whether animations and vector pictures are transformed, and whether only an animation is
/// accepted.
@Suite struct AnimationChoiceTests {
    private let url = "http://pictures.test/a.gif"

    @Test(arguments: [false, true]) func anAnimationStaysAsItIsUnlessItIsToBeTransformed(transforms: Bool) async throws
    {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 80, height: 60, frames: 3), type: "image/gif")
        var request = ImageRequest(url)
        request.transformers = [.crop(.square), .invert]
        request.decoding.transformsAnimations = transforms
        let image = try await bench.manager.image(for: request).image
        let animation = try #require(image.animation)
        let size = PixelSize(width: transforms ? 60 : 80, height: 60)
        #expect(image.size == size && animation.size == size)
        for index in 0..<3 {
            let color = BlinkingGIF.colors[index].prefix(3).map { transforms ? 255 - $0 : $0 }
            let frame = try await animation.frame(at: index)
            #expect(frame.size == size)
            #expect(frame.withPixels { Array($0.prefix(3)) } == color)
        }
        #expect(image.withPixels { Array($0.prefix(3)) } == BlinkingGIF.colors[0].map { transforms ? 255 - $0 : $0 })
    }

    /// Some GIF files lack the trailer byte.
    @Test func theFramesOfAGIFWithoutAnEndAreCounted() async throws {
        let file = BlinkingGIF.file(width: 8, height: 6, frames: 5)
        for bytes in [file, file.dropLast()] {
            let details = try await TestBench().manager.details(for: ImageRequest(data: Array(bytes), name: "gif"))
            #expect(details.header.frameCount == 5)
        }
    }

    /// Browsers do the same: the still picture (IDAT) is for programs that do not know APNG.
    @Test(arguments: [DecoderIsolation.none, .all])
    func anAPNGOfOneFrameShowsTheFrameAndNotItsStill(_ isolation: DecoderIsolation) async throws {
        let bench = TestBench { $0.isolation = isolation }
        defer { bench.manager.shutDown() }
        let (still, frame) = (SIMD3<UInt8>(200, 0, 0), SIMD3<UInt8>(0, 0, 200))
        let file = try Self.apng(of: frame, beside: still)
        let inverted = SIMD3<UInt8>(255, 255, 55)
        let cases: [(expected: SIMD3<UInt8>, change: (inout ImageRequest) -> Void)] = [
            (frame, { _ in }), (frame, { $0.size = TargetSize(width: 20) }),
            (inverted, { $0.transformers = [.invert] }),
            (inverted, { ($0.transformers, $0.decoding.transformsAnimations) = ([.crop(.square), .invert], false) }),
            (still, { $0.decoding.firstFrameOnly = true }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            var request = ImageRequest(data: file, name: "one")
            change(&request)
            let image = try await bench.manager.image(for: request).image
            #expect(image.animation == nil && image.info.header?.frameCount == 1)
            #expect(image.withPixels { [SIMD3($0[0], $0[1], $0[2])] } == [expected], "\(index)")
        }
    }

    /// An APNG of one frame, with a still that is not part of the animation.
    private static func apng(of frame: SIMD3<UInt8>, beside still: SIMD3<UInt8>) throws -> [UInt8] {
        let size = PixelSize(width: 40, height: 30)
        func picture(_ color: SIMD3<UInt8>) throws -> Image {
            try Image(size: size, alpha: .opaque) { bytes in
                for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : color[place % 4] }
            }
        }
        let (first, second) = (try picture(still).encoded(as: .png), try picture(frame).encoded(as: .png))
        let numbers = [0, size.width, size.height, 0, 0].flatMap { PNGChunks.big($0) }
        let control = PNGChunks.chunk("fcTL", numbers + [0, 1, 0, 10, 0, 0])
        var bytes = Array(first.prefix(8))
        for (name, data) in PNGChunks.all(in: first) where name != "IEND" {
            if name == "IDAT" { bytes += PNGChunks.chunk("acTL", PNGChunks.big(1) + PNGChunks.big(0)) }
            bytes += PNGChunks.chunk(name, data)
        }
        bytes += control
        let data = PNGChunks.all(in: second).filter { $0.name == "IDAT" }.flatMap(\.data)
        return bytes + PNGChunks.chunk("fdAT", PNGChunks.big(1) + data) + PNGChunks.chunk("IEND", [])
    }

    /// A transform that chooses its part by the pixels chooses by the first frame, for all frames.
    @Test func allFramesAreCroppedAsTheFirst() async throws {
        // A white square that moves by 20 pixels a frame, on black.
        let frames = try (0..<3).map { index in
            try Image(size: PixelSize(width: 80, height: 40), alpha: .opaque) { bytes in
                for y in 0..<40 {
                    for x in 0..<80 {
                        let isSquare = (10..<30).contains(y) && (20 * index..<20 * index + 20).contains(x)
                        for channel in 0..<4 { bytes[(y * 80 + x) * 4 + channel] = isSquare || channel == 3 ? 255 : 0 }
                    }
                }
            }
        }
        let file = try DrawnAnimation.image(frames, delay: .milliseconds(100)).encoded(as: .apng)
        let bench = TestBench()
        bench.answer(url, with: file, type: "image/apng")
        for (transform, size) in [
            (ImageTransform.trim(color: RGBColor(red: 0, green: 0, blue: 0)), PixelSize(width: 20, height: 20)),
            (.crop(width: 30, height: 30, at: .smart), PixelSize(width: 30, height: 30)),
        ] {
            var request = ImageRequest(url)
            request.transformers = [transform]
            let image = try await bench.manager.image(for: request).image
            let animation = try #require(image.animation)
            #expect(image.size == size)
            var whites: [Int] = []
            for index in 0..<3 {
                let frame = try await animation.frame(at: index)
                #expect(frame.size == size)
                whites.append(frame.withPixels { bytes in bytes.count { $0 == 255 } })
            }
            // The square moves out of the part that was chosen by the first frame.
            #expect(whites[0] > whites[1] && whites[1] >= whites[2], "\(transform) \(whites)")
        }
        // As in imgproxy, a trim with `asImgproxy` leaves animations as they are.
        var request = ImageRequest(url)
        request.transformers = [
            .trim(color: RGBColor(red: 0, green: 0, blue: 0), asImgproxy: true), .resize(width: 40),
        ]
        let whole = try await bench.manager.image(for: request).image
        #expect(whole.size == PixelSize(width: 40, height: 20))
        #expect(try await #require(whole.animation).frame(at: 2).size == whole.size)
        request.decoding.firstFrameOnly = true
        #expect(try await bench.manager.image(for: request).image.size == PixelSize(width: 20, height: 20))
    }

    /// The frame limit counts only the frames that are used.
    @Test(arguments: [ImageFormat.gif, .webp, .apng, .avif, .jxl], [1, 2, 4, 5, 9])
    func framesBehindTheLimitAreLeftOut(_ format: ImageFormat, _ limit: Int) async throws {
        guard CoderRegistry.standard.encodableFormats.contains(format) else { return }
        let whole = try await Image(data: BlinkingGIF.file(width: 80, height: 60, frames: 5))
        let bench = TestBench()
        bench.answer(
            url, with: try whole.encoded(as: format, EncodeOptions(isLossless: format != .gif)), type: "image/x")
        var request = ImageRequest(url)
        request.decoding.limits.frames = limit
        if limit < 5 {
            let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
            #expect((error?.cause as? WebImageError)?.code == .limitExceeded)
        }
        request.decoding.frameLimit = limit
        let image = try await bench.manager.image(for: request).image
        #expect((image.animation?.frameCount ?? 1) == min(limit, 5) && image.animation?.isComplete != false)
        guard let animation = image.animation else { return }
        for index in 0..<animation.frameCount {
            let frame = try await animation.frame(at: index)
            #expect(frame.withPixels { Array($0.prefix(3)) } == Array(BlinkingGIF.colors[index % 4].prefix(3)))
        }
    }

    /// The frame limit once held only for what was shown, not for what was encoded.
    @Test func framesBehindTheLimitAreNotWrittenEither() async throws {
        var request = ImageRequest(data: BlinkingGIF.file(width: 8, height: 6, frames: 5), name: "blinking")
        request.decoding.frameLimit = 2
        let image = try await TestBench().manager.image(for: request).image
        let written = try await Image(data: try image.encoded(as: .apng))
        #expect(image.animation?.frameCount == 2 && written.animation?.frameCount == 2)
    }

    @Test func aStillIsTransformedAlsoWhereAnimationsAreNot() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 80, height: 60, frames: 1), type: "image/gif")
        bench.answer("http://pictures.test/a.jpg", with: try Fixture.jpeg(80, 60))
        for place in [url, "http://pictures.test/a.jpg"] {
            var request = ImageRequest(place)
            request.transformers = [.crop(.square), .resize(width: 30)]
            request.decoding.transformsAnimations = false
            let image = try await bench.manager.image(for: request).image
            #expect(image.animation == nil && image.size == PixelSize(width: 30, height: 30))
        }
    }

    @Test func requiresAnimationRefusesAStill() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 2), type: "image/gif")
        let still = "http://pictures.test/a.jpg"
        bench.answer(still, with: try Fixture.jpeg(80, 60))
        var request = ImageRequest(url)
        request.decoding.requiresAnimation = true
        #expect(try await bench.manager.image(for: request).image.animation != nil)
        request = ImageRequest(still)
        _ = try await bench.manager.image(for: request)
        request.decoding.requiresAnimation = true
        #expect(bench.manager.cachedImage(for: request) == nil)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badImageData && (error?.cause as? WebImageError)?.code == .unsupportedFeature)
    }

    @Test(.enabled(if: CoderRegistry.standard.decodableFormats.contains(.svg)), arguments: [false, true])
    func aVectorPictureIsTransformedUnlessItIsToStay(transforms: Bool) async throws {
        let svg =
            #"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="red"/></svg>"#
        var request = ImageRequest(data: Array(svg.utf8), name: "a.svg")
        request.transformers = [.crop(.square), .invert]
        request.decoding.transformsVectors = transforms
        let image = try await TestBench().manager.image(for: request).image
        #expect(image.size == PixelSize(width: transforms ? 20 : 40, height: 20))
        #expect(image.withPixels { Array($0.prefix(3)) } == (transforms ? [0, 255, 255] : [255, 0, 0]))
    }
}
