import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Several caches on one directory share one limit.
struct DiskSharingTests {
    private func body(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

    @Test func twoCachesOfOneDirectoryKeepOneLimit() throws {
        let limit = 40 * 4096
        let first = try Bench(bytes: ByteCount(limit))
        let second = try first.reopened(bytes: ByteCount(limit))
        let benches = [first, second]
        var random = SeededGenerator(seed: 3)
        var peak: Int64 = 0
        for step in 0..<600 {
            let bench = benches[Int(random.next() % 2)]
            let key = CacheKey("\(random.next() % 60)")
            switch random.next() % 8 {
            case 0: _ = try bench.cache.remove(key)
            case 1: _ = try bench.cache.updateMetadata(key, metadata(step))
            case 2: bench.executor.runAll()
            case 3: _ = try bench.cache.read(key)
            default: try bench.cache.store(key, body(Int(random.next() % 12_000)), metadata(step))
            }
            // The file of the common total is not counted here, as it is no entry.
            let used = try first.allocatedBytes()
            peak = max(peak, used)
            #expect(used <= Int64(limit), "step \(step)")
            for bench in benches { #expect(bench.cache.fault() == nil, "step \(step)") }
        }
        #expect(peak > Int64(limit) * 3 / 4)
        #expect(first.cache.statistics.evictions > 50 && second.cache.statistics.evictions > 50)
        for bench in benches { try bench.cache.removeExpired() }
        #expect(Int64(first.cache.usage.bytes.bytes) >= (try first.allocatedBytes()))
        #expect(try first.reopened().cache.verify().bad == 0)
    }

    /// Each cache replaces and removes entries that the other stored, without being told of them. Their common total
    /// must stay that of the directory. It once grew until there was room for nothing.
    @Test func twoCachesThatReplaceEachOthersEntriesDoNotCountThemTwice() throws {
        let limit = 40 * 4096
        let first = try Bench(bytes: ByteCount(limit))
        let second = try first.reopened(bytes: ByteCount(limit))
        let benches = [first, second]
        for bench in benches { try bench.cache.store(CacheKey("join"), body(1), DiskMetadata()) }
        var random = SeededGenerator(seed: 9)
        for step in 0..<2000 {
            let bench = benches[Int(random.next() % 2)]
            let key = CacheKey("\(random.next() % 8)")
            switch random.next() % 4 {
            case 0: _ = try bench.cache.remove(key)
            case 1: _ = try bench.cache.updateMetadata(key, metadata(step))
            default:
                let body = body(Int(random.next() % 12_000))
                #expect(try bench.cache.store(key, body, metadata(step)), "step \(step)")
            }
        }
        // By this, each cache tells the other its last changes.
        for bench in benches + benches { try bench.cache.removeExpired() }
        let used = try first.allocatedBytes()
        for bench in benches {
            #expect(bench.cache.usage.bytes.bytes == Int(used))
            #expect(bench.cache.statistics.evictions == 0, "there was always room")
            #expect(bench.cache.fault() == nil)
        }
    }

    /// The limit is large enough that each cache reserves some room ahead.
    @Test func reservedRoomIsSharedAndNotReportedAsUsed() throws {
        let limit = 2048 * 4096
        let first = try Bench(bytes: ByteCount(limit))
        let second = try first.reopened(bytes: ByteCount(limit))
        let benches = [first, second]
        let reads = first.files.count(of: .read)
        for number in 0..<4 { try first.cache.store(CacheKey("a\(number)"), [1], DiskMetadata()) }
        #expect(first.files.count(of: .read) - reads == 1)
        try second.cache.store(CacheKey("b"), [1], DiskMetadata())
        #expect(second.cache.usage.bytes.bytes == 5 * 4096)
        var random = SeededGenerator(seed: 5)
        var peak: Int64 = 0
        for step in 0..<1500 {
            let bench = benches[Int(random.next() % 2)]
            let key = CacheKey("\(random.next() % 400)")
            if random.next() % 8 == 0 { bench.executor.runAll() }
            try bench.cache.store(key, body(Int(random.next() % 60_000)), metadata(step))
            if step % 16 == 0 || step > 1000 {
                let used = try first.allocatedBytes()
                peak = max(peak, used)
                #expect(used <= Int64(limit), "step \(step)")
            }
        }
        #expect(peak > Int64(limit) * 3 / 4)
        #expect(first.cache.statistics.evictions > 50 && second.cache.statistics.evictions > 50)
        #expect(first.cache.fault() == nil && second.cache.fault() == nil)
    }

    @Test func twoCachesWithLargeLimitsCountReplacedEntriesOnce() throws {
        let first = try Bench()
        let second = try first.reopened()
        let benches = [first, second]
        for bench in benches { try bench.cache.store(CacheKey("0"), [1], DiskMetadata()) }
        // By this, the first cache learns of the second.
        try first.cache.removeExpired()
        var random = SeededGenerator(seed: 11)
        for step in 0..<500 {
            let cache = benches[Int(random.next() % 2)].cache
            let key = CacheKey("\(random.next() % 20)")
            switch random.next() % 6 {
            case 0: _ = try cache.remove(key)
            case 1: _ = try cache.updateMetadata(key, metadata(step))
            default: try cache.store(key, body(Int(random.next() % 60_000)), metadata(step))
            }
        }
        // The cache that reports first has not yet learnt the other's last changes, so both report twice.
        for bench in benches { try bench.cache.removeExpired() }
        for bench in benches {
            try bench.cache.removeExpired()
            #expect(Int64(bench.cache.usage.bytes.bytes) == (try bench.allocatedBytes()))
        }
    }

    @Test func aTotalThatHasGoneWrongIsCountedAnew() throws {
        let first = try Bench(bytes: ByteCount(40 * 4096))
        let second = try first.reopened(bytes: ByteCount(40 * 4096))
        for number in 0..<15 {
            try first.cache.store(CacheKey("a\(number)"), [1], DiskMetadata())
            try second.cache.store(CacheKey("b\(number)"), [1], DiskMetadata())
        }
        // The files are removed behind the caches' backs.
        for entry in try first.cache.entries() { try PosixFileSystem().remove(entry.path) }
        for number in 0..<40 { try first.cache.store(CacheKey("c\(number)"), [1], DiskMetadata()) }
        #expect(first.cache.usage.count > 30 && first.cache.usage.bytes.bytes <= 40 * 4096)
        // The other cache adopts the new total.
        try second.cache.store(CacheKey("d"), [1], DiskMetadata())
        #expect(try first.allocatedBytes() <= 40 * 4096)
        try second.cache.removeExpired()
        // The room that the other cache reserved last counts, too.
        let more = Int64(second.cache.usage.bytes.bytes) - (try first.allocatedBytes())
        #expect((0...4096).contains(more))
    }

    @Test func replacedEntriesCountWithoutAnExchangeOfNames() throws {
        let first = try Bench()
        let second = try first.reopened()
        for bench in [first, second] { try bench.cache.store(CacheKey("a"), [1], DiskMetadata()) }
        // EINVAL, for the exchange of names. The plain rename that follows is the next call.
        second.files.fail(.rename, at: 0, with: .error(22))
        try second.cache.store(CacheKey("a"), body(10_000), DiskMetadata())
        #expect(try first.cache.read(CacheKey("a"))?.body.count == 10_000)
        try first.cache.removeExpired()
        #expect(first.cache.usage.bytes.bytes == 3 * 4096)
    }

    @Test func aHeldLockOfTheTotalDoesNotHoldUpStores() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        // The lock stays taken, as by a process that was stopped while it held it.
        bench.files.failAll(.lock, with: .short(0))
        let before = bench.files.count(of: .lock)
        for _ in 0..<3 { #expect(try bench.cache.store(CacheKey("large"), body(1 << 20), DiskMetadata())) }
        #expect(bench.files.count(of: .lock) - before == 1)
        bench.clock.advance(by: .seconds(10))
        #expect(try bench.cache.store(CacheKey("large"), body(1 << 20), DiskMetadata()))
        #expect(bench.files.count(of: .lock) - before == 2)
        bench.files.heal()
        bench.clock.advance(by: .seconds(10))
        #expect(try bench.cache.store(CacheKey("large"), body(1 << 20), DiskMetadata()))
        // By this, the cache tells the others that the large entry replaced another one.
        try bench.cache.removeExpired()
        let again = try bench.reopened()
        try again.cache.store(CacheKey("b"), [1], DiskMetadata())
        #expect(again.cache.usage.bytes.bytes == Int(try bench.allocatedBytes()))
    }

    @Test func waitingForALockEndsAfterItsTime() throws {
        let scratch = try Scratch()
        let files = PosixFileSystem()
        let path = scratch.path + "/lock"
        let (first, second) = (try files.open(path, .readWrite), try files.open(path, .readWrite))
        defer { for file in [first, second] { files.close(file) } }
        #expect(try files.lock(first, within: .zero))
        #expect(try !files.lock(second, within: .zero))
        #expect(try !files.lock(second, within: .milliseconds(3)))
        files.unlock(first)
        #expect(try files.lock(second, within: .zero))
    }

    @Test func unfinishedFilesOfADeadCacheAreRemovedByTheNextWriter() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        let folder = bench.cache.defaultPath(for: CacheKey("a")).dropLast(64)
        // An owner's mark that no process holds, and a file that this owner was writing a moment ago.
        try writeFile(bench.versionDirectory + "/owners/77-dead", [])
        try writeFile(folder + ".77-dead-1", body(5000))
        try PosixFileSystem().touch(folder + ".77-dead-1", at: bench.clock.wallTime)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.bytes.bytes == 4096 + 8192)
        try again.cache.store(CacheKey("b"), [1], DiskMetadata())
        #expect(again.temporaryNames().isEmpty)
        #expect(again.cache.usage.bytes.bytes == 2 * 4096)
    }

    @Test func unfinishedFilesOfALivingCacheStay() throws {
        let bench = try Bench()
        let writer = try bench.cache.makeWriter(for: CacheKey("a"))
        try writer.append(body(5000))
        let again = try bench.reopened()
        try again.cache.store(CacheKey("b"), [1], DiskMetadata())
        try again.cache.removeExpired()
        let report = try again.cache.verify()
        #expect(report.orphans == 0)
        #expect(try writer.commit(DiskMetadata()))
        #expect(try again.cache.read(CacheKey("a"))?.body.count == 5000)
    }

    @Test func aTotalThatIsGarbledIsCountedAnew() throws {
        let bench = try Bench(bytes: ByteCount(10 * 4096))
        for number in 0..<10 { try bench.cache.store(CacheKey("\(number)"), [1], DiskMetadata()) }
        for bytes in [[], [1, 2, 3], body(24), body(5000)] as [[UInt8]] {
            try writeFile(bench.versionDirectory + "/usage", bytes)
            #expect(try bench.cache.store(CacheKey("new"), [1], DiskMetadata()))
            #expect(bench.cache.usage.count <= 10)
            let again = try bench.reopened(bytes: ByteCount(10 * 4096))
            #expect(try again.cache.store(CacheKey("newer"), [1], DiskMetadata()))
            #expect(try again.allocatedBytes() <= 10 * 4096)
        }
    }

    @Test func aDirectoryThatIsReplacedWhileRunningIsLearntAnew() throws {
        let bench = try Bench()
        for number in 0..<5 { try bench.cache.store(CacheKey("old \(number)"), [1], DiskMetadata()) }
        let other = try Bench()
        for number in 0..<3 { try other.cache.store(CacheKey("new \(number)"), [2], DiskMetadata()) }
        let files = PosixFileSystem()
        try files.rename(bench.directory, to: bench.scratch.path + "/moved")
        try files.rename(other.directory, to: bench.directory)
        bench.clock.advance(by: .milliseconds(10))
        #expect(try bench.cache.read(CacheKey("old 1")) == nil)
        #expect(try bench.cache.read(CacheKey("new 1"))?.body == [2])
        try bench.cache.store(CacheKey("last"), [3], DiskMetadata())
        #expect(bench.cache.usage.count == 4)
        #expect(bench.cache.usage.bytes.bytes == 4 * 4096)
        #expect(bench.cache.fault() == nil)
    }

    /// The length of a mark depends on the limit. With the largest limit it once exceeded the longest file, so the
    /// others were not told of the cache's entries.
    @Test func aCacheWithTheLargestLimitStillReportsItsEntries() throws {
        let bench = try Bench(bytes: .mebibytes(16))
        try bench.cache.store(CacheKey("a"), body(10), DiskMetadata())
        let other = DiskCache(
            DiskCacheConfiguration(directory: bench.directory, limits: .init(bytes: ByteCount(.max), age: nil)),
            executor: HeldExecutor(), clock: bench.clock)
        for number in 0..<10 { try other.store(CacheKey("\(number)"), body(1 << 20), DiskMetadata()) }
        for number in 10..<20 {
            try bench.cache.store(CacheKey("\(number)"), body(1 << 20), DiskMetadata())
            #expect(try bench.allocatedBytes() <= 16 << 20)
        }
        #expect(other.fault() == nil && bench.cache.fault() == nil)
    }

    /// An entry that was replaced or evicted but could not be removed once stayed as long as its cache lived, without
    /// being counted.
    @Test func entriesThatCouldNotBeRemovedCountAndGoLater() throws {
        let (bench, other) = (try Bench(bytes: ByteCount(20 * 4096)), HeldExecutor())
        let neighbour = DiskCache(
            DiskCacheConfiguration(
                directory: bench.directory, limits: .init(bytes: ByteCount(20 * 4096) + Bench.overhead, age: nil)),
            executor: other, clock: bench.clock)
        try neighbour.store(CacheKey("n"), body(10), DiskMetadata())
        try bench.cache.store(CacheKey("a"), body(10), DiskMetadata())
        try neighbour.store(CacheKey("n"), body(10), DiskMetadata())
        bench.files.failAll(.remove, with: .error(5))
        for _ in 0..<4 { _ = try bench.cache.store(CacheKey("a"), body(10), DiskMetadata()) }
        #expect(bench.temporaryNames().count == 4)
        _ = try bench.cache.removeExpired()
        #expect(bench.temporaryNames().count == 4)
        for number in 0..<40 {
            _ = try? bench.cache.store(CacheKey("\(number)"), body(10), DiskMetadata())
            #expect(try bench.allocatedBytes() <= 20 * 4096)
        }
        bench.files.heal()
        _ = try bench.cache.removeExpired()
        #expect(bench.temporaryNames().isEmpty)
        #expect(bench.cache.fault() == nil && neighbour.fault() == nil)
    }

    @Test func aReadOnlyDirectoryIsReadAndSaysSo() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        bench.files.failAll(.write, with: .error(30))
        bench.files.failAll(.lock, with: .error(30))
        bench.files.failAll(.remove, with: .error(30))
        let error = #expect(throws: WebImageError.self) { try bench.cache.store(CacheKey("b"), [1], DiskMetadata()) }
        #expect(error?.code == .readOnly)
        #expect(try bench.cache.read(CacheKey("a"))?.body == [1])
        bench.files.heal()
        #expect(try bench.cache.store(CacheKey("b"), [1], DiskMetadata()))
    }

    /// Uses a real file system of one MiB that is really full. Other tests simulate a full disk.
    @Test(.enabled("only root may mount a small disk") { SmallDisk.isToBeHad })
    func aSmallDiskThatIsFullLosesNothing() throws {
        let small = try SmallDisk(mebibytes: 1)
        let disk = small.path
        let configuration = DiskCacheConfiguration(directory: disk, limits: .init(bytes: .mebibytes(64), age: nil))
        let cache = DiskCache(configuration, executor: HeldExecutor(), clock: ManualClock())
        var (stored, full) = ([Int](), 0)
        for number in 0..<40 {
            do {
                try cache.store(CacheKey("\(number)"), body(50_000 + number), metadata(number))
                stored.append(number)
            } catch {
                #expect(error.code == .noSpace)
                full += 1
            }
        }
        #expect(stored.count > 10 && full > 0)
        cache.flushIndex()
        for number in stored { #expect(try cache.read(CacheKey("\(number)"))?.body.count == 50_000 + number) }
        try cache.remove(CacheKey("\(stored[0])"))
        try cache.remove(CacheKey("\(stored[1])"))
        #expect(try cache.store(CacheKey("again"), body(50_000), DiskMetadata()))
        #expect(try cache.verify().bad == 0)
        #expect(cache.fault() == nil)
    }
}
