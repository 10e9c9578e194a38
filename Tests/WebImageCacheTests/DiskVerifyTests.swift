import Synchronization
import Testing
import WebImageCache
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

/// `verify` reports the entries that it could not read, and removes no file that belongs to a living cache.
struct DiskVerifyTests {
    @Test(arguments: [(FaultyFileSystem.Call.open, EACCES), (.read, EIO)])
    func unreadableEntriesCountAsNeitherSoundNorBad(call: FaultyFileSystem.Call, errorNumber: Int32) throws {
        let bench = try Bench()
        for name in ["a", "b", "c"] { try bench.cache.store(CacheKey(name), [1], DiskMetadata()) }
        bench.files.failAll(call, with: .error(errorNumber))
        let report = try bench.cache.verify()
        #expect(report.unreadable == 3 && report.checked == 0 && report.bad == 0 && report.repaired == 0)
        bench.files.heal()
        let later = try bench.cache.verify()
        #expect(later.unreadable == 0 && later.checked == 3 && later.bad == 0)
        #expect(bench.cache.usage.count == 3)
    }

    @Test func aDirectoryThatCannotBeListedIsAnError() throws {
        let bench = try Bench()
        for name in ["a", "b", "c"] { try bench.cache.store(CacheKey(name), [1], DiskMetadata()) }
        bench.files.failAll(.names, with: .error(EACCES))
        #expect(throws: WebImageError.self) { try bench.cache.entries() }
        #expect(throws: WebImageError.self) { try bench.cache.verify() }
        #expect(throws: WebImageError.self) { try bench.cache.trim(to: 0) }
        #expect(throws: WebImageError.self) { try bench.cache.removeAll() }
        bench.files.heal()
        #expect(try bench.cache.entries().count == 3)
        try bench.cache.removeAll()
        #expect(try bench.cache.entries().isEmpty)
    }

    /// A file that another cache began to write after the directory was listed was once taken for an orphan.
    @Test func verifySparesAFileThatAnotherCacheIsWriting() throws {
        let bench = try Bench()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        let other = try bench.reopened()
        try other.cache.store(CacheKey("b"), [1], DiskMetadata())
        // The first call learns the entries. The second shows how many listings the third will make.
        _ = try bench.cache.verify()
        let before = bench.files.count(of: .names)
        _ = try bench.cache.verify()
        let shards = try PosixFileSystem().names(in: bench.versionDirectory).filter { $0.utf8.count == 2 }.count
        let look = bench.files.delay(.names, at: bench.files.count(of: .names) - before - shards - 1)
        let report = Guarded<DiskVerification?>(nil)
        let done = Gate()
        startThread(named: "wi-test") {
            let found = try? bench.cache.verify()
            report.withLock { $0 = found }
            done.open()
        }
        look.waitUntilMade()
        let writer = try other.cache.makeWriter(for: CacheKey("a"))
        try writer.append([2, 3])
        look.release()
        done.wait()
        #expect(report.withLock { $0 }?.checked == 2 && report.withLock { $0 }?.orphans == 0)
        #expect(try writer.commit(DiskMetadata()))
        #expect(try bench.cache.read(CacheKey("a"))?.body == [2, 3])
    }
}
