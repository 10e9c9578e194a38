import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

struct DiskCacheLimitTests {
    private func body(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

    private func names(_ bench: Bench) throws -> [String] { try bench.cache.entries().compactMap(\.key?.text).sorted() }

    @Test func theLeastRecentlyUsedGoesFirst() throws {
        let bench = try Bench(bytes: ByteCount(4 * 4096))
        for name in ["a", "b", "c", "d"] { try bench.cache.store(CacheKey(name), body(10), DiskMetadata()) }
        _ = try bench.cache.read(CacheKey("a"))
        #expect(try bench.cache.store(CacheKey("e"), body(10), DiskMetadata()))
        #expect(try names(bench) == ["a", "c", "d", "e"])
        #expect(bench.cache.usage.bytes.bytes == 4 * 4096)
        #expect(bench.cache.statistics.evictions == 1)
    }

    @Test func theBackgroundStartsAtNinetyPercentAndEndsAtEighty() throws {
        let bench = try Bench(bytes: ByteCount(100 * 4096))
        bench.executor.runAll()
        for number in 0..<90 { try bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata()) }
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 90)
        try bench.cache.store(CacheKey("90"), body(10), DiskMetadata())
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 80)
        #expect(try !bench.cache.contains(CacheKey("10")))
        #expect(try bench.cache.contains(CacheKey("11")))
    }

    @Test func evictionGoesInSmallStepsAndCostsWhatItEvicts() throws {
        let bench = try Bench(bytes: ByteCount(2000 * 4096))
        bench.executor.runAll()
        for number in 0...1800 { try bench.cache.store(CacheKey("\(number)"), body(1), DiskMetadata()) }
        let before = (bench.files.callCount, bench.files.count(of: .remove))
        #expect(bench.executor.runOne())
        #expect(bench.cache.statistics.evictions == 32)
        #expect(bench.files.count(of: .remove) - before.1 == 32)
        // Each file's status is read before its removal, because another process may have used it. So is its
        // directory's, which may have become a link. The common total is read before and written after the removals.
        #expect(bench.files.callCount - before.0 <= 3 * 32 + 10)
        let second = bench.files.callCount
        #expect(bench.executor.runOne())
        #expect(bench.cache.statistics.evictions == 64 && bench.files.callCount - second <= 3 * 32 + 4)
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 1600)
    }

    @Test func theBackgroundRemovesExpiredEntries() throws {
        let bench = try Bench(age: .seconds(100))
        bench.executor.runAll()
        for number in 0..<40 { try bench.cache.store(CacheKey("\(number)"), body(1), DiskMetadata()) }
        bench.clock.advance(by: .seconds(100))
        try bench.cache.store(CacheKey("new"), body(1), DiskMetadata())
        bench.executor.runAll()
        #expect(try names(bench) == ["new"])
    }

    @Test func anEntryLargerThanTheLimitIsSkippedAndCounted() throws {
        let bench = try Bench(bytes: ByteCount(4 * 4096))
        try bench.cache.store(CacheKey("a"), body(10), DiskMetadata())
        #expect(try !bench.cache.store(CacheKey("b"), body(5 * 4096), DiskMetadata()))
        #expect(bench.cache.statistics.skippedStores == 1)
        #expect(try names(bench) == ["a"])
        #expect(bench.temporaryNames().isEmpty)
    }

    /// The first entry was once stored and evicted a moment later.
    @Test func aLimitOfNoEntriesStoresNone() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("before"), body(10), DiskMetadata())
        var limits = DiskCacheConfiguration.Limits(age: nil)
        limits.count = 0
        bench.cache.setLimits(limits)
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 0)
        #expect(try !bench.cache.store(CacheKey("a"), body(10), DiskMetadata()))
        #expect(try bench.cache.read(CacheKey("a")) == nil)
        #expect(bench.cache.statistics.stores == 1 && bench.cache.statistics.skippedStores == 1)
        #expect(bench.temporaryNames().isEmpty)
        limits.count = 1
        bench.cache.setLimits(limits)
        #expect(try bench.cache.store(CacheKey("a"), body(10), DiskMetadata()))
    }

    @Test func aWriterThatOutgrowsTheLimitIsSkipped() throws {
        let bench = try Bench(bytes: ByteCount(4 * 4096))
        let writer = try bench.cache.makeWriter(for: CacheKey("a"))
        for _ in 0..<10 { try writer.append(body(4096)) }
        #expect(try !writer.commit(DiskMetadata()))
        #expect(bench.cache.statistics.skippedStores == 1)
        #expect(bench.cache.usage.bytes == .zero && bench.temporaryNames().isEmpty)
    }

    @Test func unfinishedWritesCountTowardsTheLimit() throws {
        let bench = try Bench(bytes: ByteCount(4 * 4096))
        let writer = try bench.cache.makeWriter(for: CacheKey("a"))
        try writer.append(body(3 * 4096 - 1000))
        #expect(try !bench.cache.store(CacheKey("b"), body(2 * 4096), DiskMetadata()))
        #expect(try bench.cache.store(CacheKey("b"), body(10), DiskMetadata()))
        #expect(try writer.commit(DiskMetadata()))
        #expect(try names(bench) == ["a", "b"])
    }

    @Test func lowerLimitsAndTrimmingMakeRoom() throws {
        let bench = try Bench(bytes: ByteCount(100 * 4096))
        bench.executor.runAll()
        for number in 0..<50 { try bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata()) }
        bench.cache.setLimits(.init(bytes: ByteCount(50 * 4096) + Bench.overhead, age: nil))
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 40)
        try bench.cache.trim(to: ByteCount(10 * 4096))
        #expect(bench.cache.usage.count == 10)
        #expect(try bench.cache.contains(CacheKey("40")))
    }

    /// New metadata adds no entry, so that a full cache need not remove one for it.
    @Test(arguments: [1, 3]) func newMetadataTakesNoEntrysPlace(limit: Int) throws {
        let bench = try Bench()
        var limits = DiskCacheConfiguration.Limits(bytes: .mebibytes(64), age: nil)
        limits.count = limit
        bench.cache.setLimits(limits)
        bench.executor.runAll()
        let keys = (0..<limit).map { CacheKey("\($0)") }
        for key in keys { try bench.cache.store(key, body(10), DiskMetadata()) }
        for key in keys { #expect(try bench.cache.updateMetadata(key, metadata(304))) }
        bench.executor.runAll()
        #expect(bench.cache.usage.count == limit)
    }

    @Test func theLimitIsTenPercentOfTheFreeSpaceWhereNoneIsGiven() throws {
        for (free, limit) in [(50 << 20, ByteCount.mebibytes(5)), (1 << 40, .gibibytes(1)), (0, .zero)] {
            let (scratch, executor, files) = (try Scratch(), HeldExecutor(), FaultyFileSystem())
            files.setFreeSpace(Int64(free))
            let cache = DiskCache(
                DiskCacheConfiguration(directory: scratch.path), executor: executor, files: files)
            executor.runAll()
            #expect(cache.usage.limit == limit)
        }
    }

    @Test func entriesThatCannotBeRemovedStillCount() throws {
        let bench = try Bench(bytes: ByteCount(4 * 4096))
        for name in ["a", "b", "c", "d"] { try bench.cache.store(CacheKey(name), body(10), DiskMetadata()) }
        bench.files.failAll(.remove, with: .error(30))
        #expect(try !bench.cache.store(CacheKey("e"), body(10), DiskMetadata()))
        #expect(throws: WebImageError.self) { try bench.cache.trim(to: .zero) }
        #expect(bench.cache.usage.count == 4)
        bench.files.heal()
        #expect(try names(bench) == ["a", "b", "c", "d"])
        #expect(bench.cache.fault() == nil)
    }

    @Test func theLimitHoldsAtEveryMomentWithManyWriters() async throws {
        let limit = 60 * 4096
        let bench = try Bench(bytes: ByteCount(limit), isMetering: true)
        let pool = ThreadPool(name: "wi-test", width: 9)
        let done = Guarded(0)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            for seed in 0..<8 as Range<UInt64> {
                pool.run(.normal) {
                    var random = SeededGenerator(seed: seed)
                    for number in 0..<125 {
                        let key = CacheKey("\(random.next() % 50)")
                        _ = try? bench.cache.store(key, body(Int(random.next() % 40_000)), DiskMetadata())
                        if number % 5 == 0 { _ = try? bench.cache.updateMetadata(key, metadata(number)) }
                        _ = try? bench.cache.read(CacheKey("\(random.next() % 50)"))
                        if seed == 0 { bench.executor.runOne() }
                    }
                    if done.withLock({
                        $0 += 1; return $0
                    }) == 8 {
                        continuation.resume()
                    }
                }
            }
        }
        // The cache's own files do not count as entries.
        let peak = bench.files.peakBytes - Int64(Bench.overhead.bytes)
        print("the limit is \(limit) bytes; the most ever seen on disk, with 8 threads writing, is \(peak)")
        #expect(peak <= Int64(limit))
        #expect(peak > Int64(limit) / 2)
        #expect(bench.files.usedBytes - Int64(Bench.overhead.bytes) <= Int64(bench.cache.usage.bytes.bytes))
        #expect(bench.cache.fault() == nil)
        #expect(bench.cache.statistics.faults == 0 && bench.cache.statistics.corruptEntries == 0)
        #expect(bench.cache.statistics.evictions > 100)
        let report = try { try bench.cache.verify() }()
        #expect(report.bad == 0 && report.checked == bench.cache.usage.count)
    }

    private func makeBench(_ change: (inout DiskCacheConfiguration.Limits) -> Void) throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        var limits = DiskCacheConfiguration.Limits(bytes: .mebibytes(64), age: nil)
        change(&limits)
        bench.cache.setLimits(limits)
        return bench
    }

    @Test func thereAreNeverMoreEntriesThanAllowed() throws {
        let bench = try makeBench { $0.count = 10 }
        for number in 0..<30 {
            #expect(try bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata()))
            #expect(bench.cache.usage.count <= 10)
        }
        #expect(try bench.cache.contains(CacheKey("29")))
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 8)
        bench.cache.setLimits(.init(bytes: nil, age: nil))
        for number in 0..<30 { try bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata()) }
        #expect(bench.cache.usage.count == 30)
    }

    @Test func aFloorOfFreeSpaceIsKeptAtThePriceOfEntries() throws {
        let bench = try makeBench { $0.freeSpace = ByteCount(1000 * 4096) }
        bench.files.setFreeSpace(1005 * 4096)
        for number in 0..<5 { #expect(try bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata())) }
        // The free space is now five blocks less. At the sixth entry the cache asks the disk for its free space again,
        // and evicts the first entry.
        bench.files.setFreeSpace(1000 * 4096)
        #expect(try bench.cache.store(CacheKey("5"), body(10), DiskMetadata()))
        #expect(try names(bench) == ["1", "2", "3", "4", "5"])
        bench.files.setFreeSpace(0)
        #expect(try !bench.cache.store(CacheKey("large"), body(10 << 20), DiskMetadata()))
        #expect(bench.cache.statistics.skippedStores == 1)
    }

    @Test(arguments: [
        (DiskCacheConfiguration.AgeBasis.lastUse, ["changed", "used"]), (.lastChange, ["changed"]), (.creation, []),
    ])
    func theAgeCountsFromTheConfiguredDate(basis: DiskCacheConfiguration.AgeBasis, left: [String]) throws {
        let bench = try makeBench { limits in
            limits.age = .seconds(100)
            limits.ageBasis = basis
        }
        for name in ["idle", "used", "changed"] { try bench.cache.store(CacheKey(name), body(10), metadata(1)) }
        bench.clock.advance(by: .seconds(60))
        _ = try bench.cache.read(CacheKey("used"))
        #expect(try bench.cache.updateMetadata(CacheKey("changed"), metadata(2)))
        bench.clock.advance(by: .seconds(60))
        try bench.cache.removeExpired()
        #expect(try names(bench) == left)
    }

    @Test func entriesPastTheirOwnLifetimeGoInTheBackground() throws {
        let bench = try makeBench { _ in }
        for number in 0..<40 {
            var metadata = DiskMetadata()
            metadata.expiresAt = bench.clock.wallTime + Int64(number)
            try bench.cache.store(CacheKey("\(number)"), body(10), metadata)
        }
        bench.clock.advance(by: .seconds(20))
        try bench.cache.store(CacheKey("new"), body(10), DiskMetadata())
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 20)
        #expect(try bench.cache.contains(CacheKey("21")))
    }
}
