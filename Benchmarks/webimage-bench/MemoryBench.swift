import CBench
import Foundation
import Synchronization
import WebImageCache
import WebImageCore

/// The memory cache alone. Bars: a hit takes at most 1.5 times a look-up of the same keys in a dictionary, without
/// allocation; at least 5 times as fast as Foundation's `NSCache`; two threads have at least 1.5 times the rate of one
/// thread.
enum MemoryBench {
    private static let count = 10_000
    private static let turns = 20

    static func run() throws {
        let names = (0..<count).map { "https://images.example.com/photos/\($0 * 7919)/large.jpg?width=640&v=3" }
        let keys = names.map { CacheKey($0) }
        let image = try Image(size: PixelSize(width: 1, height: 1)) { _ in }
        for policy in [EvictionPolicy.twoQueues, .leastRecentlyUsed] {
            let cache = MemoryCache(limits: .init(cost: .mebibytes(512)), policy: policy)
            // Each key has a picture of its own, as in practice. Two threads that count references to the same picture
            // would slow each other down, which is not the cache's fault.
            for key in keys { cache.store(try Image(size: image.size) { _ in }, for: key) }
            let ours = { perLookUp { keys.indices.forEach { if cache.image(for: keys[$0]) == nil { fatalError() } } } }
            print("\(policy.name): \(compare(ours, names)), \(allocations(cache, keys)) allocations in \(count) hits")
            threads(cache, keys)
        }
    }

    private final class Value {}

    private static func compare(_ ours: () -> Double, _ names: [String]) -> String {
        let dictionary: [String: AnyObject] = Dictionary(uniqueKeysWithValues: names.map { ($0, Value()) })
        let foundation = NSCache<NSString, Value>()
        let bridged = names.map { NSString(string: $0) }
        for name in bridged { foundation.setObject(Value(), forKey: name) }
        let (a, b, toDictionary) = Measure.alternating(
            11, ours, { perLookUp { names.forEach { if dictionary[$0] == nil { fatalError() } } } })
        let (_, c, toFoundation) = Measure.alternating(
            5, ours, { perLookUp { bridged.forEach { if foundation.object(forKey: $0) == nil { fatalError() } } } })
        return
            "hit \(Measure.text(a, 1)) ns, dictionary \(Measure.text(b, 1)) ns, ratio \(Measure.text(toDictionary)); "
            + "NSCache \(Measure.text(c, 1)) ns, \(Measure.text(1 / toFoundation, 1)) times as long"
    }

    /// The CPU time of each look-up of one round, in nanoseconds.
    private static func perLookUp(_ round: () -> Void) -> Double {
        let begin = Measure.threadCPU
        for _ in 0..<turns { round() }
        return Double(Measure.threadCPU - begin) / Double(turns * count)
    }

    private static func allocations(_ cache: MemoryCache, _ keys: [CacheKey]) -> Int {
        let before = cb_malloc_count()
        for key in keys { _ = cache.image(for: key) }
        return Int(cb_malloc_count() - before)
    }

    /// Compares with two threads that only calculate, to find out what a second thread gains on the machine at the
    /// moment.
    private static func threads(_ cache: MemoryCache, _ keys: [CacheKey]) {
        let (one, two, _) = Measure.alternating(11, { rate(1, cache, keys) }, { rate(2, cache, keys) })
        let (bareOne, bareTwo, _) = Measure.alternating(11, { calculations(1) }, { calculations(2) })
        var load = [0.0, 0.0, 0.0]
        getloadavg(&load, 3)
        print(
            "  two threads \(Measure.text(two / one)) times one thread's rate of \(Measure.text(one / 1e6, 1)) million "
                + "hits a second, of bare arithmetic \(Measure.text(bareTwo / bareOne)) times; "
                + "load \(Measure.text(load[0], 1)) on \(ProcessInfo.processInfo.activeProcessorCount) cores")
    }

    /// Hits per second of wall time. Each thread goes through the keys in another order.
    private static func rate(_ width: Int, _ cache: MemoryCache, _ keys: [CacheKey]) -> Double {
        perSecond(width, turns * keys.count) { thread in
            for turn in 0..<turns {
                var place = (thread * 5_003 + turn * 101) % keys.count
                for _ in keys.indices {
                    place += thread == 0 ? 7 : 13
                    if place >= keys.count { place -= keys.count }
                    if cache.image(for: keys[place]) == nil { fatalError("a hit missed") }
                }
            }
        }
    }

    private static func calculations(_ width: Int) -> Double {
        perSecond(width, turns * count * 40) { thread in
            var number = UInt64(thread + 1)
            for _ in 0..<turns * count * 40 {
                number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            }
            if number == 0 { fatalError("it has a full period") }
        }
    }

    private static func perSecond(_ width: Int, _ count: Int, _ work: @Sendable (Int) -> Void) -> Double {
        let begin = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: width, execute: work)
        let time = ContinuousClock.now - begin
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        return Double(width * count) / seconds
    }
}
