import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// An entry that one of several caches uses is not removed by another.
struct DiskSharedUseTests {
    /// Stores an entry with a file date from the test's clock instead of the machine's.
    private func store(_ bench: Bench, _ name: String, _ metadata: DiskMetadata = DiskMetadata()) throws {
        #expect(try bench.cache.store(CacheKey(name), [1], metadata))
        try PosixFileSystem().touch(bench.cache.defaultPath(for: CacheKey(name)), at: bench.clock.wallTime)
    }

    @Test func entriesUsedByAnotherCacheDoNotExpire() throws {
        let first = try Bench(age: .seconds(10_000))
        for name in ["used", "idle"] { try store(first, name) }
        let second = try first.reopened(age: .seconds(10_000))
        try store(second, "own")
        first.clock.advance(by: .seconds(9000))
        #expect(try first.cache.read(CacheKey("used")) != nil)
        second.clock.advance(by: .seconds(10_500))
        #expect(try second.cache.removeExpired() == 2)
        #expect(try second.cache.entries().map(\.key) == [CacheKey("used")])
        #expect(second.cache.usage.count == 1 && second.cache.fault() == nil)
        #expect(try first.cache.read(CacheKey("used")) != nil)
        second.clock.advance(by: .seconds(8500))
        #expect(try second.cache.removeExpired() == 1)
        #expect(second.cache.usage.bytes == .zero)
    }

    /// A cache with the entries "a", "b" and "c", stored in this order.
    private func threeEntries(_ limit: ByteCount) throws -> Bench {
        let bench = try Bench(bytes: limit)
        for name in ["a", "b", "c"] {
            try store(bench, name)
            bench.clock.advance(by: .seconds(1))
        }
        return bench
    }

    /// A cache that only reads takes no room, and is not one of those that share the limit.
    @Test func entriesReadByACacheThatOnlyReadsDoNotExpire() throws {
        let bench = try Bench(age: .seconds(10_000))
        for name in ["used", "idle"] { try store(bench, name) }
        let reader = try bench.reopened(age: .seconds(10_000))
        reader.clock.advance(by: .seconds(9000))
        #expect(try reader.cache.read(CacheKey("used")) != nil)
        bench.clock.advance(by: .seconds(10_500))
        #expect(try bench.cache.removeExpired() == 1)
        #expect(try reader.cache.read(CacheKey("used")) != nil)
    }

    @Test func evictionSparesEntriesReadByACacheThatOnlyReads() throws {
        let limit = ByteCount(6 * 4096)
        let bench = try threeEntries(limit)
        let reader = try bench.reopened(bytes: limit)
        reader.clock.advance(by: .seconds(5000))
        #expect(try reader.cache.read(CacheKey("a")) != nil)
        bench.clock.advance(by: .seconds(10_000))
        for name in ["d", "e", "f", "g"] { try store(bench, name) }
        #expect(bench.cache.statistics.evictions > 0 && bench.cache.fault() == nil)
        #expect(try reader.cache.read(CacheKey("a")) != nil)
        #expect(try reader.cache.read(CacheKey("b")) == nil)
        #expect(try bench.allocatedBytes() <= limit.bytes)
    }

    @Test func evictionSparesEntriesUsedByAnotherCache() throws {
        let limit = ByteCount(6 * 4096)
        let first = try threeEntries(limit)
        let second = try first.reopened(bytes: limit)
        second.clock.advance(by: .seconds(10_000))
        try store(second, "d")
        first.clock.advance(by: .seconds(5000))
        #expect(try first.cache.read(CacheKey("a")) != nil)
        for name in ["e", "f", "g"] { try store(second, name) }
        #expect(second.cache.statistics.evictions > 0 && second.cache.fault() == nil)
        #expect(try first.cache.read(CacheKey("a")) != nil)
        #expect(try first.cache.read(CacheKey("b")) == nil)
        #expect(try second.allocatedBytes() <= limit.bytes)
    }

    @Test func aLifetimeThatAnotherCacheHasMadeLongerIsKept() throws {
        let first = try Bench()
        let second = try first.reopened()
        var metadata = DiskMetadata()
        metadata.expiresAt = first.clock.wallTime + 100
        try store(first, "a", metadata)
        try store(second, "own")
        #expect(try second.cache.read(CacheKey("a")) != nil)
        first.clock.advance(by: .seconds(50))
        metadata.expiresAt = first.clock.wallTime + 1000
        try store(first, "a", metadata)
        second.clock.advance(by: .seconds(200))
        #expect(try second.cache.removeExpired() == 0)
        #expect(try second.cache.contains(CacheKey("a")))
        second.clock.advance(by: .seconds(850))
        #expect(try second.cache.removeExpired() == 1)
        #expect(second.cache.usage.count == 1 && second.cache.fault() == nil)
    }

    @Test func anOlderUseDoesNotReplaceADateOfAnotherCache() throws {
        let first = try Bench()
        for name in ["a", "b"] { try store(first, name) }
        try first.makeShardsOld()
        first.cache.flushIndex()
        let second = try first.reopened()
        second.cache.finishOpening()
        for name in ["b", "a"] {
            first.clock.advance(by: .seconds(5))
            _ = try first.cache.read(CacheKey(name))
        }
        first.cache.flushIndex()
        // The second cache's clock is behind, so the use that it records is older.
        _ = try second.cache.read(CacheKey("a"))
        second.cache.flushIndex()
        let third = try first.reopened()
        try third.cache.trim(to: 4096)
        #expect(try third.cache.contains(CacheKey("a")))
        #expect(try !third.cache.contains(CacheKey("b")))
    }
}
