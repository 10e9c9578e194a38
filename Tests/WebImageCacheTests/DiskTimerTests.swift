import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

@Suite struct DiskTimerTests {
    private func makeCache(
        _ scratch: Scratch, _ clock: ManualClock, _ executor: HeldExecutor, interval: Duration?
    ) -> DiskCache {
        var configuration = DiskCacheConfiguration(
            directory: scratch.path + "/cache", limits: .init(bytes: .mebibytes(64), age: .seconds(100)))
        configuration.maintenanceInterval = interval
        return DiskCache(configuration, executor: executor, clock: clock, files: PosixFileSystem())
    }

    /// A program does this at its end, by `ImageManager.drain(within:)` or itself.
    @Test func removeExpiredAndFlushLeaveOnlyLiveEntriesOnDisk() throws {
        let (scratch, clock, executor) = (try Scratch(), ManualClock(), HeldExecutor())
        let cache = makeCache(scratch, clock, executor, interval: nil)
        for number in 0..<5 { try cache.store(CacheKey("old \(number)"), [1], DiskMetadata()) }
        clock.advance(by: .seconds(101))
        try cache.store(CacheKey("young"), [2], DiskMetadata())
        #expect(cache.stage(CacheKey("staged"), [3], DiskMetadata()))
        #expect(try cache.removeExpired() == 5)
        try cache.flush()
        #expect(cache.usage.count == 2)
        for (name, byte) in [("young", 2), ("staged", 3)] as [(String, UInt8)] {
            #expect(try readFile(cache.defaultPath(for: CacheKey(name))).first == byte)
        }
        #expect(throws: FileFault.self) {
            try PosixFileSystem().status(at: cache.defaultPath(for: CacheKey("old 0")))
        }
        #expect(cache.fault() == nil)
    }

    @Test func entriesThatExpireInAnIdleCacheAreRemoved() throws {
        let (scratch, clock, executor) = (try Scratch(), ManualClock(), HeldExecutor())
        let cache = makeCache(scratch, clock, executor, interval: .seconds(3600))
        for round in 0..<3 {
            for number in 0..<5 { try cache.store(CacheKey("\(round) \(number)"), [1, 2, 3], DiskMetadata()) }
            executor.runAll()
            clock.advance(by: .seconds(3599))
            executor.runAll()
            #expect(cache.usage.count == 5, "round \(round): nobody came to look yet")
            clock.advance(by: .seconds(1))
            executor.runAll()
            #expect(cache.usage.count == 0, "round \(round)")
        }
    }

    @Test func theTimerEndsWithItsCache() throws {
        let (scratch, clock, executor) = (try Scratch(), ManualClock(), HeldExecutor())
        var cache: DiskCache? = makeCache(scratch, clock, executor, interval: .seconds(60))
        executor.runAll()
        #expect(clock.waitingCount == 1)
        weak let gone = cache
        cache = nil
        #expect(gone == nil && clock.waitingCount == 0)
    }

    @Test func withoutAnIntervalThereIsNoTimer() throws {
        let (scratch, clock, executor) = (try Scratch(), ManualClock(), HeldExecutor())
        let cache = makeCache(scratch, clock, executor, interval: nil)
        executor.runAll()
        #expect(clock.waitingCount == 0 && cache.usage.count == 0)
    }

    /// Reasons why a directory cannot be stored in the index.
    enum Oddity: CaseIterable { case fileOfNobody, dateInTheFuture }

    /// An idle cache once read such a directory every other second, as long as it lived.
    @Test(arguments: Oddity.allCases) func anIdleCacheDoesNotRetryAShardItCannotIndex(oddity: Oddity) throws {
        let (bench, files) = (try Bench(), PosixFileSystem())
        bench.executor.runAll()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        let shard = String(bench.cache.defaultPath(for: CacheKey("a")).dropLast("/".utf8.count + 64))
        switch oddity {
        case .fileOfNobody: try writeFile(shard + "/.nobody", [1])
        case .dateInTheFuture: try files.touch(shard, at: try files.status(at: shard).modified + 3600)
        }
        func rest(_ seconds: Int) {
            for _ in 0..<seconds {
                if oddity == .fileOfNobody { try? bench.makeShardsOld() }
                bench.clock.advance(by: .seconds(1))
                bench.executor.runAll()
            }
        }
        rest(10)
        let calls = bench.files.callCount
        rest(300)
        #expect(bench.files.callCount == calls)
        // The next flush for another reason stores the directory.
        if oddity == .fileOfNobody { try files.remove(shard + "/.nobody") }
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.cache.usage.count == 1 && again.files.count(of: .names) == 1)
    }
}
