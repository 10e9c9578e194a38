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

/// After a flush, everything that the program stored is on the disk, and its hits and misses are counted.
struct DiskFlushTests {
    private let key = CacheKey("k")

    /// The operations that need staged entries on the disk.
    enum Need: CaseIterable {
        case flush, path, update, entries

        func meet(_ cache: DiskCache, _ key: CacheKey) throws {
            switch self {
            case .flush: try cache.flush()
            case .path: #expect(try cache.path(for: key) != nil)
            case .update: #expect(try cache.updateMetadata(key, metadata(2)))
            case .entries: #expect(try cache.entries().count == 1)
            }
        }
    }

    /// A cache that has reserved room ahead, so that its next write is that of an entry, and whose index is up to date.
    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(key, [1], DiskMetadata())
        try bench.makeShardsOld()
        try bench.cache.flush()
        return bench
    }

    private func start(_ work: @escaping @Sendable () -> Void) -> Gate {
        let done = Gate()
        startThread(named: "wi-test") {
            work()
            done.open()
        }
        return done
    }

    /// A flush once did not wait for an entry that a thread of the executor was writing, so a program that ended then
    /// lost it.
    @Test(arguments: Need.allCases)
    func callsThatNeedAnEntryWaitForItsWrite(need: Need) throws {
        let bench = try Bench()
        bench.executor.runAll()
        let write = bench.files.delay(.write)
        bench.cache.stage(key, [1, 2], metadata(1))
        let writing = start { bench.executor.runAll() }
        write.waitUntilMade()
        let found = Guarded<[UInt8]?>(nil)
        let done = start {
            do { try need.meet(bench.cache, key) } catch { Issue.record(error) }
            let bytes = try? readFile(bench.cache.defaultPath(for: key))
            found.withLock { $0 = bytes }
        }
        while bench.cache.unwritten.waitingCount == 0, !done.isOpen { sched_yield() }
        #expect(!done.isOpen)
        write.release()
        done.wait()
        writing.wait()
        #expect(found.withLock { $0 }?.prefix(2) == [1, 2])
        #expect(bench.cache.statistics.stores == 1)
    }

    @Test func aWaitingFlushGetsTheErrorOfTheWrite() throws {
        let bench = try makeBench()
        let write = bench.files.delay(.write)
        bench.files.fail(.write, at: 0, with: .error(28))
        bench.cache.stage(key, [1, 2], metadata(1))
        let writing = start { bench.executor.runAll() }
        write.waitUntilMade()
        let code = Guarded<WebImageError.Code?>(nil)
        let done = start {
            do throws(WebImageError) { try bench.cache.flush() } catch { code.withLock { $0 = error.code } }
        }
        while bench.cache.unwritten.waitingCount == 0, !done.isOpen { sched_yield() }
        // A further entry of the same name, and its removal, do not take the answer from the waiting caller.
        bench.cache.stage(key, [3], metadata(3))
        try bench.cache.remove(key)
        write.release()
        done.wait()
        writing.wait()
        #expect(code.withLock { $0 } == .noSpace)
        #expect(bench.cache.unwritten.waitingCount == 0 && bench.cache.unwritten.stagedBytes == 0)
    }

    @Test func aFlushGoesOnAfterAFailedEntry() throws {
        let bench = try makeBench()
        let answers = Guarded<[WebImageError.Code?]>([])
        for name in ["a", "b", "c"] {
            bench.cache.stage(CacheKey(name), [1], metadata(1)) { answer in
                var code: WebImageError.Code?
                if case .failure(let error) = answer { code = error.code }
                answers.withLock { $0.append(code) }
            }
        }
        bench.files.fail(.write, at: 0, with: .error(28))
        let error = #expect(throws: WebImageError.self) { try bench.cache.flush() }
        #expect(error?.code == .noSpace)
        #expect(answers.withLock { $0 } == [.noSpace, nil, nil])
        #expect(try bench.cache.entries().count == 3)
    }

    /// A store that waited for room once got the error of another entry's write.
    @Test func aWaitForRoomIgnoresTheErrorsOfOtherEntries() async throws {
        let (scratch, files) = (try Scratch(), FaultyFileSystem())
        var configuration = DiskCacheConfiguration(directory: scratch.path)
        configuration.maxStaged = 1000
        let (pool, hold) = (ThreadPool(name: "wi-test", width: 1), Gate())
        let cache = DiskCache(configuration, executor: pool, files: files)
        pool.run(.high) { hold.wait() }
        let write = files.delay(.write)
        files.failAll(.write, with: .error(28))
        #expect(cache.stage(key, [UInt8](repeating: 1, count: 2000), DiskMetadata()))
        #expect(!cache.stage(CacheKey("more"), [1], DiskMetadata()))
        let writing = start { #expect(throws: WebImageError.self) { try cache.flush() } }
        write.waitUntilMade()
        hold.open()
        let room = Task { try await cache.finishStaging() }
        while cache.unwritten.waitingCount == 0 { await Task.yield() }
        write.release()
        try await room.value
        writing.wait()
        #expect(cache.stage(CacheKey("more"), [1], DiskMetadata()))
    }

    // MARK: - Hits and misses

    private func history(_ bench: Bench) throws -> [Int] {
        let later = try bench.reopened()
        later.cache.finishOpening()
        return counts(later.cache.history)
    }

    private func counts(_ history: DiskHistory) -> [Int] { [history.hits, history.misses] }

    @Test func missesAloneAreCounted() throws {
        let bench = try makeBench()
        for _ in 0..<3 { #expect(try bench.cache.read(CacheKey("none")) == nil) }
        try bench.cache.flush()
        #expect(try history(bench) == [0, 3])
        // Without a flush, the counts are written after some time.
        _ = try bench.cache.read(CacheKey("none"))
        bench.clock.advance(by: .seconds(60))
        bench.executor.runAll()
        #expect(try history(bench) == [0, 4])
    }

    @Test func hitsThatChangeNoDateAreCounted() throws {
        let bench = try makeBench()
        var limits = DiskCacheConfiguration.Limits(bytes: .mebibytes(64), age: nil)
        limits.ageBasis = .creation
        bench.cache.setLimits(limits)
        for _ in 0..<2 { #expect(try bench.cache.read(key) != nil) }
        try bench.cache.flush()
        #expect(try history(bench) == [2, 0])
    }

    @Test func countsThatCouldNotBeWrittenAreWrittenNextTime() throws {
        let bench = try makeBench()
        let index = bench.versionDirectory + "/index/0"
        try PosixFileSystem().makeDirectory(bench.versionDirectory + "/index")
        try? PosixFileSystem().remove(index)
        try PosixFileSystem().makeDirectory(index)
        #expect(try bench.cache.read(key) != nil)
        try bench.cache.flush()
        #expect(counts(bench.cache.history) == [1, 0])
        try PosixFileSystem().removeDirectory(index)
        try bench.cache.flush()
        #expect(try history(bench) == [1, 0])
        #expect(counts(bench.cache.history) == [1, 0])
    }

    @Test func missesInAnEmptyCacheCreateNoFiles() throws {
        let bench = try Bench()
        _ = try bench.cache.read(key)
        try bench.cache.flush()
        #expect(try PosixFileSystem().names(in: bench.scratch.path).isEmpty)
    }

    /// While many entries were evicted, the index was once written every other second, each time nearly whole.
    @Test func theIndexIsNotWrittenDownWhileManyEntriesLeave() {
        var books = DiskBooks(limits: .init(bytes: .mebibytes(1), age: nil))
        #expect(books.putOffFlush() == nil)
        books.ledger.isTrimming = true
        for _ in 0..<15 { #expect(books.putOffFlush() == .seconds(2)) }
        #expect(books.putOffFlush() == nil, "it takes too long to wait for")
        #expect(books.putOffFlush() != nil)
        books.ledger.isTrimming = false
        #expect(books.putOffFlush() == nil)
    }
}
