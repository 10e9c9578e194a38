import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

struct DiskCacheTests {
    private let key = CacheKey("https://example.org/a.png")

    @Test func aMissIsNoError() throws {
        let bench = try Bench()
        #expect(try bench.cache.read(key) == nil)
        #expect(try bench.cache.readMetadata(key) == nil)
        #expect(try !bench.cache.contains(key))
        #expect(try !bench.cache.remove(key))
        #expect(try !bench.cache.updateMetadata(key, DiskMetadata()))
        #expect(bench.cache.statistics.misses == 2 && bench.cache.statistics.faults == 0)
    }

    @Test func nothingIsCreatedBeforeTheFirstWrite() throws {
        let bench = try Bench()
        _ = try bench.cache.read(key)
        bench.executor.runAll()
        #expect(try PosixFileSystem().names(in: bench.scratch.path).isEmpty)
    }

    @Test func theTimeOfStoringIsFilledIn() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], DiskMetadata())
        #expect(try bench.cache.read(key)?.metadata.storedAt == bench.clock.wallTime)
    }

    @Test func anotherCacheOfTheDirectoryFindsAndCountsEntries() throws {
        let bench = try Bench()
        let other = try bench.reopened()
        other.executor.runAll()
        try bench.cache.store(key, [1, 2, 3], metadata(7))
        #expect(other.cache.usage.count == 0)
        #expect(try other.cache.read(key)?.body == [1, 2, 3])
        #expect(other.cache.usage == bench.cache.usage)
        try bench.cache.remove(key)
        #expect(try other.cache.read(key) == nil)
        #expect(other.cache.usage.count == 0 && other.cache.usage.bytes == .zero)
    }

    /// `readAtOnce` reads only what the system has in its page cache. Systems without such calls read everything in the
    /// usual way.
    @Test func entriesInThePageCacheAreReadAtOnce() throws {
        let (scratch, files) = (try Scratch(), PosixFileSystem())
        let cache = DiskCache(
            DiskCacheConfiguration(directory: scratch.path), executor: HeldExecutor(), clock: ManualClock())
        var asked: [Int] = []
        func atOnce(mayTake: Bool = true) -> [UInt8]? {
            cache.readAtOnce(key) { count in
                asked.append(count)
                return mayTake
            }?.body
        }
        #expect(atOnce() == nil)
        let body = [UInt8](repeating: 7, count: 20_000)
        try cache.store(key, body, metadata(7))
        // A usual read also opens the directory, which `readAtOnce` does not.
        #expect(try cache.read(key)?.body == body)
        let path = cache.defaultPath(for: key)
        var first: Int?
        if let file = files.openAtOnce(FilePath(path)) {
            var byte: UInt8 = 0
            first = withUnsafeMutableBytes(of: &byte) { files.readAtOnce(file, into: $0, at: 0) }
            files.close(file)
        }
        #expect(atOnce() == (first == 1 ? body : nil))
        #expect(asked.count == 1 && asked[0] > body.count)
        #expect(cache.statistics.hits == (first == 1 ? 2 : 1) && cache.statistics.misses == 0)
        #expect(atOnce(mayTake: false) == nil)

        // A damaged entry is left to the usual read, which drops it.
        var damaged = try readFile(path)
        damaged[100] ^= 1
        try writeFile(path, damaged)
        #expect(atOnce() == nil && cache.statistics.corruptEntries == 0)
        #expect(try cache.read(key) == nil && cache.statistics.corruptEntries == 1)
        #expect(atOnce() == nil)
    }

    @Test func namespacesShareNothing() throws {
        let scratch = try Scratch()
        let caches = ["one", "two"].map { name in
            let configuration = DiskCacheConfiguration(directory: scratch.path, namespace: name)
            return DiskCache(configuration, executor: HeldExecutor(), clock: ManualClock())
        }
        try caches[0].store(key, [1], DiskMetadata())
        #expect(try caches[1].read(key) == nil)
        try caches[1].removeAll()
        #expect(try caches[0].read(key)?.body == [1])
    }

    @Test func aScanFindsTheEntriesOfAnEarlierProcess() throws {
        let bench = try Bench()
        for number in 0..<20 {
            try bench.cache.store(CacheKey("\(number)"), [UInt8](repeating: 1, count: number * 1000), metadata(number))
        }
        let again = try bench.reopened()
        #expect(!again.cache.usage.isComplete)
        #expect(try again.cache.read(CacheKey("7"))?.body.count == 7000)
        again.executor.runAll()
        #expect(again.cache.usage == bench.cache.usage && again.cache.usage.isComplete)
        #expect(Int64(again.cache.usage.bytes.bytes) == (try bench.allocatedBytes()))
        #expect(again.cache.fault() == nil)
    }

    @Test func aWriterThatIsAbandonedOrLetGoLeavesNothing() throws {
        let bench = try Bench()
        let writer = try bench.cache.makeWriter(for: key)
        try writer.append([UInt8](repeating: 1, count: 10_000))
        #expect(bench.cache.usage.bytes.bytes == 12_288)
        #expect(bench.temporaryNames().count == 1)
        writer.abandon()
        #expect(try !writer.commit(DiskMetadata()))
        do { try bench.cache.makeWriter(for: key).append([1]) }
        #expect(bench.temporaryNames().isEmpty)
        #expect(bench.cache.usage.bytes == .zero)
        #expect(try bench.cache.read(key) == nil)
    }

    @Test(arguments: [(128 << 10) - 1, 128 << 10, (128 << 10) + 1, 256 << 10, 300_001])
    func aLargeBodyIsKeptAsItIs(length: Int) throws {
        let bench = try Bench()
        var random = SeededGenerator(seed: 7)
        let body = random.bytes(length)
        #expect(try bench.cache.store(CacheKey("a"), body, metadata(1)))
        #expect(try bench.cache.read(CacheKey("a"))?.body == body)
        #expect(try bench.cache.readMetadata(CacheKey("a"))?.status == 1)
        #expect(try bench.cache.verify().bad == 0)
        #expect(bench.cache.usage.bytes.bytes == Int(try bench.allocatedBytes()))
    }

    @Test func aReaderKeepsTheOldBodyWhileANewOneIsWritten() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], DiskMetadata())
        let writer = try bench.cache.makeWriter(for: key)
        try writer.append([2])
        #expect(try bench.cache.read(key)?.body == [1])
        #expect(try writer.commit(DiskMetadata()))
        #expect(try bench.cache.read(key)?.body == [2])
        #expect(bench.cache.usage.count == 1 && bench.cache.usage.bytes.bytes == 4096)
    }

    @Test func oldTemporaryFilesAreRemovedAndYoungOnesCount() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], DiskMetadata())
        let path = try #require(try bench.cache.path(for: key))
        let folder = path.dropLast(64)
        for name in [".77-01d-1", ".77-f00-1"] { try writeFile(folder + name, [UInt8](repeating: 1, count: 5000)) }
        try PosixFileSystem().touch(folder + ".77-01d-1", at: bench.clock.wallTime - 3601)
        try PosixFileSystem().touch(folder + ".77-f00-1", at: bench.clock.wallTime - 3599)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.temporaryNames() == [".77-f00-1"])
        #expect(again.cache.usage.bytes.bytes == 4096 + 8192)
        again.clock.advance(by: .seconds(10))
        try again.cache.removeExpired()
        #expect(again.temporaryNames().isEmpty)
        #expect(again.cache.usage.bytes.bytes == 4096)
    }

    @Test func removeAllLeavesNoEntry() throws {
        let bench = try Bench()
        for number in 0..<20 { try bench.cache.store(CacheKey("\(number)"), [1], metadata(number)) }
        try bench.reopened().cache.removeAll()
        #expect(try bench.cache.entries().isEmpty)
        try bench.cache.removeAll()
        #expect(bench.cache.usage.count == 0 && bench.cache.usage.bytes == .zero)
        try bench.cache.store(key, [1], DiskMetadata())
        #expect(try bench.cache.read(key)?.body == [1])
    }

    @Test func aListingDescribesAnEntry() throws {
        let bench = try Bench(age: .seconds(100))
        try bench.cache.store(key, [UInt8](repeating: 1, count: 5000), metadata(200))
        let entry = try #require(try bench.cache.entries().first)
        #expect(entry.key == key && entry.bodyLength == 5000 && entry.allocated.bytes == 8192)
        #expect(entry.metadata == metadata(200))
        #expect(entry.expires == entry.lastUse + 100)
        #expect(entry.path == (try bench.cache.path(for: key)))
    }

    @Test func verifyFindsAndRemovesDamagedEntries() throws {
        let bench = try Bench()
        for number in 0..<10 { try bench.cache.store(CacheKey("\(number)"), [1, 2, 3], metadata(number)) }
        let bad = try #require(try bench.cache.path(for: CacheKey("3")))
        try writeFile(bad, [1, 2, 3])
        try writeFile(String(bad.dropLast(64)) + "stranger", [1])
        let report = try bench.cache.verify()
        #expect(report.checked == 10 && report.bad == 1 && report.orphans == 1 && report.repaired == 2)
        #expect(try bench.cache.verify().bad == 0)
        #expect(bench.cache.usage.count == 9)
    }

    @Test func anEntryGoesWhenItWasNotUsedForTooLong() throws {
        let bench = try Bench(age: .seconds(1000))
        let names = ["used", "unused"]
        for name in names { try bench.cache.store(CacheKey(name), [1], DiskMetadata()) }
        bench.clock.advance(by: .seconds(999))
        #expect(try bench.cache.read(CacheKey("used")) != nil)
        bench.clock.advance(by: .seconds(1))
        #expect(try !bench.cache.contains(CacheKey("unused")))
        #expect(try bench.cache.removeExpired() == 1)
        #expect(try bench.cache.entries().compactMap(\.key?.text) == ["used"])
        bench.clock.advance(by: .seconds(999))
        #expect(try bench.cache.read(CacheKey("used")) == nil)
        #expect(try bench.cache.entries().isEmpty)
    }

    @Test func theLastUseOutlivesTheProcess() throws {
        let bench = try Bench(age: .seconds(10_000))
        try bench.cache.store(key, [1], DiskMetadata())
        let path = try #require(try bench.cache.path(for: key))
        try PosixFileSystem().touch(path, at: bench.clock.wallTime - 9000)
        let second = try bench.reopened(age: .seconds(10_000))
        second.executor.runAll()
        #expect(try second.cache.read(key) != nil)
        #expect(try PosixFileSystem().status(at: path).modified == second.clock.wallTime)
        second.clock.advance(by: .seconds(3599))
        #expect(try second.cache.read(key) != nil)
        #expect(second.files.count(of: .touch) == 1)
        second.clock.advance(by: .seconds(1))
        #expect(try second.cache.read(key) != nil)
        #expect(second.files.count(of: .touch) == 2)
    }

    @Test func ageZeroMeansThatEverythingIsTooOld() throws {
        let bench = try Bench(age: .zero)
        try bench.cache.store(key, [1], DiskMetadata())
        #expect(try bench.cache.read(key) == nil)
    }

    @Test func anEntryGoesAtTheEndOfItsOwnLifetime() throws {
        let bench = try Bench()
        var metadata = DiskMetadata()
        metadata.expiresAt = bench.clock.wallTime + 10
        try bench.cache.store(key, [1], metadata)
        bench.clock.advance(by: .seconds(9))
        #expect(try bench.cache.read(key) != nil)
        bench.clock.advance(by: .seconds(1))
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.cache.usage.count == 0)
    }

    /// Checked with three caches: one that stored the entry, one that knows only its name, and one that knows nothing
    /// yet.
    @Test func anExpiredEntryIsReportedMissing() throws {
        let bench = try Bench()
        var metadata = DiskMetadata()
        metadata.expiresAt = bench.clock.wallTime + 10
        try bench.cache.store(key, [1], metadata)
        let (scanned, unscanned) = (try bench.reopened(), try bench.reopened())
        scanned.cache.finishOpening()
        for (cache, clock) in [bench, scanned, unscanned].map({ ($0.cache, $0.clock) }) {
            clock.advance(by: .seconds(9))
            #expect(try cache.contains(key) && cache.path(for: key) != nil)
            clock.advance(by: .seconds(1))
            #expect(try !cache.contains(key) && cache.path(for: key) == nil)
        }
        // The expiry is known by now, so the file is not read again.
        let reads = scanned.files.count(of: .read)
        #expect(try !scanned.cache.contains(key))
        #expect(scanned.files.count(of: .read) == reads)
    }

    @Test(arguments: [Duration.milliseconds(1), .milliseconds(999), .seconds(1)])
    func anAgeBelowASecondCountsAsOneSecond(age: Duration) throws {
        let bench = try Bench(age: age)
        try bench.cache.store(key, [1], DiskMetadata())
        #expect(try bench.cache.contains(key) && bench.cache.read(key) != nil)
        bench.clock.advance(by: .seconds(1))
        #expect(try bench.cache.read(key) == nil)
    }

    @Test func syncingIsAskedForOnlyWhereItIsConfigured() throws {
        for synchronises in [false, true] {
            let bench = try Bench(synchronises: synchronises)
            try bench.cache.store(key, [1], DiskMetadata())
            #expect(bench.files.count(of: .sync) == (synchronises ? 1 : 0))
        }
    }

    @Test func aShardThatIsNotThereCostsTwoCallsMore() throws {
        let bench = try Bench()
        for _ in 0..<2 { try bench.cache.store(key, [1], DiskMetadata()) }
        func calls(_ key: CacheKey) throws -> Int {
            let before = bench.files.callCount
            try bench.cache.store(key, [1], DiskMetadata())
            return bench.files.callCount - before
        }
        let least = try calls(key)
        #expect(try calls(CacheKey("another")) == least + 2)
        #expect(try bench.cache.read(CacheKey("another")) != nil)
    }

    @Test func aHitIsAnOpenAndARead() throws {
        let bench = try Bench()
        try bench.cache.store(key, [UInt8](repeating: 1, count: 20_000), DiskMetadata())
        let before = bench.files.callCount
        _ = try bench.cache.read(key)
        #expect(bench.files.callCount - before == 2)
    }
}

struct DiskCacheAsyncTests {
    private let key = CacheKey("k")

    private func makeCache(_ executor: some WorkExecutor) throws -> (DiskCache, Scratch) {
        let scratch = try Scratch()
        return (DiskCache(DiskCacheConfiguration(directory: scratch.path), executor: executor), scratch)
    }

    @Test func asyncCallsDoTheSameAsBlockingOnes() async throws {
        let (cache, scratch) = try makeCache(ThreadPool(name: "wi-test", width: 2))
        #expect(try await cache.read(key) == nil)
        #expect(try await cache.store(key, [1, 2], metadata(1)))
        #expect(try await cache.store(CacheKey("l"), [[3], [4, 5]], metadata(2)))
        #expect(try await cache.updateMetadata(key, metadata(3)))
        #expect(try await cache.read(key)?.body == [1, 2])
        #expect(try await cache.readMetadata(key)?.status == 3)
        #expect(try await cache.contains(key))
        #expect(try await cache.path(for: key) != nil)
        #expect(try await cache.entries().count == 2)
        #expect(try await cache.verify().checked == 2)
        #expect(try await cache.remove(key))
        #expect(try await cache.removeExpired() == 0)
        try await cache.trim(to: .zero)
        #expect(cache.usage.count == 0)
        try await cache.removeAll()
        withExtendedLifetime(scratch) {}
    }

    @Test func aCancelledStoreIsAnsweredAtOnceAndNotMade() async throws {
        let executor = HeldExecutor()
        let (cache, scratch) = try makeCache(executor)
        executor.runAll()
        let task = Task { [key] in try await cache.store(key, [1], DiskMetadata()) }
        while executor.waitingCount == 0 { await Task.yield() }
        task.cancel()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        executor.runAll()
        #expect(cache.statistics.stores == 0)
        withExtendedLifetime(scratch) {}
    }

    @Test func aReadInACancelledTaskIsNotQueued() async throws {
        let executor = HeldExecutor()
        let (cache, scratch) = try makeCache(executor)
        executor.runAll()
        let task = Task { [key] in
            while !Task.isCancelled { await Task.yield() }
            return try await cache.read(key)
        }
        task.cancel()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(executor.waitingCount == 0)
        withExtendedLifetime(scratch) {}
    }
}
