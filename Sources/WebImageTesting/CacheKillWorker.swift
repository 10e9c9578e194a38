import WebImageCache
package import WebImageCore
import WebImageSystem

/// The two sides of the test that a killed process leaves no wrong entry: one process writes until it is killed,
/// another one then looks at what is there.
package enum CacheKillWorker {
    /// What ``check(directory:)`` found.
    package struct Report: Hashable, Sendable {
        /// Entries that are what was stored.
        package var intact = 0
        /// Keys without an entry.
        package var missing = 0
        /// Entries that were never stored so: there must be none.
        package var wrong = 0
        /// Entries that failed their checks: a metadata change was cut off. They are among the missing.
        package var corrupt = 0
    }

    private static let keyCount: UInt64 = 48

    /// Stores, replaces, changes and removes entries until the process is killed.
    package static func run(directory: String, seed: UInt64) -> Never {
        let cache = makeCache(directory)
        var random = SeededGenerator(seed: seed)
        while true {
            let number = random.next() % keyCount
            let generation = random.next() % 1000
            step(cache, number, generation, random.next() % 8)
        }
    }

    /// A failure is no reason to stop: the other side judges what is on the disk.
    private static func step(_ cache: DiskCache, _ number: UInt64, _ generation: UInt64, _ action: UInt64) {
        let key = CacheKey("https://example.org/\(number)")
        do throws(WebImageError) {
            switch action {
            case 0: try cache.remove(key)
            case 1, 2:
                guard var metadata = try cache.readMetadata(key) else { return }
                metadata.status = Int(generation)
                try cache.updateMetadata(key, metadata)
            case 3:
                let writer = try cache.makeWriter(for: key)
                let body = body(number, generation)
                try writer.append(Array(body[..<(body.count / 2)]))
                try writer.append(Array(body[(body.count / 2)...]))
                _ = try writer.commit(metadata(generation))
            default: try cache.store(key, body(number, generation), metadata(generation))
            }
        } catch {
            return
        }
    }

    /// Reads every key that ``run(directory:seed:)`` may have written.
    package static func check(directory: String) throws(WebImageError) -> Report {
        let cache = makeCache(directory)
        var report = Report()
        for number in 0..<keyCount {
            guard let entry = try cache.read(CacheKey("https://example.org/\(number)")) else {
                report.missing += 1
                continue
            }
            let generation = entry.metadata.extendedData.map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
            let isRight = generation.map { entry.body == body(number, $0) } ?? false
            if isRight { report.intact += 1 } else { report.wrong += 1 }
        }
        report.corrupt = cache.statistics.corruptEntries
        return report
    }

    private static func makeCache(_ directory: String) -> DiskCache {
        let limits = DiskCacheConfiguration.Limits(bytes: .mebibytes(2))
        let pool = ThreadPool(name: "wi-kill", width: 2)
        return DiskCache(DiskCacheConfiguration(directory: directory, limits: limits), executor: pool)
    }

    private static func body(_ number: UInt64, _ generation: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: number << 32 | generation)
        let count = Int(random.next() % 100_000)
        var bytes = [UInt8]()
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let word = random.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) where bytes.count < count {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    private static func metadata(_ generation: UInt64) -> DiskMetadata {
        var metadata = DiskMetadata()
        metadata.extendedData = [UInt8(generation >> 8), UInt8(generation & 255)]
        return metadata
    }
}
