import CBench
import WebImageCache
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Measures one cell of the comparison of disk caches, in the manner of the peers' workers: takes PHASE SIZE N DIR, and
/// prints a line of JSON.
enum CacheWork {
    static func run(_ phase: String, size: Int, count: Int, directory: String) throws {
        let keys = (0..<count).map { CacheKey("k\($0)") }
        var state: UInt64 = 1
        let blob = (0..<size + 4096).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        var begin = (Time.now, Time.processCPU)
        let cache = CacheBench.makeCache(directory)
        var (end, notes) = (begin, "")
        switch phase {
        case "put", "fill":
            begin = (Time.now, Time.processCPU)
            for (number, key) in keys.enumerated() {
                _ = try blob.withUnsafeBytes { bytes throws(WebImageError) in
                    let part = bytes[(number % 4096)..<(number % 4096 + size)]
                    return try cache.store(key, UnsafeRawBufferPointer(rebasing: part), DiskMetadata())
                }
            }
            end = (Time.now, Time.processCPU)
            usleep(50_000)
            cache.flushIndex()
            notes = ", \"close_ms\": \((Time.now - end.0) * 1e3 - 50)"
        case "get":
            var order = keys
            order.shuffle()
            while !cache.usage.isComplete { usleep(200) }
            for key in order.prefix(50) { _ = try cache.read(key) }
            begin = (Time.now, Time.processCPU)
            for key in order { guard try cache.read(key)?.body.count == size else { fatalError("bad read") } }
            end = (Time.now, Time.processCPU)
        case "open":
            _ = try cache.read(keys[count / 2])
            notes = ", \"first_get_ms\": \((Time.now - begin.0) * 1e3)"
            while !cache.usage.isComplete { usleep(50) }
            notes += ", \"count\": \(cache.usage.count)"
            end = (Time.now, Time.processCPU)
        default:
            while !cache.usage.isComplete { usleep(200) }
            begin = (Time.now, Time.processCPU)
            try cache.trim(to: ByteCount(cache.usage.bytes.bytes / 2))
            end = (Time.now, Time.processCPU)
            notes = ", \"left\": \(cache.usage.count)"
        }
        print(
            """
            {"store": "own", "phase": "\(phase)", "size": \(size), "n": \(count), \
            "total_ms": \((end.0 - begin.0) * 1e3), "us_op": \((end.0 - begin.0) / Double(count) * 1e6), \
            "cpu_us_op": \((end.1 - begin.1) / Double(count) * 1e6), \
            "rss_mb": \(Double(cb_peak_kibibytes()) / 1024), "disk_mb": \(Double(cache.usage.bytes.bytes) / 1e6)\(notes)}
            """)
    }
}
