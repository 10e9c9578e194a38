import Synchronization
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

/// The cost of a large directory never delays a caller.
struct DiskScaleTests {
    private func id(_ number: Int) -> EntryID { EntryID(CacheKey("\(number)")) }

    private func record(_ number: Int, date: Int64, bytes: Int64 = 4096) -> DiskIndex.Record {
        DiskIndex.Record(id: id(number), bytes: bytes, length: 100, date: date, recordedDate: date)
    }

    /// To find their place, adopted entries were once compared one by one, beginning with the newest.
    @Test func adoptedRecordsAreEvictedInTheOrderOfTheirDates() {
        var random = SeededGenerator(seed: 17)
        var index = DiskIndex()
        // The model: records by date, and then by the order in which they were added.
        var model: [(record: DiskIndex.Record, order: Int)] = []
        var order = 0
        for step in 0..<4000 {
            order += 1
            let number = Int(random.next() % 300)
            switch random.next() % 8 {
            case 0, 1:
                let news = record(number, date: 10_000 + Int64(step))
                index.set(news)
                model.removeAll { $0.record.id == news.id }
                model.append((news, order))
            case 2, 3, 4:
                let found = record(number, date: Int64(random.next() % UInt64(10_000 + step)))
                index.adopt([found])
                if !model.contains(where: { $0.record.id == found.id }) { model.append((found, order)) }
            case 5:
                guard let place = index.place(of: id(number)) else { continue }
                _ = index.use(place, at: 10_000 + Int64(step))
                guard let known = model.firstIndex(where: { $0.record.id == id(number) }) else { continue }
                model[known].record.date = 10_000 + Int64(step)
                model[known].order = order
            case 6:
                index.remove(id(number))
                model.removeAll { $0.record.id == id(number) }
            default:
                let oldest = model.min { ($0.record.date, $0.order) < ($1.record.date, $1.order) }
                #expect(index.takeOldest()?.id == oldest?.record.id, "step \(step)")
                model.removeAll { $0.record.id == oldest?.record.id }
            }
            #expect(index.count == model.count)
            if step % 100 == 0 { #expect(index.fault() == nil, "step \(step)") }
        }
        let expected = model.sorted { ($0.record.date, $0.order) < ($1.record.date, $1.order) }.map(\.record.id)
        #expect(index.recordsByDate.map(\.id) == expected)
        var taken: [EntryID] = []
        while let victim = index.takeOldest() { taken.append(victim.id) }
        #expect(taken == expected && index.fault() == nil)
    }

    /// Whether the lock of the common total is free.
    private func isFree(_ usage: String) -> Bool {
        let files = PosixFileSystem()
        guard let total = try? files.open(usage, .updateOwn) else { return false }
        defer { files.closeLocked(total) }
        return (try? files.lock(total, within: .zero)) ?? false
    }

    private func isShard(_ directory: String) -> Bool {
        directory.utf8.dropLast(2).last == UInt8(ascii: "/") && !directory.hasSuffix("/v1")
    }

    /// While a cache listed the whole directory, it once held the lock that every other cache needs for a store.
    @Test func aRecountOfTheDirectoryBarelyHoldsTheLock() throws {
        let first = try Bench()
        let second = try first.reopened()
        for number in 0..<1000 {
            try first.cache.store(CacheKey("a\(number)"), [1], DiskMetadata())
            try second.cache.store(CacheKey("b\(number)"), [1], DiskMetadata())
        }
        // These files are removed behind the caches' backs, so all must be counted again.
        for entry in try first.cache.entries().prefix(400) { try PosixFileSystem().remove(entry.path) }
        let usage = first.versionDirectory + "/usage"
        let looks = Guarded(0)
        let locked = Guarded(0)
        first.files.onListing { directory in
            guard isShard(directory) else { return }
            let number = looks.withLock { looks in
                looks += 1
                return looks
            }
            if !isFree(usage) { locked.withLock { $0 += 1 } }
            if number <= 300 { _ = try? second.cache.store(CacheKey("c\(number)"), [2], DiskMetadata()) }
        }
        try first.cache.removeExpired()
        #expect(looks.withLock { $0 } > 500)
        // Only directories that changed since they were counted are listed under the lock.
        #expect(locked.withLock { $0 } <= 128)
        first.files.onListing { _ in }
        for bench in [second, first, second, first] { try bench.cache.removeExpired() }
        for bench in [first, second] {
            #expect(Int64(bench.cache.usage.bytes.bytes) == (try first.allocatedBytes()))
            #expect(bench.cache.fault() == nil)
        }
    }

    /// The same for a cache that begins to write to a directory that another one uses.
    @Test func aJoiningCacheListsTheDirectoryWithoutTheLock() throws {
        let first = try Bench()
        let second = try first.reopened()
        second.executor.runAll()
        for number in 0..<2000 { try first.cache.store(CacheKey("a\(number)"), [1], DiskMetadata()) }
        let usage = first.versionDirectory + "/usage"
        let looks = Guarded(0)
        let locked = Guarded(0)
        second.files.onListing { directory in
            guard isShard(directory) else { return }
            looks.withLock { $0 += 1 }
            if !isFree(usage) { locked.withLock { $0 += 1 } }
        }
        try second.cache.store(CacheKey("b"), [1], DiskMetadata())
        #expect(looks.withLock { $0 } >= 256 && locked.withLock { $0 } == 0)
        #expect(second.cache.usage.count == 2001)
        #expect(second.cache.usage.bytes.bytes == 2001 * 4096)
    }

    /// A scan once took all the threads that hits need.
    @Test func aHelpingThreadScansOneDirectoryAtATime() throws {
        let bench = try Bench()
        bench.executor.runAll()
        for number in 0..<100 { try bench.cache.store(CacheKey("\(number)"), [1], DiskMetadata()) }
        let again = try bench.reopened()
        // The thread that scans is held in its first directory.
        let scanner = again.files.delay(.names, at: 1)
        let done = Gate()
        startThread(named: "wi-test") { [executor = again.executor] in
            executor.runOne()
            done.open()
        }
        scanner.waitUntilMade()
        #expect(again.executor.waitingCount == 3)
        let before = again.files.count(of: .names)
        for turn in 1...5 {
            again.executor.runOne()
            #expect(again.files.count(of: .names) == before + turn)
            #expect(again.executor.waitingCount == 3)
            #expect(try again.cache.read(CacheKey("\(turn)"))?.body == [1])
        }
        scanner.release()
        done.wait()
        again.executor.runAll()
        #expect(again.cache.usage.count == 100 && again.cache.usage.isComplete)
    }

    /// Stores once waited for the scan on the threads that hits need.
    @Test func storesDuringTheScanTakeNoThread() throws {
        let bench = try Bench()
        let stored = Guarded(0)
        for number in 0..<8 {
            bench.cache.stage(CacheKey("\(number)"), [1], DiskMetadata()) { _ in stored.withLock { $0 += 1 } }
        }
        #expect(bench.executor.waitingCount == 1)
        bench.executor.runOne()
        #expect(bench.executor.waitingCount == 8)
        bench.executor.runAll()
        #expect(stored.withLock { $0 } == 8 && bench.cache.usage.count == 8)
    }

    // MARK: - Files with absurd lengths

    /// An entry that was made a terabyte long, as a sparse file, once crashed the process.
    @Test(arguments: [false, true])
    func anEntryThatIsATerabyteLongIsDropped(isKnown: Bool) throws {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        let path = bench.cache.defaultPath(for: CacheKey("a"))
        let files = PosixFileSystem()
        let file = try files.open(path, .updateOwn)
        do {
            defer { files.close(file) }
            try files.truncate(file, to: 1 << 40)
        }
        let cache = isKnown ? bench : try bench.reopened()
        cache.executor.runAll()
        #expect(try cache.cache.read(CacheKey("a")) == nil)
        #expect(cache.cache.statistics.corruptEntries == 1 && cache.cache.usage.count == 0)
        #expect(try cache.cache.store(CacheKey("a"), [2], DiskMetadata()))
        #expect(try cache.cache.read(CacheKey("a"))?.body == [2])
    }

    @Test func aTerabyteIsNotMoved() throws {
        let (bench, other) = (try Bench(), try Bench())
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        let files = PosixFileSystem()
        let file = try files.open(bench.cache.defaultPath(for: CacheKey("a")), .updateOwn)
        do {
            defer { files.close(file) }
            try files.truncate(file, to: 1 << 40)
        }
        #expect(try other.cache.moveEntries(from: bench.directory, namespace: "default").dropped == 1)
        #expect(other.cache.usage.count == 0)
    }

    // MARK: - What counts against the limit

    /// Blocks were once counted as 4 KiB on every file system.
    @Test(arguments: [true, false])
    func blocksAreCountedAsTheFileSystemHasThem(isTold: Bool) throws {
        let block = 64 << 10
        let bench = try Bench(bytes: ByteCount(20 * block))
        bench.files.setBlockLength(Int64(block), isTold: isTold)
        for number in 0..<60 {
            try bench.cache.store(CacheKey("\(number)"), [1], DiskMetadata())
            #expect(bench.cache.usage.bytes.bytes == bench.cache.usage.count * block)
            // The tag and the total take a block each. If the file system does not tell its block length, the cache
            // learns it too late for one of them.
            let usage = bench.cache.usage
            #expect(usage.bytes.bytes + (isTold ? 2 : 1) * block <= usage.limit.bytes)
        }
        #expect(bench.cache.usage.count > 10)
        let writer = try bench.cache.makeWriter(for: CacheKey("w"))
        try writer.append([UInt8](repeating: 1, count: block + 1))
        #expect(try writer.commit(DiskMetadata()))
        #expect(bench.cache.usage.bytes.bytes == (bench.cache.usage.count + 1) * block)
    }

    /// Partial bodies were once not counted against the limit.
    @Test func beginningsOfBodiesLieWithinTheLimit() throws {
        let limit = 4 << 20
        let bench = try Bench(bytes: ByteCount(limit))
        let configuration = DiskCacheConfiguration(directory: bench.directory)
        let store = PartialStore(configuration, of: bench.cache, clock: bench.clock, files: bench.files)
        for number in 0..<20 {
            guard let body = store.claim(CacheKey("p\(number)"), creates: true) else { continue }
            _ = body.restart(metadata: [])
            let bytes = [UInt8](repeating: 1, count: 100_000)
            _ = bytes.withUnsafeBytes { body.append($0) }
            body.release()
        }
        for number in 0..<1200 { try bench.cache.store(CacheKey("\(number)"), [1], DiskMetadata()) }
        let partial = Int64(store.usedBytes.bytes)
        #expect(partial > 100_000 && partial <= Int64(limit) / 16)
        #expect(try bench.allocatedBytes() + Int64(limit) / 16 <= Int64(limit) + Int64(Bench.overhead.bytes))
        #expect(bench.cache.usage.count > 800)
    }

    // MARK: - Network file systems

    /// NFS and SMB lock only files that are open for writing.
    @Test func lockedFilesAreOpenForWriting() throws {
        let bench = try Bench()
        bench.files.locksWritableFilesOnly()
        bench.executor.runAll()
        for name in ["a", "b"] { try bench.cache.store(CacheKey(name), [1], metadata(1)) }
        try writeFile(bench.cache.defaultPath(for: CacheKey("a")), [1, 2, 3])
        #expect(try bench.cache.read(CacheKey("a")) == nil)
        #expect(bench.cache.statistics.corruptEntries == 1 && bench.cache.statistics.faults == 0)
        #expect(try bench.cache.updateMetadata(CacheKey("b"), metadata(2)))
        try writeFile(bench.cache.defaultPath(for: CacheKey("b")), [1, 2, 3])
        let report = try bench.cache.verify()
        #expect(report.bad == 1 && report.repaired == 1 && report.unreadable == 0)
        try writeFile(bench.versionDirectory + "/owners/77-dead", [])
        try bench.cache.removeExpired()
        #expect(try PosixFileSystem().names(in: bench.versionDirectory + "/owners").count == 1)
    }
}
