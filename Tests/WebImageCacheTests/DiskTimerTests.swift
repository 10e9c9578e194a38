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

    /// A program that ends asks for it, by `ImageManager.drain(within:)` or by itself.
    @Test func atTheEndWhatHasExpiredGoesAndTheRestIsWritten() throws {
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

    @Test func whatExpiresWhileNobodyUsesTheCacheGoes() throws {
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
}
