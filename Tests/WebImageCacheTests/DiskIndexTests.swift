import Glibc
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// The index that is written down is a cache of the directory: it saves work and is never believed against it.
struct DiskIndexTests {
    private func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 255), count: 100 + number) }

    /// A cache with entries and its index written down, as after some quiet seconds.
    private func makeBench(_ count: Int = 40) throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        for number in 0..<count { try bench.cache.store(CacheKey("\(number)"), body(number), metadata(number)) }
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        return bench
    }

    private func indexPath(_ bench: Bench) -> String { bench.versionDirectory + "/index.sqlite" }

    private func expectAll(_ bench: Bench, _ count: Int = 40, _ note: String = "") throws {
        bench.executor.runAll()
        #expect(bench.cache.usage.count == count, "\(note)")
        #expect(bench.cache.usage.bytes.bytes == count * 4096, "\(note)")
        #expect(bench.cache.fault() == nil, "\(note)")
        for number in 0..<count {
            #expect(try bench.cache.read(CacheKey("\(number)"))?.body == body(number), "\(note)")
        }
    }

    @Test func whatIsWrittenDownNeedNotBeLookedAt() throws {
        let bench = try makeBench()
        let again = try bench.reopened()
        again.executor.runOne()
        let shards = again.files.count(of: .status)
        // A status for each shard and for the files of the cache itself, and no entry is looked at.
        #expect(again.cache.usage.count == 40 && again.cache.usage.isComplete)
        #expect(again.files.count(of: .names) == 1)
        #expect(shards <= 40 + 5)
        try expectAll(again)
    }

    /// The directories of an index that is lost are looked at by as many threads as have time.
    @Test(arguments: [1, 2, 4])
    func aLostIndexIsFoundAgainByAllThreadsThereAre(threads: Int) throws {
        let bench = try makeBench(400)
        let temporary = try #require(try bench.cache.path(for: CacheKey("3"))).dropLast(64) + ".77-other-1"
        try writeFile(String(temporary), body(5))
        try PosixFileSystem().touch(String(temporary), at: bench.clock.wallTime)
        try PosixFileSystem().remove(indexPath(bench))
        let limits = DiskCacheConfiguration.Limits(bytes: .mebibytes(64), age: nil)
        let configuration = DiskCacheConfiguration(directory: bench.directory, limits: limits)
        let cache = DiskCache(
            configuration, executor: ThreadPool(name: "t", width: threads), clock: bench.clock)
        cache.finishOpening()
        #expect(cache.usage.count == 400 && cache.usage.isComplete)
        #expect(cache.usage.bytes.bytes == 401 * 4096)
        #expect(cache.fault() == nil)
        for number in 0..<400 { #expect(try cache.read(CacheKey("\(number)"))?.body == body(number)) }
    }

    @Test func whatChangedSinceIsLookedAt() throws {
        let bench = try makeBench()
        let path = try #require(try bench.cache.path(for: CacheKey("3")))
        try PosixFileSystem().remove(path)
        try bench.cache.store(CacheKey("new"), [1], DiskMetadata())
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.count == 40)
        #expect(try again.cache.read(CacheKey("new"))?.body == [1])
        #expect(try again.cache.read(CacheKey("3")) == nil)
    }

    @Test func aShardThatChangedJustNowIsNotWrittenDown() throws {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.files.count(of: .names) == 2)
        #expect(again.cache.usage.count == 1)
    }

    @Test func theIndexIsWrittenDownSomeTimeAfterAChange() throws {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(CacheKey("a"), [1], DiskMetadata())
        try bench.makeShardsOld()
        bench.clock.advance(by: .seconds(1))
        bench.executor.runAll()
        #expect(throws: FileFault.self) { try PosixFileSystem().status(at: indexPath(bench)) }
        bench.clock.advance(by: .seconds(1))
        bench.executor.runAll()
        #expect(try PosixFileSystem().status(at: indexPath(bench)).size > 0)
        #expect(try mode(indexPath(bench)) == 0o600)
    }

    @Test func usesAreWrittenDownWithoutTouchingFiles() throws {
        let bench = try makeBench(3)
        bench.clock.advance(by: .seconds(10))
        _ = try bench.cache.read(CacheKey("0"))
        bench.cache.flushIndex()
        #expect(bench.files.count(of: .touch) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        try again.cache.trim(to: 4096)
        #expect(try again.cache.contains(CacheKey("0")))
    }

    @Test func anEntrysOwnLifetimeIsKnownWithoutReadingIt() throws {
        let bench = try Bench()
        bench.executor.runAll()
        var short = DiskMetadata()
        short.expiresAt = bench.clock.wallTime + 10
        try bench.cache.store(CacheKey("short"), [1], short)
        try bench.cache.store(CacheKey("long"), [2], DiskMetadata())
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.clock.advance(by: .seconds(10))
        again.executor.runAll()
        #expect(again.cache.usage.count == 1)
        #expect(again.cache.statistics.evictions == 1)
    }

    @Test func hitsAndMissesOfAllProcessesAreSummedUp() throws {
        let bench = try makeBench(2)
        _ = try bench.cache.read(CacheKey("0"))
        _ = try bench.cache.read(CacheKey("none"))
        try bench.cache.store(CacheKey("x"), [1], DiskMetadata())
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runAll()
        _ = try again.cache.read(CacheKey("1"))
        #expect(again.cache.history.hits == 2 && again.cache.history.misses == 1)
    }

    @Test func aBrokenIndexCostsAScanAndNothingElse() throws {
        let bench = try makeBench()
        let path = indexPath(bench)
        let file = try readFile(path)
        var random = SeededGenerator(seed: 7)
        let garbled: [(String, [UInt8]?)] =
            [
                ("deleted", nil), ("empty", []), ("text", Array("not a database".utf8)),
                ("cut", Array(file.prefix(file.count / 2))), ("noise", random.bytes(file.count)),
            ]
            + (0..<60).map { round in
                var damaged = file
                for _ in 0...round / 10 { damaged[Int.random(in: 0..<file.count, using: &random)] ^= 0x41 }
                return ("flips \(round)", damaged)
            }
        for (name, bytes) in garbled {
            try? PosixFileSystem().remove(path)
            if let bytes { try writeFile(path, bytes) }
            let again = try bench.reopened()
            try expectAll(again, 40, name)
            // And it is written anew.
            try again.cache.store(CacheKey("1"), body(1), metadata(1))
            try again.makeShardsOld()
            again.cache.flushIndex()
            try expectAll(try bench.reopened(), 40, name + ", again")
        }
    }

    @Test func aDirectoryInThePlaceOfTheIndexIsNoHarm() throws {
        let bench = try makeBench()
        try PosixFileSystem().remove(indexPath(bench))
        try PosixFileSystem().makeDirectory(indexPath(bench))
        let again = try bench.reopened()
        try expectAll(again)
        try again.cache.store(CacheKey("1"), body(1), metadata(1))
        again.cache.flushIndex()
        try expectAll(again)
    }

    /// Homes lie behind links on many machines, and caches are put on other disks by them.
    @Test func aCacheBehindALinkHasItsIndex() throws {
        let scratch = try Scratch()
        try PosixFileSystem().makeDirectory(scratch.path + "/real")
        try #require(symlink(scratch.path + "/real", scratch.path + "/cache") == 0)
        let bench = try Bench(scratch: scratch)
        bench.executor.runAll()
        for number in 0..<3 { try bench.cache.store(CacheKey("\(number)"), body(number), metadata(number)) }
        #expect(try bench.cache.read(CacheKey("1")) != nil)
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.files.count(of: .names) == 1)
        #expect(again.cache.usage.count == 3 && again.cache.usage.isComplete)
        #expect(again.cache.history.hits == 1)
    }

    @Test(arguments: [nil, [1, 2, 3]] as [[UInt8]?])
    func aLinkInThePlaceOfTheIndexIsNotFollowed(target: [UInt8]?) throws {
        let bench = try makeBench(3)
        let path = bench.scratch.path + "/target"
        if let target { try writeFile(path, target) }
        try PosixFileSystem().remove(indexPath(bench))
        try #require(symlink(path, indexPath(bench)) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.count == 3)
        _ = try again.cache.read(CacheKey("1"))
        again.cache.flushIndex()
        #expect((try? readFile(path)) == target)
        var status = stat()
        #expect(lstat(indexPath(bench), &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }

    @Test func thousandBodiesAreDamagedAndEveryOtherOneSurvives() throws {
        let bench = try Bench()
        var random = SeededGenerator(seed: 5)
        let bodies = (0..<1000).map { _ in random.bytes(Int.random(in: 1..<3000, using: &random)) }
        for (number, body) in bodies.enumerated() {
            try bench.cache.store(CacheKey("\(number)"), body, metadata(number))
        }
        let files = PosixFileSystem()
        for number in stride(from: 0, to: 1000, by: 2) {
            let path = bench.cache.defaultPath(for: CacheKey("\(number)"))
            var file = try readFile(path)
            switch number / 2 % 4 {
            case 0: file[Int.random(in: 0..<file.count, using: &random)] ^= 1
            case 1: file.removeLast(Int.random(in: 1...file.count, using: &random))
            case 2: file = try readFile(bench.cache.defaultPath(for: CacheKey("\((number + 1) % 1000)")))
            default:
                try files.remove(path)
                continue
            }
            try writeFile(path, file)
        }
        for (number, body) in bodies.enumerated() {
            #expect(try bench.cache.read(CacheKey("\(number)"))?.body == (number % 2 == 0 ? nil : body))
        }
        #expect(bench.cache.statistics.corruptEntries == 375)
        #expect(bench.cache.usage.count == 500)
        #expect(bench.cache.fault() == nil)
    }
}
