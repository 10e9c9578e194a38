import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// An entry is found at once after it was staged, and a removal beats a pending write.
struct DiskStagingTests {
    private let key = CacheKey("k")

    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        return bench
    }

    @Test func aStagedEntryIsFoundBeforeItIsOnDisk() throws {
        let bench = try makeBench()
        #expect(bench.cache.stage(key, [1, 2], metadata(7)))
        #expect(bench.files.count(of: .write) == 0)
        #expect(try bench.cache.read(key)?.body == [1, 2])
        #expect(try bench.cache.read(key)?.metadata == metadata(7))
        #expect(try bench.cache.readMetadata(key)?.status == 7)
        #expect(try bench.cache.contains(key))
        #expect(bench.files.count(of: .open) == 0)
        bench.executor.runAll()
        #expect(try bench.reopened().cache.read(key)?.body == [1, 2])
        #expect(bench.cache.statistics.stores == 1)
    }

    @Test func aRemoveBeatsAWriteThatWaits() throws {
        let bench = try makeBench()
        let answers = Guarded<[Bool]>([])
        bench.cache.stage(key, [1], metadata(1)) { answer in answers.withLock { $0.append((try? answer.get()) ?? true) }
        }
        #expect(try bench.cache.remove(key))
        #expect(try bench.cache.read(key) == nil)
        bench.executor.runAll()
        #expect(try bench.cache.read(key) == nil)
        #expect(answers.withLock { $0 } == [false])
        #expect(bench.temporaryNames().isEmpty && bench.cache.usage.bytes == .zero)
    }

    @Test func aRemoveBeatsAWriteThatHasBegun() throws {
        let bench = try makeBench()
        for removesAll in [false, true] {
            let writer = try bench.cache.makeWriter(for: key)
            try writer.append([1, 2, 3])
            if removesAll { try bench.cache.removeAll() } else { #expect(try !bench.cache.remove(key)) }
            #expect(try !writer.commit(metadata(1)))
            #expect(try bench.cache.read(key) == nil)
            #expect(bench.temporaryNames().isEmpty && bench.cache.usage.bytes == .zero)
            #expect(try bench.cache.store(key, [4], metadata(2)))
            #expect(try bench.cache.read(key)?.body == [4])
            try bench.cache.remove(key)
        }
    }

    @Test func theWriteThatBeganLastWinsWhicheverEndsFirst() throws {
        let bench = try makeBench()
        let writer = try bench.cache.makeWriter(for: key)
        try writer.append([1])
        #expect(try bench.cache.store(key, [2], metadata(2)))
        #expect(try !writer.commit(metadata(1)))
        #expect(try bench.cache.read(key)?.body == [2])
    }

    @Test func aLaterStagedEntryReplacesAWaitingOne() throws {
        let bench = try makeBench()
        let answers = Guarded<[String]>([])
        for number in 1...3 {
            bench.cache.stage(key, [UInt8(number)], metadata(number)) { answer in
                answers.withLock { $0.append("\(number) \((try? answer.get()) ?? false)") }
            }
        }
        #expect(try bench.cache.read(key)?.body == [3])
        bench.executor.runAll()
        #expect(answers.withLock { $0 } == ["1 false", "2 false", "3 true"])
        #expect(bench.cache.statistics.stores == 1)
        #expect(try bench.cache.read(key)?.body == [3])
    }

    @Test func theBytesOfStagedEntriesAreLimited() throws {
        let scratch = try Scratch()
        var configuration = DiskCacheConfiguration(directory: scratch.path)
        configuration.maxStaged = 1000
        let executor = HeldExecutor()
        let cache = DiskCache(configuration, executor: executor, clock: ManualClock())
        #expect(cache.stage(CacheKey("a"), [UInt8](repeating: 1, count: 2000), DiskMetadata()))
        #expect(!cache.stage(CacheKey("b"), [1], DiskMetadata()))
        executor.runAll()
        #expect(cache.stage(CacheKey("b"), [1], DiskMetadata()))
        executor.runAll()
        #expect(cache.usage.count == 2)
    }

    @Test func callsThatNeedTheFileWriteTheStagedEntry() throws {
        let bench = try makeBench()
        bench.cache.stage(key, [5], metadata(5))
        let path = try #require(try bench.cache.path(for: key))
        #expect(try readFile(path).first == 5)
        bench.cache.stage(CacheKey("l"), [6], metadata(6))
        #expect(try bench.cache.updateMetadata(CacheKey("l"), metadata(8)))
        bench.cache.stage(CacheKey("m"), [7], metadata(7))
        #expect(try bench.cache.entries().count == 3)
        bench.executor.runAll()
        #expect(bench.cache.statistics.stores == 3)
        #expect(try bench.cache.readMetadata(CacheKey("l"))?.status == 8)
    }

    @Test func aStagedEntryOnAFullDiskFailsAndIsGone() throws {
        let bench = try makeBench()
        bench.files.failAll(.write, with: .error(28))
        let codes = Guarded<[WebImageError.Code]>([])
        bench.cache.stage(key, [1], metadata(1)) { answer in
            if case .failure(let error) = answer { codes.withLock { $0.append(error.code) } }
        }
        bench.executor.runAll()
        #expect(codes.withLock { $0 } == [.noSpace])
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.temporaryNames().isEmpty)
    }

    /// The maintenance of a full cache once failed with the error of an entry that another caller had staged.
    @Test func aFailedWriteDoesNotFailListingVerifyingOrRemoving() throws {
        let bench = try makeBench()
        for name in ["a", "b", "c"] { try bench.cache.store(CacheKey(name), [1], metadata(1)) }
        bench.files.failAll(.write, with: .error(28))
        let failures = Guarded(0)
        func stage() {
            bench.cache.stage(key, [1], metadata(1)) { answer in
                if case .failure = answer { failures.withLock { $0 += 1 } }
            }
        }
        stage()
        #expect(try bench.cache.entries().count == 3)
        stage()
        #expect(try bench.cache.verify().checked == 3)
        stage()
        #expect(try bench.cache.remove { $0.key?.text == "a" } == 1)
        #expect(failures.withLock { $0 } == 3)
        #expect(try bench.cache.entries().count == 2)
    }
}
