import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Pictures that are held outside the cache, have a lifetime, grow, or exist in several sizes.
struct MemoryTiersTests {
    private let overhead = MemoryCache.entryOverhead.bytes
    private let clock = ManualClock()

    private func makeCache(_ limits: MemoryCache.Limits, remembersHeld: Bool = true) -> MemoryCache {
        MemoryCache(limits: limits, policy: .twoQueues, remembersHeld: remembersHeld, clock: clock)
    }

    // MARK: Held

    @Test func aHeldPictureIsFoundAfterAPurgeAndCountsAgain() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        let shown = try makeImage(bytes: 400)
        cache.store(shown, for: CacheKey("shown"))
        cache.store(try makeImage(bytes: 400), for: CacheKey("gone"))
        cache.trim(toCost: .zero)
        #expect(cache.count == 0 && cache.cost == .zero && cache.heldRecords == 1)
        #expect(cache.image(for: CacheKey("gone")) == nil)
        #expect(!cache.contains(CacheKey("shown")))
        #expect(cache.image(for: CacheKey("shown"))?.storage === shown.storage)
        #expect(cache.contains(CacheKey("shown")) && cache.cost.bytes == 400 + overhead)
        let statistics = cache.statistics
        #expect(statistics.hits == 1 && statistics.heldHits == 1 && statistics.misses == 1)
        #expect(cache.heldRecords == 0 && cache.fault() == nil)
    }

    @Test func aReleasedPictureIsAMissAfterAPurge() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        var shown: Image? = try makeImage(bytes: 400)
        cache.store(try #require(shown), for: CacheKey("a"))
        cache.trim(toCost: .zero)
        shown = nil
        #expect(cache.image(for: CacheKey("a")) == nil)
        #expect(cache.statistics.misses == 1 && cache.statistics.hits == 0)
    }

    @Test(arguments: ["remove", "removeAll", "replace"])
    func aRemovedPictureIsNotFoundEvenIfHeld(by way: String) throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        let (old, new) = (try makeImage(bytes: 400), try makeImage(bytes: 404))
        cache.store(old, for: CacheKey("a"))
        cache.trim(toCost: .zero)
        switch way {
        case "remove": cache.remove(CacheKey("a"))
        case "removeAll": cache.removeAll()
        default:
            cache.store(new, for: CacheKey("a"))
            cache.trim(toCost: .zero)
        }
        #expect(cache.image(for: CacheKey("a"))?.storage !== old.storage)
    }

    @Test func aPictureOverTheLimitIsFoundWhileItIsHeldButNeverCounts() throws {
        let cache = makeCache(.init(cost: ByteCount(1000 + overhead)))
        let large = try makeImage(bytes: 2000)
        #expect(!cache.store(large, for: CacheKey("a")))
        for _ in 0..<3 { #expect(cache.image(for: CacheKey("a"))?.storage === large.storage) }
        #expect(cache.cost == .zero && cache.fault() == nil)
    }

    @Test func recordsOfReleasedPicturesAreSweptOut() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        for number in 0..<5000 {
            let image = try makeImage(bytes: 4)
            cache.store(image, for: CacheKey("\(number)"))
            cache.trim(toCost: .zero)
            withExtendedLifetime(image) {}
        }
        // Each of the 16 shards keeps at most 16 records of released pictures.
        #expect(cache.heldRecords <= 256)
    }

    /// After many held pictures, the cache once kept a record for each, even after they were released.
    @Test func aClearedCacheSweepsAsANewOne() throws {
        let cache = makeCache(.init(cost: .mebibytes(4)))
        func leave(_ numbers: Range<Int>) throws -> [Image] {
            let images = try numbers.map { _ in try makeImage(bytes: 4) }
            for (number, image) in zip(numbers, images) { cache.store(image, for: CacheKey("\(number)")) }
            cache.trim(toCost: .zero)
            return images
        }
        let held = try leave(0..<2000)
        #expect(cache.heldRecords == 2000)
        cache.removeAll()
        for number in 0..<2000 { _ = try leave(number..<number + 1) }
        #expect(cache.heldRecords <= 256)
        withExtendedLifetime(held) {}
    }

    @Test func aCacheThatKeepsNothingRemembersNothing() throws {
        let cache = makeCache(.init(cost: .zero))
        let image = try makeImage(bytes: 4)
        cache.store(image, for: CacheKey("a"))
        #expect(cache.image(for: CacheKey("a")) == nil && cache.heldRecords == 0)
    }

    // MARK: Lifetime

    @Test func aPictureGoesAtTheEndOfItsLifetime() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        cache.store(try makeImage(bytes: 400), for: CacheKey("short"), lifetime: .seconds(10))
        cache.store(try makeImage(bytes: 400), for: CacheKey("ever"))
        clock.advance(by: .milliseconds(9_999))
        #expect(cache.contains(CacheKey("short")) && cache.image(for: CacheKey("short")) != nil)
        clock.advance(by: .milliseconds(1))
        #expect(!cache.contains(CacheKey("short")) && cache.count == 2)
        #expect(cache.image(for: CacheKey("short")) == nil)
        #expect(cache.count == 1 && cache.cost.bytes == 400 + overhead && cache.fault() == nil)
        #expect(cache.image(for: CacheKey("ever")) != nil)
    }

    @Test func removeExpiredRemovesOnlyExpiredPictures() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        for number in 0..<20 {
            cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)"), lifetime: .seconds(number + 1))
        }
        clock.advance(by: .seconds(15))
        cache.removeExpired()
        #expect(Set(cache.keysInOrder.map(\.text)) == ["15", "16", "17", "18", "19"])
        #expect(cache.fault() == nil)
    }

    @Test func aHeldPictureIsNotFoundAfterItsLifetime() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        let image = try makeImage(bytes: 400)
        cache.store(image, for: CacheKey("a"), lifetime: .seconds(10))
        cache.trim(toCost: .zero)
        clock.advance(by: .seconds(9))
        #expect(cache.image(for: CacheKey("a")) != nil)
        cache.trim(toCost: .zero)
        clock.advance(by: .seconds(1))
        #expect(cache.image(for: CacheKey("a")) == nil)
        withExtendedLifetime(image) {}
    }

    // MARK: Growth

    @Test func anAnimationThatKeepsMoreFramesCostsMoreAndOthersMakeRoom() throws {
        let cache = makeCache(.init(cost: ByteCount(3000 + 3 * overhead)))
        let (image, frames) = try makeAnimation(bytes: 400)
        let observer = KeptBytesObserver(cache, CacheKey("moving"))
        image.animation?.onKeptBytesChange(for: observer) { [weak cache] in
            cache?.updateCost(of: image, for: CacheKey("moving"))
            return true
        }
        for name in ["a", "b"] { cache.store(try makeImage(bytes: 800), for: CacheKey(name)) }
        cache.store(image, for: CacheKey("moving"))
        #expect(cache.cost.bytes == 2000 + 3 * overhead)
        frames.keep(1000)
        #expect(cache.cost.bytes == 3000 + 3 * overhead && cache.count == 3)
        frames.keep(1004)
        #expect(cache.cost.bytes == 2204 + 2 * overhead && cache.count == 2 && cache.contains(CacheKey("moving")))
        frames.keep(0)
        #expect(cache.cost.bytes == 1200 + 2 * overhead && cache.fault() == nil)
        // Breaks the cycle: the action keeps the picture, and the picture keeps the action.
        image.animation?.onKeptBytesChange(for: observer) { false }
    }

    @Test func anAnimationThatOutgrowsTheLimitLeavesTheOthersAlone() throws {
        let cache = makeCache(.init(cost: ByteCount(3000 + 3 * overhead)))
        let (image, frames) = try makeAnimation(bytes: 400)
        cache.store(try makeImage(bytes: 800), for: CacheKey("a"))
        cache.store(image, for: CacheKey("moving"))
        frames.keep(10_000)
        cache.updateCost(of: image, for: CacheKey("moving"))
        #expect(cache.keysInOrder.map(\.text) == ["a"] && cache.fault() == nil)
        // The picture is still held outside the cache, so it is found.
        #expect(cache.image(for: CacheKey("moving"))?.storage === image.storage)
        frames.keep(100)
        #expect(cache.image(for: CacheKey("moving")) != nil)
        #expect(cache.cost.bytes == 1300 + 2 * overhead)
    }

    @Test func theGrowthOfAPictureThatWasReplacedDoesNotCount() throws {
        let cache = makeCache(.init(cost: .mebibytes(1)))
        let (image, frames) = try makeAnimation(bytes: 400)
        cache.store(image, for: CacheKey("a"))
        cache.store(try makeImage(bytes: 800), for: CacheKey("a"))
        frames.keep(1000)
        cache.updateCost(of: image, for: CacheKey("a"))
        cache.updateCost(of: image, for: CacheKey("never stored"))
        #expect(cache.cost.bytes == 800 + overhead && cache.count == 1)
    }

    @Test func anOverflowingCostKeepsTheSumsRight() throws {
        let cache = makeCache(.init(cost: ByteCount(.max)))
        let (image, frames) = try makeAnimation(bytes: 400)
        cache.store(image, for: CacheKey("a"))
        frames.keep(.max)
        cache.updateCost(of: image, for: CacheKey("a"))
        cache.store(try makeImage(bytes: 400), for: CacheKey("b"))
        #expect(cache.fault() == nil)
    }

    private func makeAnimation(bytes: Int) throws -> (Image, FakeFrames) {
        let frames = FakeFrames()
        return (try makeImage(bytes: bytes).with(animation: ImageAnimation(frames)), frames)
    }
}

/// A frame source without frames that only reports the memory that it keeps.
private final class FakeFrames: FrameSource {
    private struct State {
        var kept = 0
        var action: (@Sendable () -> Bool)?
    }

    private let state = Guarded(State())

    func keep(_ bytes: Int) {
        _ = state.withLock { state in
            state.kept = bytes
            return state.action
        }?()
    }

    var keptByteCount: ByteCount { state.withLock { ByteCount($0.kept) } }
    func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool) {
        state.withLock { $0.action = action }
    }
    var frameSize: PixelSize { PixelSize(width: 1, height: 1) }
    var timeline: AnimationTimeline { AnimationTimeline() }
    var encodedByteCount: ByteCount { .zero }
    var bufferLimit: ByteCount {
        get { .zero }
        set {}
    }
    func frame(at index: Int, for viewer: AnimationViewer?) async throws(WebImageError) -> Image { throw .cancelled }
    func decodeNow(_ index: Int) throws(WebImageError) { throw .cancelled }
    func preload(_ count: Int) async throws(WebImageError) { throw .cancelled }
    func keptFrame(at index: Int) -> Image? { nil }
    func removeKeptFrames() { keep(0) }
    func forEachFrame(_ body: (Image, Duration) throws(WebImageError) -> Void) throws(WebImageError) {}
}
