import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

struct MemoryPolicyTests {
    private let overhead = MemoryCache.entryOverhead.bytes

    @Test func aScanDoesNotEvictUsedPictures() throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(20 * (400 + overhead))), remembersHeld: false)
        for name in ["a", "b", "c", "d"] {
            cache.store(try makeImage(bytes: 400), for: CacheKey(name))
            _ = cache.image(for: CacheKey(name))
        }
        for number in 0..<1000 { cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)")) }
        for name in ["a", "b", "c", "d"] { #expect(cache.contains(CacheKey(name))) }
        #expect(cache.count == 20 && cache.fault() == nil)
    }

    @Test func aPictureStoredAgainSoonAfterItsEvictionStays() throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(20 * (400 + overhead))), remembersHeld: false)
        let key = CacheKey("again")
        cache.store(try makeImage(bytes: 400), for: key)
        for number in 0..<20 { cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)")) }
        #expect(!cache.contains(key))
        cache.store(try makeImage(bytes: 400), for: key)
        for number in 20..<29 { cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)")) }
        #expect(cache.contains(key))
        // It is alone in the main queue, after all new entries, which are evicted first.
        #expect(cache.keysInOrder.last == key)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func twoQueuesDoWhatAPlainModelDoes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var order = TwoQueueOrder()
        var model = PlainTwoQueues()
        var uses = [Int: Int]()
        var alive: [Int] = []
        for step in 0..<3000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4 where alive.count < 40:
                let id = (0...alive.count).first { !alive.contains($0) } ?? 0
                let (cost, hash) = (Int.random(in: 1..<100, using: &random), step &* 0x9E37_79B9_7F4A)
                alive.append(id)
                uses[id] = 0
                order.insert(id, hash: hash, cost: cost)
                model.insert(id, cost: cost)
            case 4..<7:
                if let id = alive.randomElement(using: &random) { uses[id, default: 0] += 1 }
            case 7:
                guard let id = alive.randomElement(using: &random) else { continue }
                alive.removeAll { $0 == id }
                order.remove(id)
                model.remove(id)
            case 8:
                guard let id = alive.randomElement(using: &random) else { continue }
                let cost = Int.random(in: 1..<200, using: &random)
                order.setCost(cost, of: id)
                model.setCost(cost, of: id)
            default:
                var forModel = uses
                let victim = order.takeVictim(limit: 1000) { id in uses.updateValue(0, forKey: id) ?? 0 }
                #expect(victim == model.takeVictim(limit: 1000) { forModel.updateValue(0, forKey: $0) ?? 0 })
                alive.removeAll { $0 == victim }
                #expect(uses == forModel)
            }
            #expect(order.ids == model.small.map(\.id) + model.main.map(\.id))
        }
    }

    @Test(arguments: ["nothing", "nonsense", "the same"])
    func aBrokenCustomPolicyCannotBreakTheLimit(gives: String) throws {
        let policy = EvictionPolicy(name: "broken") { BrokenOrder(gives: gives) }
        let cache = MemoryCache(
            limits: .init(cost: ByteCount(5 * (400 + overhead))), policy: policy, remembersHeld: false)
        for number in 0..<50 {
            #expect(cache.store(try makeImage(bytes: 400), for: CacheKey("\(number)")))
            #expect(cache.count <= 5 && cache.cost <= cache.limits.cost)
            #expect(cache.image(for: CacheKey("\(number)")) != nil)
        }
    }

    /// With every policy, and with held and released pictures, lifetimes and variants, the cache returns only the
    /// picture that was stored last, and keeps its limits.
    @Test(arguments: ["two queues", "least recently used"], [1, 2, 3, 4] as [UInt64])
    func aRandomWalkFindsOnlyTheLastStoredPictures(policy: String, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let cache = MemoryCache(
            limits: .init(cost: 20_000, count: 12), policy: policy == "two queues" ? .twoQueues : .leastRecentlyUsed,
            remembersHeld: true, clock: clock)
        var stored: [CacheKey: (image: ObjectIdentifier, end: Duration)] = [:]
        var held: [Image] = []
        for _ in 0..<3000 {
            let key = CacheKey("key \(Int.random(in: 0..<30, using: &random))")
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let image = try makeImage(bytes: Int.random(in: 1...50, using: &random) * 100)
                let lifetime = Bool.random(using: &random) ? Duration.seconds(20) : nil
                let variant = ImageVariant(
                    group: CacheKey("group \(Int.random(in: 0..<3, using: &random))"), size: image.size, fit: .contain,
                    originalSize: PixelSize(width: 2000, height: 1))
                cache.store(
                    image, for: key, lifetime: lifetime, variant: Bool.random(using: &random) ? variant : nil)
                stored[key] = (ObjectIdentifier(image.storage), lifetime.map { clock.now + $0 } ?? .seconds(1 << 40))
                held.append(image)
                if held.count > 20 { held.remove(at: Int.random(in: 0..<20, using: &random)) }
            case 40..<85:
                guard let image = cache.image(for: key) else { continue }
                #expect(stored[key]?.image == ObjectIdentifier(image.storage))
                #expect((stored[key]?.end ?? .zero) > clock.now)
            case 85..<90:
                cache.remove(key)
                stored[key] = nil
                #expect(cache.image(for: key) == nil)
            case 90..<94: cache.trim(toCost: ByteCount(Int.random(in: 0..<20_000, using: &random)))
            case 94..<97: clock.advance(by: .seconds(1))
            case 97: cache.removeExpired()
            case 98: cache.limits.count = Int.random(in: 0..<30, using: &random)
            default:
                cache.removeAll()
                stored = [:]
            }
            #expect(cache.fault() == nil)
        }
    }

    @Test func manyThreadsThatDoEverythingKeepTheSumsRight() async throws {
        let cache = MemoryCache(limits: .init(cost: ByteCount(50 * (400 + overhead)), count: 40))
        let images = try (1...20).map { try makeImage(bytes: $0 * 40) }
        await withTaskGroup { group in
            for seed in 0..<6 as Range<UInt64> {
                group.addTask { Self.disturb(cache, images, seed) }
            }
        }
        #expect(cache.fault() == nil)
        cache.trim(toCost: .zero)
        #expect(cache.count == 0 && cache.cost == .zero)
    }

    private static func disturb(_ cache: MemoryCache, _ images: [Image], _ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let number = Int.random(in: 0..<100, using: &random)
            let key = CacheKey("\(number)")
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6: cache.store(images[number % 20], for: key)
            case 6..<15:
                // Only one picture is ever stored under each key.
                if let image = cache.image(for: key) { #expect(image.storage === images[number % 20].storage) }
            case 15: cache.remove(key)
            case 16: cache.updateCost(of: images[number % 20], for: key)
            case 17: cache.trim(toCost: ByteCount(number * 200))
            case 18: #expect(cache.cost <= cache.limits.cost && cache.count <= 40)
            default: if number == 0 { cache.removeAll() }
            }
        }
    }
}

/// A naive model of S3-FIFO, without its memory of evicted entries.
private struct PlainTwoQueues {
    struct Entry {
        let id: Int
        var cost: Int
        var mark = 0
    }

    var small: [Entry] = []
    var main: [Entry] = []

    mutating func insert(_ id: Int, cost: Int) { small.append(Entry(id: id, cost: cost)) }

    mutating func remove(_ id: Int) {
        small.removeAll { $0.id == id }
        main.removeAll { $0.id == id }
    }

    mutating func setCost(_ cost: Int, of id: Int) {
        for index in small.indices where small[index].id == id { small[index].cost = cost }
        for index in main.indices where main[index].id == id { main[index].cost = cost }
    }

    mutating func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        while !(small.isEmpty && main.isEmpty) {
            if main.isEmpty || small.reduce(0, { $0 + $1.cost }) > limit / 2 {
                let entry = small.removeFirst()
                if uses(entry.id) == 0 { return entry.id }
                main.append(Entry(id: entry.id, cost: entry.cost))
            } else {
                var entry = main.removeFirst()
                entry.mark = min(entry.mark + uses(entry.id), 3)
                if entry.mark == 0 { return entry.id }
                entry.mark -= 1
                main.append(entry)
            }
        }
        return nil
    }
}

private struct BrokenOrder: EvictionOrder {
    static let seesEveryHit = true
    let gives: String
    var ids: [Int] { [] }

    func insert(_ id: Int, hash: Int, cost: Int) {}
    func use(_ id: Int) {}
    func setCost(_ cost: Int, of id: Int) {}
    func remove(_ id: Int) {}
    func removeAll() {}

    func takeVictim(limit: Int, uses: (Int) -> Int) -> Int? {
        switch gives {
        case "nothing": nil
        case "nonsense": uses(-7) + uses(1 << 40) + (1 << 50)
        default: 0
        }
    }
}
