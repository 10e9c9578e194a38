import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Random walks against a naive model: a dictionary, and an array of names by last use.
struct DiskCacheWalkTests {
    private static let isSoak = getenv("WEBIMAGE_SOAK") != nil
    private static let seeds: [UInt64] = isSoak ? Array(11...30) : [11, 12, 13, 14, 15, 16]
    private static let steps = isSoak ? 100_000 : 600

    @Test(arguments: seeds)
    func aRandomWalkAgreesWithANaiveModel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = NaiveDiskCache()
        let bench = try Bench(bytes: ByteCount(NaiveDiskCache.limit), age: .seconds(50_000))
        var current = bench
        current.executor.runAll()
        for step in 0..<Self.steps {
            let name = "key \(Int.random(in: 0..<24, using: &random))"
            let key = CacheKey(name)
            let cache = current.cache
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let body = random.bytes(Int.random(in: 0..<20_000, using: &random))
                #expect(try cache.store(key, body, metadata(step)) == model.store(name, body, step), "step \(step)")
            case 40..<70:
                let entry = try cache.read(key)
                let expected = model.use(name)
                #expect(entry?.body == expected?.body, "step \(step)")
                #expect(entry?.metadata.status == expected?.status, "step \(step)")
            case 70..<80: #expect(try cache.remove(key) == model.remove(name))
            case 80..<90: #expect(try cache.contains(key) == (model.entries[name] != nil))
            case 90..<95:
                let bytes = Int.random(in: 0..<NaiveDiskCache.limit, using: &random)
                try cache.trim(to: ByteCount(bytes))
                model.evict(to: bytes)
            case 95..<98: current.executor.runAll()
            default:
                try cache.removeAll()
                model = NaiveDiskCache()
            }
            // Background work evicts above 90 % of the limit. It is run here, and the model does the same.
            current.executor.runAll()
            model.runBackground()
            #expect(cache.fault() == nil, "step \(step)")
            #expect(cache.usage.bytes.bytes == model.bytes, "step \(step)")
            #expect(cache.usage.count == model.entries.count, "step \(step)")
        }
        let reopened = try current.reopened()
        reopened.executor.runAll()
        current = reopened
        #expect(Set(try current.cache.entries().compactMap(\.key?.text)) == Set(model.entries.keys))
        for (name, entry) in model.entries { #expect(try current.cache.read(CacheKey(name))?.body == entry.body) }
        #expect(current.cache.usage.bytes.bytes == model.bytes)
    }
}

private struct NaiveDiskCache {
    static let limit = 30 * 4096

    var entries: [String: (body: [UInt8], status: Int)] = [:]
    /// The names, the least recently used first.
    var order: [String] = []

    /// The bytes that an entry takes: body, trailer (with three fields) and footer, rounded up to blocks.
    static func blocks(_ name: String, _ body: [UInt8]) -> Int {
        let length = body.count + 4 + (6 + name.utf8.count) + 2 * (6 + 8) + 64
        return (length + 4095) / 4096 * 4096
    }

    var bytes: Int { entries.reduce(0) { $0 + Self.blocks($1.key, $1.value.body) } }

    mutating func use(_ name: String) -> (body: [UInt8], status: Int)? {
        guard let entry = entries[name] else { return nil }
        order.removeAll { $0 == name }
        order.append(name)
        return entry
    }

    mutating func remove(_ name: String) -> Bool {
        order.removeAll { $0 == name }
        return entries.removeValue(forKey: name) != nil
    }

    mutating func evict(to bytes: Int) {
        while self.bytes > bytes { _ = remove(order[0]) }
    }

    /// Until the new entry is complete, the old entry of the same name takes room, too.
    mutating func store(_ name: String, _ body: [UInt8], _ status: Int) -> Bool {
        let needed = Self.blocks(name, body)
        evict(to: Self.limit - needed)
        _ = remove(name)
        entries[name] = (body, status)
        order.append(name)
        return true
    }

    mutating func runBackground() {
        if bytes > Self.limit / 10 * 9 { evict(to: Self.limit / 10 * 8) }
    }
}
