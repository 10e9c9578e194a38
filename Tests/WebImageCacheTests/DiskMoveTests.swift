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

/// Moving the entries of a cache directory to another place.
@Suite struct DiskMoveTests {
    /// A cache beside the bench's own, in a directory named `old`.
    private func makeOld(
        _ scratch: Scratch, at time: Int64 = ManualClock.start, entries: [String: [UInt8]]
    ) throws -> DiskCache {
        let executor = HeldExecutor()
        let cache = DiskCache(
            DiskCacheConfiguration(directory: scratch.path + "/old", limits: .init(bytes: .mebibytes(64), age: nil)),
            executor: executor, clock: ManualClock(wallTime: time), files: PosixFileSystem())
        for (key, body) in entries.sorted(by: { $0.key < $1.key }) {
            #expect(try cache.store(CacheKey(key), body, metadata(body.count)))
            // Files get their dates from the machine's clock, so the date is set to the test's.
            try PosixFileSystem().touch(cache.defaultPath(for: CacheKey(key)), at: time)
        }
        return cache
    }

    private func move(_ moved: Int = 0, left: Int = 0) -> DiskMove {
        var move = DiskMove()
        (move.moved, move.left) = (moved, left)
        return move
    }

    private func exists(_ path: String) -> Bool { (try? PosixFileSystem().status(at: path)) != nil }

    /// A new cache on another disk easily has the inode of the old one.
    @Test(.enabled { (try? PosixFileSystem().status(at: "/sys"))?.inode == 1 })
    func filesOfTwoFileSystemsAreNeverTheSame() throws {
        let (one, other) = (try PosixFileSystem().status(at: "/proc"), try PosixFileSystem().status(at: "/sys"))
        #expect(one.inode == other.inode && !one.isSameFile(as: other) && one.isSameFile(as: one))
    }

    @Test func movingTakesAllEntriesAndRemovesTheOldDirectory() throws {
        let bench = try Bench()
        let entries = Dictionary(
            uniqueKeysWithValues: (0..<40).map { ("key \($0)", [UInt8](repeating: UInt8($0), count: 100 + $0)) })
        _ = try makeOld(bench.scratch, entries: entries)
        let moved = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(moved.moved == 40 && moved.dropped == 0 && moved.left == 0)
        for (key, body) in entries {
            let entry = try #require(try bench.cache.read(CacheKey(key)))
            #expect(entry.body == body && entry.metadata.status == body.count)
        }
        #expect(!exists(bench.scratch.path + "/old"))
        #expect(bench.cache.usage.count == 40 && bench.cache.fault() == nil)
        #expect(Int64(bench.cache.usage.bytes.bytes) == (try bench.allocatedBytes()))
        // The next process sees the same entries.
        let reopened = try bench.reopened()
        reopened.cache.finishOpening()
        #expect(reopened.cache.usage.count == 40)
        #expect(try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default") == DiskMove())
    }

    /// The date of the store decides, not the file's date, which each use renews.
    @Test func ofTwoEntriesOfOneKeyTheYoungerStays() throws {
        let bench = try Bench()
        let now = bench.clock.wallTime
        _ = try makeOld(bench.scratch, at: now, entries: ["a": [1], "b": [1], "staged": [1]])
        for (key, age, idle) in [("a", -1, 50), ("b", 1, -50)] as [(String, Int64, Int64)] {
            var stored = metadata(2)
            stored.storedAt = now - age
            try bench.cache.store(CacheKey(key), [2], stored)
            try PosixFileSystem().touch(bench.cache.defaultPath(for: CacheKey(key)), at: now - idle)
        }
        bench.cache.stage(CacheKey("staged"), [2], metadata(2))
        let moved = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(moved.moved == 1 && moved.dropped == 2)
        bench.executor.runAll()
        #expect(try bench.cache.read(CacheKey("a"))?.body == [2])
        #expect(try bench.cache.read(CacheKey("b"))?.body == [1])
        #expect(try bench.cache.read(CacheKey("staged"))?.body == [2])
        #expect(bench.cache.usage.count == 3 && bench.cache.fault() == nil)
    }

    @Test func theLimitHoldsAndTheYoungestStay() throws {
        let bench = try Bench(bytes: ByteCount(10 * 8192))
        let executor = HeldExecutor()
        let old = DiskCache(
            DiskCacheConfiguration(
                directory: bench.scratch.path + "/old", limits: .init(bytes: .mebibytes(64), age: nil)),
            executor: executor, clock: bench.clock, files: PosixFileSystem())
        for number in 0..<40 {
            try old.store(CacheKey("\(number)"), [UInt8](repeating: 0, count: 5000), DiskMetadata())
            try PosixFileSystem().touch(old.defaultPath(for: CacheKey("\(number)")), at: 1_700_000_000 + Int64(number))
        }
        _ = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        let usage = bench.cache.usage
        #expect(usage.bytes <= usage.limit && usage.count == 10 && bench.cache.fault() == nil)
        #expect(try (30..<40).allSatisfy { try bench.cache.contains(CacheKey("\($0)")) })
    }

    @Test func aCacheThatHasTheOldDirectoryOpenMissesAndGoesOn() throws {
        let bench = try Bench()
        let old = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
        #expect(try old.read(CacheKey("a"))?.body == [1, 2, 3])
        let moved = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(moved.moved == 2 && exists(bench.scratch.path + "/old/default/v1/usage"))
        #expect(try old.read(CacheKey("a")) == nil && old.usage.count == 1)
        #expect(try old.store(CacheKey("a"), [5], metadata(5)))
        #expect(try old.read(CacheKey("a"))?.body == [5])
        #expect(try bench.cache.read(CacheKey("a"))?.body == [1, 2, 3])
        #expect(old.fault() == nil && old.statistics.corruptEntries == 0)
    }

    @Test func toAnotherDiskEntriesAreCopied() throws {
        let bench = try Bench()
        _ = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
        bench.files.fail(.rename, at: 0, with: .error(EXDEV))
        let moved = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(moved.moved == 2 && !exists(bench.scratch.path + "/old"))
        #expect(try bench.cache.read(CacheKey("a"))?.body == [1, 2, 3])
        #expect(try bench.cache.read(CacheKey("b"))?.body == [4])
        #expect(bench.temporaryNames().isEmpty && bench.cache.fault() == nil)
    }

    @Test func aFailedCallDuringAMoveLosesNoEntry() throws {
        let calls = try Bench()
        _ = try makeOld(calls.scratch, entries: ["a": [1, 2, 3], "b": [4]])
        calls.cache.finishOpening()
        let earlier = calls.files.callCount
        _ = try calls.cache.moveEntries(from: calls.scratch.path + "/old", namespace: "default")
        for number in 0..<calls.files.callCount - earlier {
            let bench = try Bench()
            let old = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
            bench.cache.finishOpening()
            bench.files.fail(at: number, with: .error(EIO))
            _ = try? bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
            for (key, body) in ["a": [1, 2, 3], "b": [4]] as [String: [UInt8]] {
                let bodies = try [bench.cache, old].compactMap { try $0.read(CacheKey(key))?.body }
                #expect(bodies == [body] || bodies == [body, body], "call \(number), \(key)")
            }
            #expect(bench.cache.fault() == nil)
            let usage = Int64(bench.cache.usage.bytes.bytes)
            #expect(try usage >= bench.allocatedBytes(), "call \(number)")
        }
    }

    /// If a listing failed once, for lack of a file descriptor, nothing was moved, but the old directory was once
    /// removed with its entries.
    @Test(arguments: [FaultyFileSystem.Call.names, .status])
    func aDirectoryThatCannotBeListedIsNotRemoved(call: FaultyFileSystem.Call) throws {
        var failures = 0
        for number in 0..<40 {
            let bench = try Bench()
            let old = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
            bench.cache.finishOpening()
            bench.files.fail(call, at: number, with: .error(EMFILE))
            let report = try? bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
            let left = try ["a", "b"].filter { try old.read(CacheKey($0)) != nil }
            #expect(try ["a", "b"].allSatisfy { try old.contains(CacheKey($0)) || bench.cache.contains(CacheKey($0)) })
            if let report, report.left > 0 { failures += 1 }
            #expect(left.isEmpty || report.map { $0.left > 0 || $0 == DiskMove() } ?? true, "call \(number)")
        }
        #expect(failures > 0)
    }

    /// The new file was once not in the index, so the limit did not count it.
    @Test func entriesCopiedFromAReadOnlyDiskAreCounted() throws {
        let bench = try Bench()
        let old = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
        bench.cache.finishOpening()
        bench.files.failAll(.rename, with: .error(EXDEV))
        let shown = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(shown == move(left: 2), "nothing gets its name")
        bench.files.heal()
        for number in [0, 2] { bench.files.fail(.rename, at: number, with: .error(EXDEV)) }
        bench.files.failAll(.remove, with: .error(EROFS))
        let report = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(report == move(left: 2))
        for key in ["a", "b"] {
            #expect(try bench.cache.contains(CacheKey(key)) && old.contains(CacheKey(key)))
        }
        #expect(bench.cache.usage.count == 2 && bench.cache.fault() == nil)
        #expect(Int64(bench.cache.usage.bytes.bytes) == (try bench.allocatedBytes()))
    }

    @Test func nothingIsMovedOutOfALinkedShard() throws {
        let bench = try Bench()
        let old = try makeOld(bench.scratch, entries: ["a": [1, 2, 3], "b": [4]])
        let (path, elsewhere) = (old.defaultPath(for: CacheKey("a")), bench.scratch.path + "/elsewhere")
        try PosixFileSystem().rename(String(path.dropLast(65)), to: elsewhere)
        try #require(symlink(elsewhere, String(path.dropLast(65))) == 0)
        let report = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(report == move(1))
        #expect(exists(elsewhere + path.suffix(65)))
    }

    @Test func damagedOrExpiredEntriesAreNotMoved() throws {
        let bench = try Bench(age: .seconds(86_400))
        let now = bench.clock.wallTime
        let old = try makeOld(bench.scratch, at: now - 10, entries: ["cut": [1, 2, 3], "aged": [4], "good": [5]])
        try writeFile(old.defaultPath(for: CacheKey("cut")), [1, 2])
        try PosixFileSystem().touch(old.defaultPath(for: CacheKey("aged")), at: now - 90_000)
        try PosixFileSystem().touch(old.defaultPath(for: CacheKey("good")), at: now - 80_000)
        let moved = try bench.cache.moveEntries(from: bench.scratch.path + "/old", namespace: "default")
        #expect(moved.moved == 1 && moved.dropped == 2 && bench.cache.usage.count == 1)
        bench.clock.advance(by: .seconds(6_500))
        #expect(try bench.cache.read(CacheKey("good")) == nil, "it has aged all the way")
    }

    @Test func aMoveDropsKeysWhereTheyAreNotKept() throws {
        let scratch = try Scratch()
        _ = try makeOld(scratch, entries: ["a secret": [1, 2, 3]])
        var configuration = DiskCacheConfiguration(
            directory: scratch.path + "/cache", limits: .init(bytes: .mebibytes(64), age: nil))
        configuration.keepsKeys = false
        let cache = DiskCache(
            configuration, executor: HeldExecutor(), clock: ManualClock(), files: PosixFileSystem())
        #expect(try cache.moveEntries(from: scratch.path + "/old", namespace: "default").moved == 1)
        #expect(try cache.read(CacheKey("a secret"))?.body == [1, 2, 3])
        let bytes = try readFile(cache.defaultPath(for: CacheKey("a secret")))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("a secret"))
    }
}
