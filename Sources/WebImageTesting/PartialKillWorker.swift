import WebImageCache
package import WebImageCore

/// Both sides of the test that the stored beginning of a body survives a killed process, and is right.
package enum PartialKillWorker {
    private static let keyCount: UInt64 = 6

    /// Stores longer and longer beginnings until the process is killed.
    package static func run(directory: String, seed: UInt64) -> Never {
        var random = SeededGenerator(seed: seed)
        let store = makeStore(directory)
        while true {
            let number = random.next() % keyCount
            guard let body = store.claim(key(number), creates: true) else { continue }
            let isNew = body.metadata == nil || random.below(8) == 0
            if isNew, !body.restart(metadata: [UInt8(random.below(250))]) { continue }
            for _ in 0..<random.below(20) {
                guard let generation = body.metadata?.first else { break }
                let part = bytes(number, generation, body.length..<body.length + 1 + random.below(longestPart))
                part.withUnsafeBytes { _ = body.append($0) }
            }
            if random.below(16) == 0 { body.discard() } else { body.release() }
        }
    }

    /// The number of stored bytes if all are right; nil if one is wrong.
    package static func check(directory: String) throws(WebImageError) -> Int? {
        let store = makeStore(directory)
        var count = 0
        for number in 0..<keyCount {
            guard let body = store.claim(key(number), creates: false), let generation = body.metadata?.first else {
                continue
            }
            var offset = 0
            while offset < body.length {
                let found = try body.read(at: offset)
                guard !found.isEmpty, found == bytes(number, generation, offset..<offset + found.count) else {
                    return nil
                }
                offset += found.count
            }
            count += offset
        }
        return count
    }

    private static func makeStore(_ directory: String) -> PartialStore {
        var limits = PartialStore.Limits()
        limits.bytes = .mebibytes(3)
        return PartialStore(DiskCacheConfiguration(directory: directory), limits: limits)
    }

    private static func key(_ number: UInt64) -> CacheKey { CacheKey("https://example.org/\(number)") }

    /// A part of a body, at most ``longestPart`` bytes. It is cut out of a table, so that a worker spends its time on
    /// writing.
    private static func bytes(_ number: UInt64, _ generation: UInt8, _ range: Range<Int>) -> [UInt8] {
        let start = (range.lowerBound + Int(number) * 9_973 + Int(generation) * 131) % period
        return Array(table[start..<start + range.count])
    }

    private static let longestPart = 30_000
    private static let period = 65_521
    private static let table: [UInt8] = {
        var random = SeededGenerator(seed: 1)
        let once = random.bytes(period)
        return once + once.prefix(longestPart)
    }()
}
