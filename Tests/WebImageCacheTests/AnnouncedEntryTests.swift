import Testing
import WebImageCache
import WebImageCore
import WebImageSystem

/// Entries that are announced to the cache and about to be written by other code.
struct AnnouncedEntryTests {
    private final class Announced: ExpectedEntry {
        let key: CacheKey
        let metadata: DiskMetadata
        let order: DiskWriteOrder
        let isComplete = true
        private let body: [UInt8]

        init(_ key: CacheKey, _ body: [UInt8], _ cache: DiskCache, _ metadata: DiskMetadata = DiskMetadata()) {
            (self.key, self.body, self.metadata, order) = (key, body, metadata, cache.orderWrite(of: key))
        }

        func allBytes() -> [UInt8] { body }
    }

    private let key = CacheKey("a")

    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        return bench
    }

    /// The last reference to an announced entry also ends its place in the order of writes. That needs the lock under
    /// which the cache gives up the reference, so releasing it there must not deadlock.
    @Test func replacingAnExpectedEntryDoesNotDeadlock() throws {
        let bench = try makeBench()
        bench.cache.expect(Announced(key, [1], bench.cache))
        bench.cache.expect(Announced(key, [2], bench.cache))
        #expect(try bench.cache.read(key)?.body == [2])
        bench.cache.endExpecting(try #require(bench.cache.expectedEntry(for: key) as? Announced))
        #expect(try bench.cache.read(key) == nil)
    }

    @Test func theNewestStagedOrExpectedEntryIsFound() throws {
        let bench = try makeBench()
        let early = Announced(key, [1], bench.cache)
        bench.cache.stage(key, [2], metadata(2))
        bench.cache.expect(early)
        #expect(try bench.cache.read(key)?.body == [2])
        bench.cache.expect(Announced(key, [3], bench.cache))
        #expect(try bench.cache.read(key)?.body == [3])
        // The entry was announced before the removal, so it is gone.
        try bench.cache.remove(key)
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.cache.expectedEntry(for: key) == nil)
    }

    /// A writer that is made late, with an early place in the order, must not replace an entry that was staged after
    /// that place.
    @Test func aLateWriterDoesNotReplaceALaterStagedEntry() throws {
        let bench = try makeBench()
        let order = bench.cache.orderWrite(of: key)
        bench.cache.stage(key, [2], metadata(2))
        let writer = try bench.cache.makeWriter(for: key, as: order)
        try writer.append([1])
        #expect(try bench.cache.read(key)?.body == [2])
        try bench.cache.flush()
        #expect(try !writer.commit(metadata(1)), "the staged entry began later and is written")
        #expect(try bench.cache.read(key)?.body == [2])
    }
}
