import WebImageCache
package import WebImageCore
import WebImageSystem

/// Both sides of the test that a killed process leaves no wrong entry: one process writes until it is killed, then
/// another one checks the directory.
package enum CacheKillWorker {
    /// The result of ``check(directory:)``.
    package struct Report: Hashable, Sendable {
        /// Entries that are equal to what was stored.
        package var intact = 0
        /// Keys without an entry.
        package var missing = 0
        /// Entries that were never stored in this form. There must be none.
        package var wrong = 0
        /// Entries that failed their checks, because a change of metadata was interrupted. They are also counted as
        /// missing.
        package var corrupt = 0
        /// The size that the cache reports.
        package var used = ByteCount.zero
    }

    private static let keyCount: UInt64 = 48

    /// Stores, replaces, changes and removes entries on four threads, and reads them on two, until the process is
    /// killed. It crashes by itself if it reads an entry that was never stored.
    package static func run(directory: String, seed: UInt64) -> Never {
        let cache = makeCache(directory)
        for thread in 1...2 as ClosedRange<UInt64> {
            startThread(named: "wi-reader") { read(cache, SeededGenerator(seed: seed &+ thread)) }
        }
        for thread in 3...5 as ClosedRange<UInt64> {
            startThread(named: "wi-writer") { write(cache, SeededGenerator(seed: seed &+ thread)) }
        }
        write(cache, SeededGenerator(seed: seed))
    }

    private static func write(_ cache: DiskCache, _ start: SeededGenerator) -> Never {
        var random = start
        while true {
            let number = random.next() % keyCount
            let generation = random.next() % 1000
            step(cache, number, generation, random.next() % 8)
        }
    }

    private static func read(_ cache: DiskCache, _ start: SeededGenerator) -> Never {
        var random = start
        while true {
            let number = random.next() % keyCount
            guard let entry = try? cache.read(CacheKey("https://example.org/\(number)")) else { continue }
            precondition(isRight(entry, number), "an entry is not what was stored")
        }
    }

    /// Whether a body is the one that it claims to be. Only bodies identify themselves, since metadata may be read
    /// before a store and written back after it.
    private static func isRight(_ entry: DiskEntry, _ number: UInt64) -> Bool {
        guard entry.body.count >= 2 else { return false }
        return entry.body == body(number, UInt64(entry.body[0]) << 8 | UInt64(entry.body[1]))
    }

    /// Failures are ignored: the other side checks the state of the disk.
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
        cache.finishOpening()
        var report = Report()
        for number in 0..<keyCount {
            guard let entry = try cache.read(CacheKey("https://example.org/\(number)")) else {
                report.missing += 1
                continue
            }
            if isRight(entry, number) { report.intact += 1 } else { report.wrong += 1 }
        }
        // The size includes the index, which is counted when it is written.
        cache.flushIndex()
        report.corrupt = cache.statistics.corruptEntries
        report.used = cache.usage.bytes
        return report
    }

    /// The limit of a worker's cache.
    package static let limit = ByteCount.mebibytes(2)

    private static func makeCache(_ directory: String) -> DiskCache {
        let limits = DiskCacheConfiguration.Limits(bytes: limit)
        let pool = ThreadPool(name: "wi-kill", width: 2)
        return DiskCache(DiskCacheConfiguration(directory: directory, limits: limits), executor: pool)
    }

    private static func body(_ number: UInt64, _ generation: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: number << 32 | generation)
        let count = 2 + Int(random.next() % 100_000)
        var bytes = [UInt8]()
        bytes.reserveCapacity(count)
        bytes += [UInt8(generation >> 8), UInt8(generation & 255)]
        // The body consists of copies of one block, so that checking is faster than writing.
        var block: [UInt8] = []
        for _ in 0..<64 { block.append(UInt8(truncatingIfNeeded: random.next())) }
        while bytes.count < count { bytes += block }
        return bytes
    }

    private static func metadata(_ generation: UInt64) -> DiskMetadata {
        var metadata = DiskMetadata()
        metadata.extendedData = [UInt8(generation >> 8), UInt8(generation & 255)]
        return metadata
    }
}
