import Synchronization
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

/// The cost of a directory of 100 000 entries for other processes. One of two processes stores all the time, while the
/// other one opens the cache, finds entries, removes expired entries and evicts. Also the bytes that an hour of hits
/// writes.
///
/// Bars: no lock is held longer than 20 ms; the bytes that are written are in proportion to what has changed.
enum ShareBench {
    static func run(entries: Int = 100_000) throws {
        let folder = try BenchFolder()
        let path = folder.path + "/cache"
        do {
            let cache = CacheBench.makeCache(path)
            for number in 0..<entries { try cache.store(CacheKey("\(number)"), body, DiskMetadata()) }
            usleep(100_000)
            cache.flushIndex()
        }
        for hasIndex in [true, false] {
            if !hasIndex { CacheBench.removeIndex(path) }
            try openBesideAWriter(path, hasIndex ? "with its index" : "without its index")
        }
        try idleHour(path, entries)
    }

    private static let body = [UInt8](repeating: 7, count: 2000)

    // MARK: - Two processes

    private static func openBesideAWriter(_ path: String, _ note: String) throws {
        let writer = try PeerProcess.spawn(
            ["/proc/self/exe", "share-write", path, "6"], input: 0, output: 1, errors: 2)
        // By now the writer has opened the cache and is storing.
        sleep(2)
        let files = WatchedFileSystem()
        let begin = Time.now
        let cache = makeCache(path, files)
        let isDone = Flag()
        let probes = Guarded<[Double]>([])
        let probed = BlockingAnswer<Void>()
        startThread(named: "probe") {
            while !isDone.isSet {
                let begin = Time.now
                _ = cache.usage
                let time = Time.now - begin
                probes.withLock { $0.append(time) }
                usleep(200)
            }
            probed.give(())
        }
        _ = try cache.read(CacheKey("1"))
        let hit = Time.now - begin
        var stores: [Double] = []
        for number in 0..<500 {
            let begin = Time.now
            try cache.store(CacheKey("o\(number)"), body, DiskMetadata())
            stores.append(Time.now - begin)
            // The first store waits for the scan.
        }
        let look = Time.now
        try cache.removeExpired()
        let looked = Time.now - look
        try cache.trim(to: ByteCount(cache.usage.bytes.bytes - (40 << 20)))
        isDone.set()
        probed.value()
        let waits = probes.withLock { $0 }.sorted()
        let longest = files.longest()
        print(
            "opening \(note) beside a writer: first hit \(ms(hit)), first store \(ms(stores[0])), longest of the next 499 "
                + "\(ms(stores.dropFirst().max() ?? 0)); a look at everything \(ms(looked))")
        print(
            "    longest held here: " + longest.map { "\($0.name) \(ms($0.time))" }.joined(separator: ", ")
                + "; longest wait for the cache's state \(ms(waits.last ?? 0)), 99.9th percentile "
                + "\(ms(waits[waits.count * 999 / 1000])) (\(waits.count) looks)")
        var status: Int32 = 0
        waitpid(writer, &status, 0)
    }

    /// Runs as the other process.
    static func write(_ path: String, seconds: Double) throws {
        let files = WatchedFileSystem()
        let cache = makeCache(path, files)
        cache.finishOpening()
        let end = Time.now + seconds
        var (count, longest) = (0, 0.0)
        while Time.now < end {
            let begin = Time.now
            try cache.store(CacheKey("w\(count % 50_000)"), body, DiskMetadata())
            if count > 0 { longest = max(longest, Time.now - begin) }
            count += 1
        }
        print(
            "    the writer: \(count) stores, the longest \(ms(longest)), longest held there: "
                + files.longest().map { "\($0.name) \(ms($0.time))" }.joined(separator: ", "))
    }

    // MARK: - An hour of hits

    private static func idleHour(_ path: String, _ entries: Int) throws {
        for (name, keys) in [("1000 entries", 1000), ("all entries", entries)] {
            let (files, clock) = (WatchedFileSystem(), SetClock())
            let configuration = DiskCacheConfiguration(
                directory: path, limits: DiskCacheConfiguration.Limits(bytes: .gibibytes(8), age: nil))
            let cache = DiskCache(configuration, executor: AtOnce(), clock: clock, files: files)
            cache.finishOpening()
            cache.flushIndex()
            let before = files.writtenBytes
            var state: UInt64 = 1
            var touched = 0
            for _ in 0..<60 {
                var used: Set<Int> = []
                for _ in 0..<16_667 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    let number = Int(state >> 33) % keys
                    used.insert(number)
                    _ = try cache.read(CacheKey("\(number)"))
                }
                touched += used.count
                clock.advance(seconds: 60)
            }
            cache.flushIndex()
            let written = files.writtenBytes - before
            print(
                "an hour with a million hits on \(name): \(written) bytes written, \(touched) dates changed, "
                    + "\(Measure.text(Double(written) / Double(touched), 1)) bytes each")
        }
    }

    private static func makeCache(_ path: String, _ files: any FileSystem) -> DiskCache {
        let limits = DiskCacheConfiguration.Limits(bytes: .gibibytes(8), age: .seconds(86_400))
        return DiskCache(
            DiskCacheConfiguration(directory: path, limits: limits), executor: ThreadPool(name: "wi-bench", width: 4),
            files: files)
    }

    private static func ms(_ seconds: Double) -> String { Measure.text(seconds * 1e3, 1) + " ms" }
}

/// A clock that tests set.
private final class SetClock: LoadClock {
    private let state = Guarded((now: Duration.seconds(1), actions: [(Duration, @Sendable () -> Void)]()))
    private let start = SystemClock.shared.wallTime

    var now: Duration { state.withLock { $0.now } }
    var wallTime: Int64 { start + now.components.seconds }

    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        state.withLock { $0.actions.append((time, action)) }
        return ScheduledAction {}
    }

    func advance(seconds: Int) {
        let due = state.withLock { state in
            state.now += .seconds(seconds)
            let now = state.now
            defer { state.actions.removeAll { $0.0 <= now } }
            return state.actions.filter { $0.0 <= now }.map(\.1)
        }
        for action in due { action() }
    }
}

private struct AtOnce: WorkExecutor {
    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { work() }
}

/// The real file system, which records how long files were locked and how much was written.
private final class WatchedFileSystem: FileSystem {
    private struct State {
        var names: [Int32: String] = [:]
        var begins: [Int32: Double] = [:]
        var longest: [String: Double] = [:]
        var writtenBytes = 0
    }

    private let base = PosixFileSystem()
    private let state = Guarded(State())

    var writtenBytes: Int { state.withLock { $0.writtenBytes } }

    func longest() -> [(name: String, time: Double)] {
        state.withLock { $0.longest }.sorted { $0.value > $1.value }.map { ($0.key, $0.value) }
    }

    /// The lock of a cache's own owner mark is held for the cache's whole life, so that it is counted separately.
    private func name(_ path: String) -> String {
        if path.contains("/owners/") { return "marks" }
        if path.contains("/index/") { return "index" }
        return path.hasSuffix("/usage") ? "common total" : "entries"
    }

    func open(_ path: FilePath, _ access: FileAccess) throws(FileFault) -> Int32 {
        let file = try base.open(path, access)
        let name = name(path.text)
        state.withLock { $0.names[file] = name }
        return file
    }

    func lock(_ file: Int32, within patience: Duration) throws(FileFault) -> Bool {
        guard try base.lock(file, within: patience) else { return false }
        let now = Time.now
        state.withLock { $0.begins[file] = now }
        return true
    }

    func unlock(_ file: Int32) {
        let now = Time.now
        state.withLock { state in
            guard let begin = state.begins.removeValue(forKey: file), let name = state.names[file] else { return }
            state.longest[name] = max(state.longest[name] ?? 0, now - begin)
        }
        base.unlock(file)
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) -> Int {
        let count = try base.write(file, bytes, at: offset)
        state.withLock { $0.writtenBytes += count }
        return count
    }

    func openDirectory(_ path: String) throws(FileFault) -> Int32 { try base.openDirectory(path) }
    func openTemporary(in directory: String) throws(FileFault) -> Int32 { try base.openTemporary(in: directory) }
    func close(_ file: Int32) { base.close(file) }
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileFault) -> Int {
        try base.read(file, into: buffer, at: offset)
    }
    func truncate(_ file: Int32, to length: Int64) throws(FileFault) { try base.truncate(file, to: length) }
    func sync(_ file: Int32) throws(FileFault) { try base.sync(file) }
    func status(of file: Int32) throws(FileFault) -> FileStatus { try base.status(of: file) }
    func status(at path: FilePath) throws(FileFault) -> FileStatus { try base.status(at: path) }
    func linkStatus(at path: String) throws(FileFault) -> FileStatus { try base.linkStatus(at: path) }
    func rename(_ from: FilePath, to: FilePath) throws(FileFault) { try base.rename(from, to: to) }
    func exchange(_ one: FilePath, _ other: FilePath) throws(FileFault) { try base.exchange(one, other) }
    func remove(_ path: FilePath) throws(FileFault) { try base.remove(path) }
    func removeDirectory(_ path: String) throws(FileFault) { try base.removeDirectory(path) }
    func makeDirectory(_ path: FilePath) throws(FileFault) { try base.makeDirectory(path) }
    func names(in directory: String) throws(FileFault) -> [String] { try base.names(in: directory) }
    func list(
        _ directory: String, _ body: (_ name: UnsafeRawBufferPointer, _ status: () -> FileStatus?) -> Void
    ) throws(FileFault) { try base.list(directory, body) }
    func space(at path: String) throws(FileFault) -> (free: Int64, total: Int64, block: Int64) {
        try base.space(at: path)
    }
    func touch(_ path: String, at time: Int64?) throws(FileFault) { try base.touch(path, at: time) }
}
