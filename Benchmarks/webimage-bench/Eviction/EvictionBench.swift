import WebImageCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Hit ratios of eviction policies on traces, with the orders that the cache uses. Bar: on every trace at least the hit
/// ratio of LRU minus 5 points. Prints the table of the documentation's page on eviction.
enum EvictionBench {
    private static let policies: [(name: String, make: @Sendable () -> any EvictionOrder)] = [
        ("LRU", { RecencyOrder() }), ("SIEVE", { SieveOrder() }),
        ("S3-FIFO 10 %", { TwoQueueOrder(share: 10, promotion: 2) }),
        ("**two queues** (ours)", { TwoQueueOrder() }),
        ("W-TinyLFU 1 %", { TinyLFUOrder(share: 1) }), ("W-TinyLFU 50 %", { TinyLFUOrder(share: 50) }),
    ]

    static func run() {
        print("object hits % / byte hits %")
        print("| trace, limit | \(policies.map(\.name).joined(separator: " | ")) |")
        print("| --- |\(policies.map { _ in " --: |" }.joined())")
        for trace in EvictionTrace.all {
            for limit in [32, 128] {
                let results = policies.map { simulate(trace, limit << 20, $0.make()) }
                print("| \(trace.name), \(limit) MiB | \(results.joined(separator: " | ")) |")
            }
        }
    }

    private static func simulate(_ trace: EvictionTrace, _ limit: Int, _ start: any EvictionOrder) -> String {
        var order = start
        let seesEveryHit = type(of: start).seesEveryHit
        var (places, keys, uses, free) = ([Int: Int](), [Int](), [UInt8](), [Int]())
        var (cost, hits, hitBytes, bytes) = (0, 0, 0, 0)
        for key in trace.keys {
            let size = EvictionTrace.cost(of: key)
            bytes += size
            if let id = places[key] {
                hits += 1
                hitBytes += size
                uses[id] = min(uses[id] + 1, 3)
                if seesEveryHit { order.use(id) }
                continue
            }
            while cost + size > limit {
                let victim = order.takeVictim(limit: limit) { id in
                    defer { uses[id] = 0 }
                    return Int(uses[id])
                }
                guard let victim else { break }
                cost -= EvictionTrace.cost(of: keys[victim])
                places[keys[victim]] = nil
                free.append(victim)
            }
            let id = free.popLast() ?? keys.count
            if id == keys.count {
                keys.append(key)
                uses.append(0)
            }
            (keys[id], uses[id], places[key]) = (key, 0, id)
            cost += size
            var hash = TraceRandom(state: UInt64(truncatingIfNeeded: key))
            order.insert(id, hash: Int(truncatingIfNeeded: hash.next()), cost: size)
        }
        func percent(_ part: Int, _ whole: Int) -> String {
            "\((Double(part) / Double(whole) * 1000).rounded() / 10)"
        }
        return "\(percent(hits, trace.keys.count)) / \(percent(hitBytes, bytes))"
    }
}

func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
