import Testing
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

@testable import WebImageCache

/// Files with absurd dates and sizes, and absurd limits.
struct DiskExtremeValuesTests {
    private let files = PosixFileSystem()
    private let year: Int64 = 365 * 86_400

    private func path(_ key: String, _ bench: Bench) -> String { bench.cache.defaultPath(for: CacheKey(key)) }

    // MARK: - Dates in the future

    /// Entries that were dated by a clock that was ahead once did not expire for years, and were evicted after entries
    /// in use.
    @Test func anEntryFromTheFutureIsAsOldAsItsFirstSight() throws {
        let bench = try Bench()
        for key in ["ahead", "other"] { try bench.cache.store(CacheKey(key), [1], metadata(1)) }
        let now = bench.clock.wallTime
        try files.touch(path("ahead", bench), at: now + 10 * year)
        try files.touch(path("other", bench), at: now)
        let again = try bench.reopened(age: .seconds(1000))
        again.executor.runAll()
        again.clock.advance(by: .seconds(10))
        #expect(try files.status(at: path("ahead", bench)).modified == now)
        #expect(try again.cache.read(CacheKey("other")) != nil)
        try again.cache.trim(to: 4096)
        #expect(try again.cache.contains(CacheKey("other")) && !again.cache.contains(CacheKey("ahead")))
    }

    /// A machine whose clock has no battery begins in 1970. Entries that it found then looked decades old, and were
    /// removed, as soon as it had asked for the time.
    @Test func aClockThatBeginsIn1970ChangesNoDates() throws {
        let scratch = try Scratch()
        let bench = try Bench(age: .seconds(1000), scratch: scratch)
        try bench.cache.store(CacheKey("here"), [1], metadata(1))
        let now = bench.clock.wallTime
        try files.touch(path("here", bench), at: now)
        for start: Int64 in [5, now] {
            let executor = HeldExecutor()
            let cache = DiskCache(
                DiskCacheConfiguration(
                    directory: scratch.path + "/cache",
                    limits: .init(bytes: .mebibytes(64), age: .seconds(1000))),
                executor: executor, clock: ManualClock(wallTime: start), files: files)
            executor.runAll()
            #expect(try cache.read(CacheKey("here")) != nil)
            executor.runAll()
            #expect(try files.status(at: path("here", bench)).modified == now)
            #expect(try cache.removeExpired() == 0)
        }
    }

    @Test func anEntryFromTheFutureExpires() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("ahead"), [1], metadata(1))
        try files.touch(path("ahead", bench), at: bench.clock.wallTime + 10 * year)
        for _ in 0..<3 {
            let again = try bench.reopened(age: .seconds(1000))
            again.executor.runAll()
            #expect(try again.cache.contains(CacheKey("ahead")))
        }
        let last = try bench.reopened(age: .seconds(1000))
        last.executor.runAll()
        last.clock.advance(by: .seconds(1001))
        #expect(try last.cache.removeExpired() == 1)
    }

    @Test func datesOfTheIndexThatAreInTheFutureDoNotCount() throws {
        let scratch = try Scratch()
        let ahead = DiskCache(
            DiskCacheConfiguration(directory: scratch.path + "/cache", limits: .init(bytes: .mebibytes(64), age: nil)),
            executor: HeldExecutor(), clock: ManualClock(wallTime: ManualClock.start + year), files: files)
        for number in 0..<40 { try ahead.store(CacheKey("\(number)"), [1], metadata(1)) }
        let bench = try Bench(age: .seconds(100_000), scratch: scratch)
        try bench.makeShardsOld()
        ahead.flushIndex()
        bench.executor.runAll()
        #expect(bench.cache.usage.count == 40)
        bench.clock.advance(by: .seconds(100_000))
        #expect(try bench.cache.removeExpired() == 40)
    }

    @Test func aUseByTheRightClockSetsADateFromTheFutureBack() {
        let now = ManualClock.start
        var record = DiskIndex.Record(
            id: EntryID(CacheKey("a")), bytes: 4096, length: 1, date: now + year, recordedDate: now + year)
        let isBehind = record.use(at: now)
        #expect(isBehind && record.date == now && record.recordedDate == now, "the file is to be dated, too")
        let isBehindAgain = record.use(at: now - 3600)
        #expect(!isBehindAgain)
        #expect(record.date == now, "a clock that is a little behind changes nothing")
    }

    @Test func theTargetOfALinkKeepsItsDate() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("a"), [1], metadata(1))
        let target = bench.scratch.path + "/target"
        try writeFile(target, [1])
        try files.touch(target, at: bench.clock.wallTime + year)
        try files.remove(path("a", bench))
        try #require(symlink(target, path("a", bench)) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        _ = try? again.cache.contains(CacheKey("a"))
        #expect(try files.status(at: target).modified == bench.clock.wallTime + year)
    }

    // MARK: - Absurd sizes and dates

    private func status(size: Int64, modified: Int64) -> FileStatus {
        FileStatus(
            size: size, allocated: size, isDirectory: false, isRegularFile: true, inode: 1, modified: modified,
            accessed: modified, modifiedNanoseconds: 0, isLink: false, owner: 0, permissions: 0o600)
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func extremeSizesAndDatesDoNotOverflow(number: Int64) {
        let status = status(size: number, modified: number)
        #expect((0...FileStatus.maxBytes).contains(status.size))
        #expect(status.blockBytes >= status.size)
        var record = status.record(of: EntryID(CacheKey("a")))
        _ = record.use(at: ManualClock.start)
        let ledger = DiskLedger(DiskCacheConfiguration.Limits(bytes: .mebibytes(1), age: .seconds(100)))
        #expect(ledger.isExpired(date: .min, at: ManualClock.start))
        #expect(!ledger.isExpired(date: .max, at: .min))
        let promise = DiskPromise(length: status.size)
        #expect(promise.blocks >= 0 && promise.blocks <= FileStatus.maxBytes >> 11)
    }

    /// Such files once crashed every process that opened the cache.
    @Test(.enabled(if: SmallDisk.isToBeHad, "only root may mount a disk")) func filesOfAnyLengthAreNoEntries() throws {
        let disk = try SmallDisk(mebibytes: 4)
        let cache = DiskCache(
            DiskCacheConfiguration(directory: disk.path + "/cache"), executor: HeldExecutor(), clock: ManualClock())
        try cache.store(CacheKey("a"), [1], metadata(1))
        for name in [cache.defaultPath(for: CacheKey("a")), disk.path + "/cache/default/v1/owners/77-ab"] {
            let file = try files.open(name, .readWrite)
            defer { files.close(file) }
            try files.truncate(file, to: .max)
        }
        let executor = HeldExecutor()
        let again = DiskCache(
            DiskCacheConfiguration(directory: disk.path + "/cache"), executor: executor, clock: ManualClock())
        executor.runAll()
        #expect(try again.read(CacheKey("a")) == nil)
        #expect(try again.store(CacheKey("b"), [1], metadata(1)))
        _ = try again.verify()
        #expect(again.fault() == nil)
    }

    // MARK: - Limits

    /// The limit of entries times nine once overflowed.
    @Test func extremeLimitsDoNotOverflow() throws {
        let bench = try Bench()
        for number in [Int.max, .min] {
            for free in [Int.max, .min] {
                var limits = DiskCacheConfiguration.Limits(bytes: ByteCount(number), age: .seconds(number))
                (limits.count, limits.freeSpace) = (number, ByteCount(free))
                bench.cache.setLimits(limits)
                _ = try bench.cache.store(CacheKey("a"), [1, 2, 3], metadata(1))
                bench.executor.runAll()
                #expect(bench.cache.fault() == nil)
            }
        }
        var ledger = DiskLedger(DiskCacheConfiguration.Limits())
        for (count, tenths) in [(0, 0), (1, 1), (9, 9), (10, 9), (11, 10), (25, 23)] {
            var limits = DiskCacheConfiguration.Limits()
            limits.count = count
            ledger.setLimits(limits)
            #expect(ledger.countAt(tenths: 9) == tenths)
        }
    }

    /// Adding the longest age to a date once overflowed.
    @Test func anEntryWithTheLongestAgeNeverExpires() throws {
        let bench = try Bench(age: .seconds(Int64.max))
        try bench.cache.store(CacheKey("a"), [1], metadata(1))
        #expect(try bench.cache.entries().map(\.expires) == [nil])
    }
}
