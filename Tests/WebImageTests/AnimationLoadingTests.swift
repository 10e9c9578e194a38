import Testing
import WebImage
import WebImageTesting

/// Animated pictures through the manager.
@Suite struct AnimationLoadingTests {
    private let url = "http://pictures.test/a.gif"

    @Test func anAnimationComesWithAllItsFrames() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 6), type: "image/gif")
        let image = try await bench.manager.image(for: ImageRequest(url)).image
        let animation = try #require(image.animation)
        #expect(animation.frameCount == 6 && animation.loopCount == 0 && animation.isComplete)
        #expect(animation.delays == Array(repeating: .milliseconds(50), count: 6))
        #expect(animation.duration == .milliseconds(300) && animation.size == PixelSize(width: 8, height: 6))
        for index in [5, 0, 3, 1, 4, 2] {
            let frame = try await animation.frame(at: index)
            #expect(color(of: frame) == BlinkingGIF.colors[index % 4] && frame.alpha == .opaque)
            #expect(frame.animation == nil)
        }
        #expect(color(of: image) == BlinkingGIF.colors[0])
    }

    @Test func framesHaveTheSizeThatWasAskedFor() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 80, height: 60, frames: 3), type: "image/gif")
        var request = ImageRequest(url, size: TargetSize(width: 20))
        request.transformers = [CountingTransformer()]
        let image = try await bench.manager.image(for: request).image
        let animation = try #require(image.animation)
        #expect(image.size == PixelSize(width: 20, height: 15) && animation.size == image.size)
        let frame = try await animation.frame(at: 2)
        #expect(frame.size == image.size && color(of: frame) == BlinkingGIF.colors[2])
        #expect((request.transformers[0] as? CountingTransformer)?.count ?? 0 >= 2)
    }

    @Test func framesArePreloadedWithinTheBufferLimit() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 6), type: "image/gif")
        var request = ImageRequest(url)
        request.decoding.preloadsFrames = true
        let image = try await bench.manager.image(for: request).image
        let animation = try #require(image.animation)
        for index in 0..<6 {
            let frame = try #require(animation.keptFrame(at: index))
            #expect(color(of: frame) == BlinkingGIF.colors[index % 4])
        }
        #expect(bench.manager.memoryCache.cost.bytes >= 7 * 8 * 6 * 4)
        // No more frames are preloaded than the buffer limit allows.
        animation.removeKeptFrames()
        animation.bufferLimit = ByteCount(3 * 8 * 6 * 4)
        #expect(try await animation.preload() == 3)
        #expect((0..<6).map { animation.keptFrame(at: $0) != nil } == [true, true, true, false, false, false])
        animation.bufferLimit = .zero
        #expect(try await animation.preload() == 1)
    }

    /// A caller that joined a load without preloaded frames once had to decode them itself.
    @Test func aCallerThatJoinsALoadGetsPreloadedFrames() async throws {
        let (bench, network, first, second) = (TestBench(), Gate(), Ledger(), Ledger())
        let file = BlinkingGIF.file(width: 8, height: 6, frames: 6)
        bench.transport.answer(url, .bytes(file, contentType: "image/gif").held(by: network))
        var request = ImageRequest(url)
        bench.manager.load(request) { first.take($0) }
        request.decoding.preloadsFrames = true
        bench.manager.load(request) { second.take($0) }
        network.open()
        let animation = try #require(try await second.finished().get().image.animation)
        #expect((0..<6).allSatisfy { animation.keptFrame(at: $0) != nil })
        #expect(try await first.finished().get().image.animation != nil && bench.transport.hits(url) == 1)
    }

    /// A GIF of 11 MB once took twice that while it was shown.
    @Test func bytesThatAreThereAlreadyAreNotCopiedForTheFrames() async throws {
        let coder = FileKeepingCoder()
        let bytes = BlinkingGIF.file(width: 8, height: 6, frames: 6)
        var request = ImageRequest(data: bytes, name: "blinking")
        request.decoding.coder = coder
        let image = try await TestBench().manager.image(for: request).image
        let place = bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        #expect(image.animation?.frameCount == 6 && coder.places == [place])
    }

    @Test func aStillHasNoAnimation() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 1), type: "image/gif")
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.animation == nil)
    }

    @Test func theFirstFrameAloneHasItsOwnKey() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 3), type: "image/gif")
        var request = ImageRequest(url)
        request.decoding.firstFrameOnly = true
        #expect(try await bench.manager.image(for: request).image.animation == nil)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.animation != nil)
    }

    @Test func viewersOfACachedImageShareItsFrames() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 3), type: "image/gif")
        let first = try await bench.manager.image(for: ImageRequest(url)).image
        let second = try #require(bench.manager.cachedImage(for: ImageRequest(url)))
        #expect(first.animation === second.animation)
        _ = try await first.animation?.frame(at: 1)
        #expect(second.animation?.keptFrame(at: 1) != nil)
        let encoded = try #require(second.animation?.encodedByteCount)
        #expect(second.byteCount == ByteCount(8 * 6 * 4) + encoded)
    }

    @Test func theFirstFrameIsShownWhenItsBytesAreThere() async throws {
        let bench = TestBench()
        let (bytes, gate) = (BlinkingGIF.file(width: 8, height: 6, frames: 4), Gate())
        let held = BlinkingGIF.endOfFirstFrame(width: 8, height: 6)
        bench.transport.answer(url, .bytes(bytes, contentType: "image/gif").held(by: gate, after: held))
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        await ledger.previewed(1)
        let early = try #require(ledger.previews.first)
        let animation = try #require(early.animation)
        #expect(color(of: early) == BlinkingGIF.colors[0] && !early.info.isPartial)
        #expect(animation.frameCount == 1 && !animation.isComplete)
        #expect(try await color(of: animation.frame(at: 0)) == BlinkingGIF.colors[0])
        gate.open()
        let image = try await ledger.finished().get().image
        #expect(image.animation?.frameCount == 4)
        #expect(animation.frameCount == 4 && animation.isComplete)
        #expect(try await color(of: animation.frame(at: 3)) == BlinkingGIF.colors[3])
    }

    /// Stills of the first frame once replaced the animation that was already playing.
    @Test func noStillFollowsTheFirstFrame() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let (bytes, gates) = (BlinkingGIF.file(width: 8, height: 6, frames: 8), [Gate(), Gate()])
        let held = BlinkingGIF.endOfFirstFrame(width: 8, height: 6)
        bench.transport.answer(
            url,
            .bytes(bytes, contentType: "image/gif").held(by: gates[0], after: held).held(by: gates[1], after: held + 20)
        )
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        await ledger.previewed(1)
        for gate in gates {
            clock.advance(by: .seconds(1))
            gate.open()
        }
        _ = try await ledger.finished().get()
        #expect(ledger.previews.count == 1 && ledger.previews[0].animation != nil)
    }

    @Test func aCutAnimationIsPartialWithTheFramesThatAreThere() async throws {
        let bench = TestBench()
        let bytes = BlinkingGIF.file(width: 8, height: 6, frames: 4)
        bench.answer(url, with: Array(bytes.dropLast(10)), type: "image/gif")
        var request = ImageRequest(url)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badImageData && (error?.cause as? WebImageError)?.code == .truncatedData)
        request.decoding.allowsPartial = true
        let response = try await bench.manager.image(for: request)
        #expect(response.partialError?.code == .truncatedData && response.image.animation?.frameCount == 3)
        #expect(response.image.info.isPartial)
        #expect(response.image.animation?.isComplete == true)
    }

    /// When the load failed, the player of its preview once waited at the last frame for more.
    @Test func aFailedLoadCompletesTheAnimationOfItsPreview() async throws {
        let bench = TestBench()
        let (bytes, gate) = (BlinkingGIF.file(width: 8, height: 6, frames: 4), Gate())
        let held = BlinkingGIF.endOfFirstFrame(width: 8, height: 6)
        bench.transport.answer(url, .bytes(bytes, contentType: "image/gif").held(by: gate, after: held))
        let ledger = Ledger()
        var request = ImageRequest(url)
        request.decoding.limits.frames = 2
        bench.manager.load(request) { ledger.take($0) }
        await ledger.previewed(1)
        let animation = try #require(ledger.previews.first?.animation)
        #expect(!animation.isComplete)
        gate.open()
        await #expect(throws: WebImageError.self) { try await ledger.finished().get() }
        #expect(await eventually { animation.isComplete })
    }

    @Test func tooManyFramesAreRefused() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 6, frames: 12), type: "image/gif")
        var request = ImageRequest(url)
        request.decoding.limits.frames = 11
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect((error?.cause as? WebImageError)?.code == .limitExceeded)
        request.decoding.firstFrameOnly = true
        #expect(try await color(of: bench.manager.image(for: request).image) == BlinkingGIF.colors[0])
    }

    @Test func anAnimationOutlivesItsManager() async throws {
        var image: Image?
        do {
            let bytes = BlinkingGIF.file(width: 8, height: 6, frames: 4)
            image = try await Image(data: bytes)
            let bench = TestBench()
            bench.answer(url, with: bytes, type: "image/gif")
            image = try await bench.manager.image(for: ImageRequest(url)).image
        }
        #expect(try await color(of: #require(image?.animation).frame(at: 2)) == BlinkingGIF.colors[2])
    }

    private func color(of image: Image) -> [UInt8] { image.withPixels { Array($0[0..<3]) } }
}
