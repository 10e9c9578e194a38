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
