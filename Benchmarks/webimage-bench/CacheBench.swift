import Synchronization
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

/// Compares the disk cache with the system calls of which it consists, in one run.
///
/// Bars: a hit takes at most 1.5 times as long as opening, reading and closing a plain file with the same bytes. Stores
/// are at least as fast as writing and renaming a file for each key. With 100 000 entries, the first hit comes within 5
/// ms of opening, and the index within 300 ms. Evicting half of them takes at most 1.5 times the CPU of unlinking as
/// many files. A store that evicts costs the same with 100 000 entries as with 1000.
enum CacheBench {
    static func run(entries: Int = 100_000) throws {
        for size in [20_000, 200_000] { try hits(size) }
        for (size, count) in [(10_000, 2000), (100_000, 500), (1_000_000, 60)] { try stores(size, count) }
        try evictingStores(entries)
        try openAndEvict(entries)
    }

    // MARK: - Hits and stores

    static func hits(_ size: Int) throws {
        let folder = try BenchFolder()
        let cache = makeCache(folder.path + "/cache")
        let keys = (0..<100).map { CacheKey("https://images.example.com/photos/\($0 * 7919)/large.jpg?width=640&v=3") }
        // Files with the same bytes, at the same depth of directories.
        let paths = keys.map { cache.defaultPath(for: $0) + ".plain" }
        for (number, key) in keys.enumerated() {
            try cache.store(key, bytes(size, number), metadata(key))
            plainStore(paths[number], bytes(size, number))
        }
        var total = 0
        let turns = 20_000_000 / size / keys.count + 1
        let (ours, theirs, ratio) = Measure.alternating(
            31,
            {
                let begin = Time.threadCPU
                for _ in 0..<turns { for key in keys { total &+= (try? cache.read(key))??.body.count ?? 0 } }
                return (Time.threadCPU - begin) / Double(turns * keys.count)
            },
            {
                let begin = Time.threadCPU
                for _ in 0..<turns { for path in paths { total &+= plainRead(path, size).count } }
                return (Time.threadCPU - begin) / Double(turns * keys.count)
            })
        precondition(total == 2 * 31 * turns * keys.count * size, "a hit missed")
        print(
            "hit of \(size) B: \(Measure.text(ours * 1e6)) us, open + read + close \(Measure.text(theirs * 1e6)) us, "
                + "ratio \(Measure.text(ratio))")
    }

    /// Both store equally many files of the same names in equally many existing directories, at the same depth.
    static func stores(_ size: Int, _ count: Int) throws {
        let folder = try BenchFolder()
        let cache = makeCache(folder.path + "/cache")
        let body = bytes(size, 1)
        let keys = (0...2 * count).map { CacheKey("https://images.example.com/photos/\($0)/large.jpg") }
        try cache.store(keys[2 * count], body, metadata(keys[2 * count]))
        let root = folder.path + "/plain/default/v1/"
        for path in ["/plain", "/plain/default", "/plain/default/v1"] { mkdir(folder.path + path, 0o700) }
        for name in CacheLayoutNames.shards {
            mkdir(root + name, 0o700)
            mkdir("\(folder.path)/cache/default/v1/\(name)", 0o700)
        }
        let plainPaths = keys.map { root + cache.defaultPath(for: $0).suffix(67) }
        var number = 0
        var cpu: (ours: [Double], theirs: [Double]) = ([], [])
        func measure(_ store: (Int) -> Void) -> (wall: Double, cpu: Double) {
            let (wall, begin) = (Time.now, Time.threadCPU)
            for _ in 0..<count / 10 {
                store(number)
                number += 1
            }
            return ((Time.now - wall) / Double(count / 10), (Time.threadCPU - begin) / Double(count / 10))
        }
        let (ours, theirs, ratio) = Measure.alternating(
            10,
            {
                let time = measure { number in _ = try? cache.store(keys[number], body, metadata(keys[number])) }
                cpu.ours.append(time.cpu)
                return time.wall
            },
            {
                let time = measure { number in
                    let path = plainPaths[number]
                    let temporary = path.dropLast(64) + ".4711-a0b1c2d3-\(number)"
                    plainStore(String(temporary), body)
                    rename(String(temporary), path)
                }
                cpu.theirs.append(time.cpu)
                return time.wall
            })
        precondition(cache.statistics.stores == count + 1, "a store failed")
        let cpuRatio = Measure.median(zip(cpu.ours, cpu.theirs).map { $0 / $1 })
        print(
            "store of \(size) B: \(Measure.text(ours * 1e6, 1)) us, file + rename \(Measure.text(theirs * 1e6, 1)) us, "
                + "ratio of wall \(Measure.text(ratio)), of CPU \(Measure.text(cpuRatio))")
    }

    /// Directories with more entries are larger, and their inodes are less often cached. The cost of that without a
    /// cache is measured as well.
    static func evictingStores(_ many: Int) throws {
        var (ours, theirs) = ([Double](), [Double]())
        for count in [1000, many] {
            let folder = try BenchFolder()
            let limit = ByteCount(count * 4096 + (1 << 20))
            let cache = makeCache(folder.path + "/cache", limit, background: false)
            let body = bytes(2000, 1)
            let plain = PlainFolder(folder.path + "/plain", count)
            for number in 0..<count + 200 {
                try cache.store(CacheKey("\(number)"), body, DiskMetadata())
                plain.store(body)
            }
            let evicted = cache.statistics.evictions
            var number = 0
            func cpu(_ store: () -> Void) -> Double {
                let begin = Time.threadCPU
                for _ in 0..<100 { store() }
                return (Time.threadCPU - begin) / 100
            }
            let (our, their, ratio) = Measure.alternating(
                20,
                {
                    cpu {
                        number += 1
                        _ = try? cache.store(CacheKey("n\(number)"), body, DiskMetadata())
                    }
                },
                { cpu { plain.store(body) } })
            ours.append(our)
            theirs.append(their)
            print(
                "a store with \(cache.statistics.evictions - evicted) evictions in 2000, among \(count) entries: "
                    + "\(Measure.text(our * 1e6, 1)) us of CPU, file + rename + unlink \(Measure.text(their * 1e6, 1)) us, "
                    + "ratio \(Measure.text(ratio))")
        }
        print(
            "among \(many) against among 1000: \(Measure.text(ours[1] / ours[0])), of the bare calls "
                + Measure.text(theirs[1] / theirs[0]))
    }

    /// A file for each key, with the names and directories of the cache. The oldest file is removed when a new one is
    /// stored.
    private final class PlainFolder {
        private let root: String
        private let count: Int
        private var paths: [String] = []

        init(_ root: String, _ count: Int) {
            (self.root, self.count) = (root, count)
            mkdir(root, 0o700)
            for name in CacheLayoutNames.shards { mkdir(root + "/" + name, 0o700) }
        }

        func store(_ body: [UInt8]) {
            let name = KeyDigest.hex("\(paths.count)")
            let (shard, number) = (root + "/" + name.prefix(2), paths.count)
            CacheBench.plainStore("\(shard)/.4711-a0b1c2d3-\(number)", body)
            rename("\(shard)/.4711-a0b1c2d3-\(number)", "\(shard)/\(name)")
            paths.append("\(shard)/\(name)")
            if number >= count { unlink(paths[number - count]) }
        }
    }

    // MARK: - Many entries

    static func openAndEvict(_ count: Int) throws {
        let folder = try BenchFolder()
        let path = folder.path + "/cache"
        let body = bytes(2000, 1)
        do {
            let cache = makeCache(path)
            for number in 0..<count { try cache.store(CacheKey("\(number)"), body, DiskMetadata()) }
            usleep(100_000)
            cache.flushIndex()
        }
        for name in ["with its index", "without its index"] {
            if name == "without its index" { removeIndex(path) }
            let begin = Time.now
            let cache = makeCache(path)
            let hit = try cache.read(CacheKey("\(count / 2)"))
            precondition(hit != nil)
            let first = Time.now - begin
            while !cache.usage.isComplete { usleep(200) }
            let all = Time.now - begin
            precondition(cache.usage.count == count)
            print(
                "opening \(count) entries \(name): first hit after \(Measure.text(first * 1e3)) ms, "
                    + "complete after \(Measure.text(all * 1e3, 1)) ms")
        }
        try evictHalf(count, path, folder)
    }

    private static func evictHalf(_ count: Int, _ path: String, _ folder: BenchFolder) throws {
        var files: [String] = []
        for name in CacheLayoutNames.shards { mkdir("\(folder.path)/\(name)", 0o700) }
        for number in 0..<count / 2 {
            files.append("\(folder.path)/\(CacheLayoutNames.shards[number & 255])/file-with-a-long-name-\(number)")
            plainStore(files[number], bytes(2000, 1))
        }
        let cache = makeCache(path)
        while !cache.usage.isComplete { usleep(200) }
        let quiet = hitTimes(cache, count)
        sync()
        let half = ByteCount(cache.usage.bytes.bytes / 2)
        // It waits without polling, whose CPU time would count as ours.
        let done = BlockingAnswer<Void>()
        let before = Time.processCPU
        let wall = Time.now
        startThread(named: "evict") {
            try? cache.trim(to: half)
            done.give(())
        }
        done.value()
        let (ours, oursWall) = (Time.processCPU - before, Time.now - wall)
        sync()
        let begin = (Time.processCPU, Time.now)
        for file in files { unlink(file) }
        let (theirs, theirsWall) = (Time.processCPU - begin.0, Time.now - begin.1)
        print(
            "evicting half: \(Measure.text(ours * 1e3, 0)) ms of CPU (\(Measure.text(oursWall * 1e3, 0)) wall), unlink of "
                + "as many \(Measure.text(theirs * 1e3, 0)) ms (\(Measure.text(theirsWall * 1e3, 0)) wall), "
                + "ratio \(Measure.text(ours / theirs))")

        // Evicts again while another thread reads.
        let second = Flag()
        let quarter = ByteCount(half.bytes / 2)
        startThread(named: "evict") {
            try? cache.trim(to: quarter)
            second.set()
        }
        var busy: [Double] = []
        while !second.isSet { busy += hitTimes(cache, count, samples: 200) }
        print(
            "99th percentile of hits: quiet \(percentile(quiet)) us, during eviction \(percentile(busy)) us "
                + "(\(busy.count) hits)")
    }

    private static func percentile(_ times: [Double]) -> String {
        Measure.text(times.sorted()[times.count * 99 / 100] * 1e6, 1)
    }

    /// The times of hits on the newest entries, which are not evicted.
    private static func hitTimes(_ cache: DiskCache, _ count: Int, samples: Int = 5000) -> [Double] {
        (0..<samples).map { sample in
            let begin = Time.now
            _ = try? cache.read(CacheKey("\(count - 1 - sample * 7 % (count / 8))"))
            return Time.now - begin
        }
    }

    // MARK: - Parts

    static func removeIndex(_ path: String) {
        for digit in "0123456789abcdef" { unlink("\(path)/default/v1/index/\(digit)") }
    }

    static func makeCache(_ path: String, _ limit: ByteCount = .gibibytes(8), background: Bool = true) -> DiskCache {
        let limits = DiskCacheConfiguration.Limits(bytes: limit, age: nil)
        let executor: any WorkExecutor = background ? ThreadPool(name: "wi-bench", width: 2) : NoExecutor()
        return DiskCache(DiskCacheConfiguration(directory: path, limits: limits), executor: executor)
    }

    /// An executor that never runs the background work.
    private struct NoExecutor: WorkExecutor {
        func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {}
    }

    /// Metadata as the loader stores it.
    private static func metadata(_ key: CacheKey) -> DiskMetadata {
        var metadata = DiskMetadata()
        metadata.url = key.text
        metadata.format = .jpeg
        metadata.status = 200
        metadata.headers = [
            .init(name: "content-type", value: "image/jpeg"), .init(name: "etag", value: "\"5f3c-61a\""),
            .init(name: "cache-control", value: "max-age=86400"),
        ]
        metadata.requestTime = 1_700_000_000
        metadata.responseTime = 1_700_000_001
        return metadata
    }

    private static func bytes(_ count: Int, _ seed: Int) -> [UInt8] {
        var state = UInt64(truncatingIfNeeded: seed) | 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    private static func plainRead(_ path: String, _ size: Int) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(read(file, buffer.baseAddress, size), 0)
        }
    }

    private static func plainStore(_ path: String, _ bytes: [UInt8]) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        _ = write(file, bytes, bytes.count)
        close(file)
    }
}

enum CacheLayoutNames {
    static let shards = (0..<256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
}

/// Times of several clocks, in seconds.
enum Time {
    static var now: Double { read(CLOCK_MONOTONIC) }
    static var threadCPU: Double { read(CLOCK_THREAD_CPUTIME_ID) }
    static var processCPU: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A folder that is removed when the object is released.
final class BenchFolder {
    let path: String

    init() throws {
        let parent = getenv("BENCH_DIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(parent)/webimage-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw WebImageError(.cannotWrite, "no folder can be made", location: parent)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.wipe(path) }

    private static func wipe(_ path: String) {
        let files = PosixFileSystem()
        for name in (try? files.names(in: path)) ?? [] where (try? files.remove(path + "/" + name)) == nil {
            wipe(path + "/" + name)
        }
        try? files.removeDirectory(path)
    }
}

final class Flag: Sendable {
    private let value = Guarded(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
