import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCache

/// Entries and beginnings that cannot be read or removed at the moment are neither hidden nor lost.
@Suite struct UnreadableEntryTests {
    private func makeBench() throws -> Bench {
        let bench = try Bench()
        for key in ["a", "b", "c"] { _ = try bench.cache.store(CacheKey(key), [1, 2, 3], DiskMetadata()) }
        return bench
    }

    /// Such entries were once left out of lists without a word, and stayed when they were to be removed.
    @Test(arguments: [FaultyFileSystem.Call.open, .read]) func anEntryThatCannotBeReadIsTold(
        call: FaultyFileSystem.Call
    ) throws {
        let bench = try makeBench()
        let (cache, files) = (bench.cache, bench.files)
        #expect(try cache.list().failure == nil)
        var missing = 0
        // The cache opens and reads files of its own, too.
        for later in 0..<12 {
            files.fail(call, at: later, with: .error(5))
            let listing = try cache.list()
            files.heal()
            #expect(listing.entries.count == (listing.failure == nil ? 3 : 2))
            guard let failure = listing.failure else { continue }
            #expect(failure.code == .cacheIO && failure.location?.hasPrefix(bench.versionDirectory) == true)
            missing += 1
            guard missing == 3 else { continue }
            files.fail(call, at: later, with: .error(24))
            let error = #expect(throws: WebImageError.self) { try cache.remove { _ in true } }
            files.heal()
            #expect(error?.code == .cacheIO)
            #expect(try cache.entries().count == 1)
            return
        }
        Issue.record("no call of an entry failed three times")
    }

    /// A failed removal was once called a cache that may only be read.
    @Test func aFailedRemovalIsToldAsWhatItIs() throws {
        let bench = try makeBench()
        let (cache, files) = (bench.cache, bench.files)
        files.failAll(.remove, with: .error(5))
        let error = #expect(throws: WebImageError.self) { try cache.trim(to: .zero) }
        #expect(error?.code == .cacheIO && error?.message.contains("cannot be removed") == true)
        files.heal()
        try cache.trim(to: .zero)
        #expect(try cache.entries().isEmpty)
    }

    /// A passing error once removed a beginning that was in order.
    @Test(arguments: [FaultyFileSystem.Call.open, .read], [5, 24] as [Int32])
    func aBeginningThatCannotBeReadStays(call: FaultyFileSystem.Call, number: Int32) throws {
        let bench = try PartialBench()
        bench.keep(CacheKey("a"), 1000)
        bench.files.fail(call, at: 0, with: .error(number))
        bench.store.removeExpired()
        bench.files.heal()
        #expect(try bench.kept(CacheKey("a")) == 1000)
    }

    /// Such a beginning was once called removed.
    @Test func aBeginningThatCannotBeRemovedIsTold() throws {
        let bench = try PartialBench()
        let keys = ["a", "b"].map { CacheKey($0) }
        for key in keys { bench.keep(key, 1000) }
        bench.files.fail(.remove, at: 0, with: .error(30))
        let error = #expect(throws: WebImageError.self) { try bench.store.removeAll() }
        #expect(error?.code == .readOnly && bench.store.usedBytes > .zero)
        for key in keys { _ = try bench.store.remove(key) }
        #expect(bench.store.usedBytes == .zero)
        bench.files.failAll(.names, with: .error(5))
        #expect(throws: WebImageError.self) { try bench.store.removeAll() }
    }
}
