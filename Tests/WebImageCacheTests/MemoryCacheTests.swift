import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

struct MemoryCacheTests {
    private let overhead = MemoryCache.entryOverhead.bytes

    @Test func aStoredPictureIsFoundUntilItIsRemoved() throws {
        let cache = MemoryCache(limits: .init(cost: .mebibytes(1)), policy: .leastRecentlyUsed)
        let image = try makeImage(bytes: 400)
        #expect(cache.image(for: CacheKey("a")) == nil)
        #expect(cache.store(image, for: CacheKey("a")))
        #expect(cache.contains(CacheKey("a")))
        #expect(cache.image(for: CacheKey("a"))?.storage === image.storage)
        #expect(cache.cost.bytes == 400 + overhead)
        cache.remove(CacheKey("a"))
        #expect(cache.image(for: CacheKey("a")) == nil)
        #expect(cache.cost == .zero && cache.count == 0)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 2)
    }

    @Test func theLeastRecentlyUsedGoesFirst() throws {
        let cache = MemoryCache(
            limits: .init(cost: ByteCount(3 * (400 + overhead))), policy: .leastRecentlyUsed)
        for name in ["a", "b", "c"] { cache.store(try makeImage(bytes: 400), for: CacheKey(name)) }
        _ = cache.image(for: CacheKey("a"))
        _ = cache.contains(CacheKey("b"))
        cache.store(try makeImage(bytes: 400), for: CacheKey("d"))
        #expect(cache.keysInOrder.map(\.text) == ["c", "a", "d"])
        #expect(cache.statistics.evictions == 1)
    }

    @Test func aPictureOverTheLimitIsNotKeptAndTheOldOneOfItsKeyGoes() throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(1000 + overhead)), policy: .leastRecentlyUsed)
        cache.store(try makeImage(bytes: 400), for: CacheKey("a"))
        cache.store(try makeImage(bytes: 400), for: CacheKey("b"))
        #expect(!cache.store(try makeImage(bytes: 1004), for: CacheKey("a")))
        #expect(!cache.contains(CacheKey("a")))
        #expect(cache.store(try makeImage(bytes: 1000), for: CacheKey("c")))
        #expect(cache.keysInOrder.map(\.text) == ["c"])
    }

    @Test func lowerLimitsHoldAtOnce() throws {
        let cache = MemoryCache(limits: .init(cost: .mebibytes(1)), policy: .leastRecentlyUsed)
        for number in 0..<10 { cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)")) }
        cache.limits.count = 4
        #expect(cache.keysInOrder.map(\.text) == ["6", "7", "8", "9"])
        cache.limits.cost = ByteCount(2 * (400 + overhead))
        #expect(cache.keysInOrder.map(\.text) == ["8", "9"])
        cache.trim(toCost: ByteCount(400 + overhead))
        #expect(cache.keysInOrder.map(\.text) == ["9"])
        cache.limits.count = 0
        #expect(cache.count == 0)
        #expect(!cache.store(try makeImage(bytes: 4), for: CacheKey("x")))
    }

    @Test func anEvictedPictureIsReleased() throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(400 + overhead)), policy: .leastRecentlyUsed)
        var image: Image? = try makeImage(bytes: 400)
        weak let pixels = image?.pixels
        cache.store(try #require(image), for: CacheKey("a"))
        image = nil
        #expect(pixels != nil)
        cache.store(try makeImage(bytes: 400), for: CacheKey("b"))
        #expect(pixels == nil)
    }

    @Test(arguments: ["remove", "removeAll", "limits", "deinit"])
    func aPictureThatLeavesIsReleased(by way: String) throws {
        var cache: MemoryCache? = MemoryCache(limits: .init(cost: .mebibytes(1)), policy: .leastRecentlyUsed)
        weak var pixels: PixelBuffer?
        do {
            let image = try makeImage(bytes: 400)
            pixels = image.pixels
            cache?.store(image, for: CacheKey("a"))
        }
        #expect(pixels != nil)
        switch way {
        case "remove": cache?.remove(CacheKey("a"))
        case "removeAll": cache?.removeAll()
        case "limits": cache?.limits.cost = .zero
        default: cache = nil
        }
        #expect(pixels == nil)
    }

    /// Uses few keys, so that replacing, evicting and clashing happen all the time.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func aRandomWalkAgreesWithANaiveModel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = NaiveMemoryCache(limits: .init(cost: 20_000, count: 12), overhead: overhead)
        let cache = MemoryCache(limits: model.limits, policy: .leastRecentlyUsed, remembersHeld: false)
        let images = try (1...40).map { try makeImage(bytes: $0 * 100) }
        for _ in 0..<3000 {
            let key = CacheKey("key \(Int.random(in: 0..<30, using: &random))")
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45:
                let image = images.randomElement(using: &random) ?? images[0]
                #expect(cache.store(image, for: key) == model.store(image, key))
            case 45..<80: #expect(cache.image(for: key)?.storage === model.use(key)?.storage)
            case 80..<90:
                cache.remove(key)
                model.remove(key)
            case 90..<94: #expect(cache.contains(key) == model.entries.contains { $0.key == key })
            case 94..<97:
                model.limits.cost = ByteCount(Int.random(in: 0..<30_000, using: &random))
                model.limits.count = Int.random(in: 0..<30, using: &random)
                model.evict(model.limits.cost.bytes, model.limits.count)
                cache.limits = model.limits
            case 97..<99:
                let cost = Int.random(in: 0..<20_000, using: &random)
                model.evict(cost, .max)
                cache.trim(toCost: ByteCount(cost))
            default:
                cache.removeAll()
                model.entries = []
            }
            #expect(cache.fault() == nil)
            #expect(cache.keysInOrder == model.entries.map(\.key))
            #expect(cache.cost.bytes == model.cost)
            #expect(cache.cost <= cache.limits.cost && cache.count <= cache.limits.count)
        }
        #expect(cache.statistics.evictions == model.evictions)
    }

    @Test func aTableThatGrowsKeepsEverything() throws {
        let cache = MemoryCache(limits: .init(cost: .mebibytes(64)), policy: .leastRecentlyUsed)
        let image = try makeImage(bytes: 4)
        for number in 0..<5000 { cache.store(image, for: CacheKey("\(number)")) }
        #expect(cache.fault() == nil && cache.count == 5000)
        for number in stride(from: 0, to: 5000, by: 2) { cache.remove(CacheKey("\(number)")) }
        #expect(cache.fault() == nil)
        let all = (0..<5000).allSatisfy { cache.contains(CacheKey("\($0)")) == ($0 % 2 == 1) }
        #expect(all)
    }

    @Test func manyThreadsKeepTheSumsRight() async throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(50 * (400 + overhead))), policy: .leastRecentlyUsed)
        let image = try makeImage(bytes: 400)
        await withTaskGroup { group in
            for seed in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    for _ in 0..<2000 {
                        let key = CacheKey("\(Int.random(in: 0..<100, using: &random))")
                        if Bool.random(using: &random) {
                            cache.store(image, for: key)
                        } else {
                            _ = cache.image(for: key)
                        }
                    }
                }
            }
        }
        #expect(cache.fault() == nil && cache.count == 50)
    }
}

/// A naive model of the cache.
private struct NaiveMemoryCache {
    var limits: MemoryCache.Limits
    let overhead: Int
    /// The entries, the least recently used first.
    var entries: [(key: CacheKey, image: Image)] = []
    var evictions = 0

    var cost: Int { entries.reduce(0) { $0 + $1.image.byteCount.bytes + overhead } }

    mutating func remove(_ key: CacheKey) { entries.removeAll { $0.key == key } }

    mutating func use(_ key: CacheKey) -> Image? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: index)
        entries.append(entry)
        return entry.image
    }

    mutating func store(_ image: Image, _ key: CacheKey) -> Bool {
        remove(key)
        guard image.byteCount.bytes + overhead <= limits.cost.bytes, limits.count > 0 else { return false }
        evict(limits.cost.bytes - image.byteCount.bytes - overhead, limits.count - 1)
        entries.append((key, image))
        return true
    }

    mutating func evict(_ cost: Int, _ count: Int) {
        while self.cost > cost || entries.count > count {
            entries.removeFirst()
            evictions += 1
        }
    }
}
