/// A sequence of requests to a memory cache by a program with pictures, of a published or observed shape. It is seeded,
/// so that every run has the same requests.
struct EvictionTrace {
    let name: String
    let keys: [Int]

    /// The decoded size: from a list's thumbnail (60 KB) to a full screen (3.8 MB).
    static func cost(of key: Int) -> Int {
        var random = TraceRandom(state: UInt64(truncatingIfNeeded: key) &* 0x2545_F491_4F6C_DD1D &+ 1)
        return Int(60_000 * max(1, Double(1 << Int(random.below(6))) * (1 + random.unit() * 3) / 2))
    }

    static let all: [EvictionTrace] =
        [0.6, 0.8, 1.0, 1.2].map { zipf($0) } + [feed, tabs, loop, scan, mixed]

    /// 5 000 pictures, requested by popularity.
    private static func zipf(_ skew: Double) -> EvictionTrace {
        var random = TraceRandom(state: 11)
        let popular = Zipf(count: 5_000, skew: skew)
        return EvictionTrace(
            name: "Zipf \(skew), 5 000 pictures", keys: (0..<200_000).map { _ in popular.next(&random) })
    }

    /// A feed that is scrolled down, and now and then back up by up to 60 rows. Each row is requested when it appears.
    private static let feed: EvictionTrace = {
        var random = TraceRandom(state: 12)
        var (keys, row) = ([Int](), 0)
        while keys.count < 200_000 {
            for _ in 0..<(5 + Int(random.below(30))) {
                row += 1
                keys += [row, 1_000_000 + Int(random.below(40))]
            }
            guard random.below(10) < 4 else { continue }
            let back = min(5 + Int(random.below(55)), row)
            keys += (0..<back).map { row - $0 }
            keys += (0..<back).map { row - back + $0 }
        }
        return EvictionTrace(name: "feed with scroll-back, avatars", keys: keys)
    }()

    /// Five tabs of 150 pictures, each shown for a while. One of them is a search that always has new pictures.
    private static let tabs: EvictionTrace = {
        var random = TraceRandom(state: 13)
        var (keys, fresh) = ([Int](), 1_000_000)
        while keys.count < 200_000 {
            let tab = Int(random.below(5))
            for row in 0..<(30 + Int(random.below(120))) {
                fresh += tab == 0 ? 1 : 0
                keys.append(tab == 0 ? fresh : tab * 1_000 + row)
            }
        }
        return EvictionTrace(name: "tabs", keys: keys)
    }()

    /// A slide show that is longer than the caches can hold.
    private static let loop = EvictionTrace(name: "loop of 150", keys: (0..<200_000).map { $0 % 150 })

    /// Popular pictures, alternating with pictures that are requested only once.
    private static let scan: EvictionTrace = {
        var random = TraceRandom(state: 14)
        let popular = Zipf(count: 1_000, skew: 0.9)
        let keys = (0..<200_000).map { $0 % 2 == 0 ? popular.next(&random) : 1_000_000 + $0 }
        return EvictionTrace(name: "one-hit scan among Zipf 0.9", keys: keys)
    }()

    /// Parts of all the other traces, in turn.
    private static let mixed: EvictionTrace = {
        let parts = [zipf(0.8), feed, tabs, loop, scan]
        let keys = (0..<200_000).map { index -> Int in
            let part = index / 2_000 % parts.count
            return parts[part].keys[index] + part * 10_000_000
        }
        return EvictionTrace(name: "mixed, 2 000 of each in turn", keys: keys)
    }()
}

/// Random numbers by Zipf's law.
private struct Zipf {
    private var sums: [Double] = []

    init(count: Int, skew: Double) {
        var sum = 0.0
        for rank in 1...count {
            sum += 1 / power(Double(rank), skew)
            sums.append(sum)
        }
    }

    func next(_ random: inout TraceRandom) -> Int {
        let goal = random.unit() * (sums.last ?? 0)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < goal { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// SplitMix64.
struct TraceRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: UInt64) -> UInt64 { next() % limit }
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
