import Synchronization
import Testing
import WebImageCache
import WebImageCodecs
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// What the manager does with its memory cache.
struct MemoryWiringTests {
    private let url = "https://example.com/a.gif"

    @Test func theFramesThatAnAnimationKeepsCount() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 80, height: 60, frames: 3), type: "image/gif")
        let image = try await bench.manager.image(for: ImageRequest(url)).image
        let animation = try #require(image.animation)
        for index in 0..<3 { _ = try await animation.frame(at: index) }
        let kept = animation.keptByteCount.bytes
        #expect(kept >= 2 * 80 * 60 * 4)
        let whole = bench.manager.memoryCache.cost.bytes
        animation.removeKeptFrames()
        #expect(bench.manager.memoryCache.cost.bytes == whole - kept)
    }

    @Test func theFramesOfAnAnimationUnderTwoKeysCountUnderBoth() async throws {
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 80, height: 60, frames: 3), type: "image/gif")
        let image = try await bench.manager.image(for: ImageRequest(url)).image
        let cache = MemoryCache(limits: .init(cost: .mebibytes(16)))
        for key in ["a", "b"] { #expect(cache.keep(image, for: CacheKey(key), lifetime: nil)) }
        let animation = try #require(image.animation)
        for index in 0..<3 { _ = try await animation.frame(at: index) }
        let (kept, whole) = (animation.keptByteCount.bytes, cache.cost.bytes)
        let managers = bench.manager.memoryCache.cost.bytes
        animation.removeKeptFrames()
        #expect(cache.cost.bytes == whole - 2 * kept)
        #expect(bench.manager.memoryCache.cost.bytes == managers - kept)
    }

    @Test func picturesLeaveWhenMemoryIsShort() async throws {
        let (clock, source) = (ManualClock(), ShortMemory())
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let (transport, frames) = (FakeTransport(), FrameBudget(limit: .mebibytes(1)))
        let manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: PosixFileSystem(),
            memoryPressure: source, frames: frames)
        let buffer = try FrameBuffer(
            frameSize: PixelSize(width: 8, height: 6), options: DecodeOptions(),
            executor: ThreadPool(name: "frames", width: 1), budget: frames,
            makeDecoder: { (options) throws(WebImageError) in
                try GIFCoder().makeAnimationDecoder(.gif, options)
            }, finish: { (frame, _) throws(WebImageError) in Image(pixels: frame, info: .init(alpha: .opaque)) })
        let gif = try #require(buffer)
        try gif.push(file: BlinkingGIF.file(width: 8, height: 6, frames: 4))
        try gif.finishBytes()
        for index in 0..<4 { _ = try await gif.frame(at: index, for: nil) }
        try transport.answer(url, .bytes(Fixture.png(8, 8), contentType: "image/png", headers: [:]))
        _ = try await manager.image(for: ImageRequest(url))
        clock.advance(by: .seconds(5))
        #expect(manager.memoryCache.count == 1, "there is enough")
        #expect(gif.keptFrame(at: 3) != nil && frames.used > .zero)
        source.isShort = true
        clock.advance(by: .seconds(5))
        #expect(manager.memoryCache.count == 0)
        #expect((0..<4).allSatisfy { gif.keptFrame(at: $0) == nil } && frames.used == .zero)
        manager.shutDown()
        #expect(clock.waitingCount == 0, "the watcher goes on")
    }
}

/// A source of memory pressure that a test switches.
private final class ShortMemory: MemoryPressureSource {
    private let short = Mutex(false)

    var isShort: Bool {
        get { short.withLock { $0 } }
        set { short.withLock { $0 = newValue } }
    }

    func read() -> MemoryPressureReading {
        var reading = MemoryPressureReading()
        (reading.used, reading.limit) = (isShort ? 999 : 10, 1000)
        return reading
    }

    func makeAlarm() -> (any MemoryPressureAlarm)? { nil }
}
