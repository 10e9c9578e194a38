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

/// The stored index is a cache of the directory. It saves work, but where they differ, the directory is right.
struct DiskIndexTests {
    private func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 255), count: 100 + number) }

    /// A cache with entries and a stored index, as after some seconds without changes.
    private func makeBench(_ count: Int = 40) throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        for number in 0..<count { try bench.cache.store(CacheKey("\(number)"), body(number), metadata(number)) }
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        return bench
    }

    /// The path of the index file for the directories whose names begin with the given hexadecimal digit.
    private func indexPath(_ bench: Bench, _ file: Int = 0) -> String {
        "\(bench.versionDirectory)/index/\(String(file, radix: 16))"
    }

    private func indexPaths(_ bench: Bench) throws -> [String] {
        try PosixFileSystem().names(in: bench.versionDirectory + "/index").sorted()
            .map { "\(bench.versionDirectory)/index/\($0)" }
    }

    private func file(of key: String, _ bench: Bench) -> String {
        "\(bench.versionDirectory)/index/\(KeyDigest.hex(key).prefix(1))"
    }

    private func expectAll(_ bench: Bench, _ count: Int = 40, _ note: String = "") throws {
        bench.executor.runAll()
        #expect(bench.cache.usage.count == count, "\(note)")
        #expect(bench.cache.usage.bytes.bytes == count * 4096, "\(note)")
        #expect(bench.cache.fault() == nil, "\(note)")
        for number in 0..<count {
            #expect(try bench.cache.read(CacheKey("\(number)"))?.body == body(number), "\(note)")
        }
    }

    @Test func openingExaminesNoEntryThatIsInTheIndex() throws {
        let bench = try makeBench()
        let again = try bench.reopened()
        again.executor.runOne()
        let shards = again.files.count(of: .status)
        // The cache reads the status of each shard and of its own files, but of no entry.
        #expect(again.cache.usage.count == 40 && again.cache.usage.isComplete)
        #expect(again.files.count(of: .names) == 1)
        #expect(shards <= 40 + 2 * 16 + 8)
        try expectAll(again)
    }

    /// If the index is lost, as many threads as are idle list the directories.
    @Test(arguments: [1, 2, 4])
    func aLostIndexIsRebuiltByAllThreads(threads: Int) throws {
        let bench = try makeBench(400)
        let temporary = try #require(try bench.cache.path(for: CacheKey("3"))).dropLast(64) + ".77-0ded-1"
        try writeFile(String(temporary), body(5))
        try PosixFileSystem().touch(String(temporary), at: bench.clock.wallTime)
        for path in try indexPaths(bench) { try PosixFileSystem().remove(path) }
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

    @Test func changesSinceTheIndexWasWrittenAreFound() throws {
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
        #expect(throws: FileFault.self) { try PosixFileSystem().status(at: file(of: "a", bench)) }
        bench.clock.advance(by: .seconds(1))
        bench.executor.runAll()
        #expect(try PosixFileSystem().status(at: file(of: "a", bench)).size > 0)
        #expect(try mode(file(of: "a", bench)) == 0o600)
        #expect(try mode(bench.versionDirectory + "/index") == 0o700)
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
        let path = file(of: "1", bench)
        let file = try readFile(path)
        var random = SeededGenerator(seed: 7)
        let garbled: [(String, [UInt8]?)] =
            [
                ("deleted", nil), ("empty", []), ("text", Array("not an index".utf8)),
                ("cut", Array(file.prefix(file.count / 2))), ("noise", random.bytes(file.count)),
                ("followed by noise", file + random.bytes(50)),
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
            // The index is written again.
            try again.cache.store(CacheKey("1"), body(1), metadata(1))
            try again.makeShardsOld()
            again.cache.flushIndex()
            let last = try bench.reopened()
            last.executor.runOne()
            #expect(last.files.count(of: .names) == 1, "\(name), again")
            try expectAll(last, 40, name + ", again")
        }
    }

    @Test func aDirectoryInThePlaceOfTheIndexIsNoHarm() throws {
        let bench = try makeBench()
        let path = file(of: "1", bench)
        try PosixFileSystem().remove(path)
        try PosixFileSystem().makeDirectory(path)
        let again = try bench.reopened()
        try expectAll(again)
        try again.cache.store(CacheKey("1"), body(1), metadata(1))
        again.cache.flushIndex()
        try expectAll(again)
    }

    /// On many machines, home directories are links, and caches are put on other disks by links.
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
        let (path, index) = (bench.scratch.path + "/target", file(of: "1", bench))
        if let target { try writeFile(path, target) }
        try PosixFileSystem().remove(index)
        try #require(symlink(path, index) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.count == 3)
        try again.cache.store(CacheKey("1"), body(1), metadata(1))
        try again.makeShardsOld()
        again.cache.flushIndex()
        #expect((try? readFile(path)) == target)
        var status = stat()
        #expect(lstat(index, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }

    // MARK: - Writing only the changes

    private func indexLength(_ bench: Bench) throws -> Int64 {
        try indexPaths(bench).reduce(0) { try $0 + PosixFileSystem().status(at: $1).size }
    }

    /// Every shard with a hit was once written again each minute, no matter how large it was.
    @Test func aHitWritesAsMuchOfTheIndexAsItChanges() throws {
        let bench = try makeBench(400)
        let before = try indexLength(bench)
        for round in 1...10 {
            bench.clock.advance(by: .seconds(60))
            for _ in 0..<20 { _ = try bench.cache.read(CacheKey("7")) }
            bench.cache.flushIndex()
            // Each flush adds a frame with one use and a frame with the counts.
            let each: Int64 = (8 + 24 + 8) + (8 + 16 + 8)
            #expect(try indexLength(bench) == before + Int64(round) * each)
        }
        #expect(bench.files.count(of: .touch) == 0)
        let again = try bench.reopened()
        try expectAll(again, 400)
        #expect(again.cache.history.hits == 200 + 400)
        #expect(try again.cache.entries().first { $0.key == CacheKey("7") }?.lastUse == bench.clock.wallTime)
    }

    @Test func aStoreWritesAsMuchOfTheIndexAsItChanges() throws {
        let bench = try makeBench(1000)
        let before = try indexLength(bench)
        try bench.cache.store(CacheKey("new"), body(1), metadata(1))
        try bench.cache.remove(CacheKey("8"))
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let more = try indexLength(bench) - before
        #expect(more > 0 && more <= 2 * (8 + 28 + 8) + 72 + 32)
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.files.count(of: .names) == 1, "nothing is scanned")
        #expect(again.cache.usage.count == 1000)
        #expect(try again.cache.read(CacheKey("8")) == nil)
        #expect(try again.cache.read(CacheKey("new")) != nil)
        #expect(again.cache.fault() == nil)
    }

    /// An entry that has left the index must not come back from the index file.
    @Test(arguments: ["changed", "read", "stored"])
    func aRemovedEntryDoesNotComeBackFromTheIndex(what: String) throws {
        let bench = try makeBench(40)
        let key = CacheKey("7")
        switch what {
        case "changed": try bench.cache.updateMetadata(key, metadata(2))
        case "stored": try bench.cache.store(key, body(200), metadata(2))
        default: _ = try bench.cache.read(key)
        }
        try bench.cache.remove(key)
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.files.count(of: .names) == 1 && again.cache.usage.count == 39)
    }

    /// Outdated frames do not pile up in the index files.
    @Test func theIndexIsCompactedBeforeItsLengthTriples() throws {
        let bench = try makeBench(300)
        let needed = try indexLength(bench)
        for _ in 0..<60 {
            bench.clock.advance(by: .seconds(60))
            for number in 0..<300 { _ = try bench.cache.read(CacheKey("\(number)")) }
            bench.cache.flushIndex()
            #expect(try indexLength(bench) <= 2 * needed + 16 * (16 << 10) + 300 * 24)
        }
        try expectAll(try bench.reopened(), 300)
    }

    /// Sets changed directories to different old dates, so that a later change is noticed.
    private func makeChangedShardsOld(_ bench: Bench, _ step: Int) throws {
        let files = PosixFileSystem()
        for name in try files.names(in: bench.versionDirectory) where name.utf8.count == 2 {
            let path = "\(bench.versionDirectory)/\(name)"
            guard try files.status(at: path).modified > bench.clock.wallTime - 1_000_000 else { continue }
            try files.touch(path, at: bench.clock.wallTime - 50_000_000 + Int64(step))
        }
    }

    /// Two caches write to the same index files by turns, and each finds what the other has written.
    @Test func twoCachesKeepOneIndex() throws {
        let first = try makeBench(60)
        let second = try first.reopened()
        second.executor.runAll()
        var random = SeededGenerator(seed: 3)
        var expected = Dictionary(uniqueKeysWithValues: (0..<60).map { ("\($0)", body($0)) })
        for step in 0..<60 {
            let bench = step % 2 == 0 ? first : second
            for _ in 0..<4 {
                let number = Int(random.next() % 90)
                if random.next() % 3 == 0 {
                    try bench.cache.remove(CacheKey("\(number)"))
                    expected["\(number)"] = nil
                } else {
                    try bench.cache.store(CacheKey("\(number)"), body(number), metadata(number))
                    expected["\(number)"] = body(number)
                }
            }
            if random.next() % 2 == 0 {
                try makeChangedShardsOld(bench, step)
                bench.cache.flushIndex()
            }
            if step % 10 == 9 {
                let again = try first.reopened()
                again.executor.runAll()
                #expect(again.cache.usage.count == expected.count, "step \(step)")
                for (key, bytes) in expected { #expect(try again.cache.read(CacheKey(key))?.body == bytes) }
                #expect(again.cache.fault() == nil)
            }
        }
    }

    @Test func anIndexThatCannotBeWrittenIsWrittenTheNextTime() throws {
        let bench = try makeBench(40)
        try bench.cache.store(CacheKey("new"), body(1), metadata(1))
        try bench.makeShardsOld()
        bench.files.failAll(.write, with: .torn(30, 28))
        bench.cache.flushIndex()
        bench.files.heal()
        try bench.makeShardsOld()
        bench.cache.flushIndex()
        let again = try bench.reopened()
        again.executor.runOne()
        #expect(again.files.count(of: .names) == 1)
        #expect(again.cache.usage.count == 41)
    }

    /// A directory that could not be listed, because no file descriptors were left, once counted as empty.
    @Test func aDirectoryThatCannotBeListedIsLookedAtAgain() throws {
        let bench = try makeBench(40)
        for path in try indexPaths(bench) { try PosixFileSystem().remove(path) }
        let again = try bench.reopened()
        // Listing 0 is that of the shards themselves, so the failing ones are those of single shards.
        for number in 1...5 { again.files.fail(.names, at: number, with: .error(EMFILE)) }
        again.executor.runOne()
        #expect(again.cache.usage.count < 40)
        again.files.heal()
        try again.cache.store(CacheKey("new"), body(1), metadata(1))
        #expect(again.cache.usage.count == 41)
    }
}
