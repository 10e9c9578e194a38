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

/// The shard directories deserve no more trust than the directory that holds them.
struct DiskShardTrustTests {
    private let key = CacheKey("a")
    private let files = PosixFileSystem()

    /// Makes a folder of the user's, with a file named like the key's entry, and puts a link to it in the shard's
    /// place.
    private func linkShard(of bench: Bench) throws -> (folder: String, link: String, shared: String) {
        let folder = bench.scratch.path + "/precious"
        let path = bench.cache.defaultPath(for: key)
        let link = String(path.dropLast(65))
        let shared = folder + path.dropFirst(link.count)
        try files.makeDirectory(folder)
        for name in [folder + "/notes.txt", folder + "/.77-ab-1", shared] {
            try writeFile(name, [1, 2, 3])
            try files.touch(name, at: 1)
        }
        if (try? files.status(at: link)) != nil { try files.rename(link, to: bench.scratch.path + "/old") }
        try #require(symlink(folder, link) == 0)
        return (folder, link, shared)
    }

    private func expectUntouched(_ folder: String, _ note: Comment) throws {
        let names = try files.names(in: folder)
        #expect(names.count == 3, note)
        for name in names {
            let path = folder + "/" + name
            #expect(try readFile(path) == [1, 2, 3], note)
            #expect(try files.status(at: path).modified == 1, note)
        }
    }

    /// Opening the cache once expired files behind the link, and `verify` removed all others there as orphans.
    @Test func filesBehindALinkedShardAreLeftAlone() throws {
        for open in [true, false] {
            let bench = try Bench(age: .seconds(60))
            if open { bench.executor.runAll() }
            try bench.cache.store(CacheKey("other"), [4], metadata(1))
            // Files get their dates from the machine's clock, so the date is set to the test's.
            try files.touch(bench.cache.defaultPath(for: CacheKey("other")), at: bench.clock.wallTime)
            let (folder, link, _) = try linkShard(of: bench)
            let again = open ? bench : try bench.reopened(age: .seconds(60))
            again.executor.runAll()
            again.clock.advance(by: .seconds(1))
            #expect(again.cache.usage.count == 1)
            try expectUntouched(folder, "opened")
            _ = try again.cache.verify()
            try again.cache.removeExpired()
            again.cache.flushIndex()
            try expectUntouched(folder, "verified")
            try again.cache.trim(to: 0)
            try again.cache.removeAll()
            try expectUntouched(folder, "removed")
            #expect(try files.linkStatus(at: link).isLink, "nothing had to be written there")
            #expect(try again.cache.entries().isEmpty)
        }
    }

    @Test func aStoreTakesAwayTheLinkInTheShardsPlace() throws {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(CacheKey("other"), [4], metadata(1))
        let (folder, link, _) = try linkShard(of: bench)
        #expect(try bench.cache.store(key, [5], metadata(1)))
        #expect(try bench.cache.read(key)?.body == [5])
        #expect(try files.linkStatus(at: link).isLink == false)
        try expectUntouched(folder, "stored")
    }

    @Test func noEntryIsReadOrChangedOrRemovedThroughALink() throws {
        for isKnown in [true, false] {
            let bench = try Bench()
            try bench.cache.store(key, [4], metadata(1))
            let entry = try readFile(bench.cache.defaultPath(for: key))
            let actions: [(DiskCache) throws -> Bool] = [
                { cache in try cache.read(key) != nil },
                { cache in try cache.readMetadata(key) != nil },
                { cache in try cache.path(for: key) != nil },
                { cache in try cache.updateMetadata(key, metadata(2)) },
                { cache in try cache.remove(key) },
            ]
            for action in actions {
                let bench = try Bench()
                if isKnown { try bench.cache.store(key, [4], metadata(1)) } else { bench.cache.finishOpening() }
                try files.makeDirectory(bench.directory)
                try files.makeDirectory(bench.directory + "/default")
                try files.makeDirectory(bench.versionDirectory)
                let (folder, _, shared) = try linkShard(of: bench)
                // An intact entry of the key, which would be found if the link were followed.
                try writeFile(shared, entry)
                bench.clock.advance(by: .seconds(1))
                #expect(try action(bench.cache) == false)
                #expect(try readFile(shared) == entry)
                #expect(try files.names(in: folder).count == 3)
            }
        }
    }

    @Test func aShardThatOthersMayChangeIsNotUsed() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1, 2, 3], metadata(1))
        let path = bench.cache.defaultPath(for: key)
        try #require(chmod(String(path.dropLast(65)), 0o777) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.count == 0)
        #expect(throws: WebImageError.self) { try again.cache.store(key, [4], metadata(1)) }
        #expect(throws: WebImageError.self) { try again.cache.remove(key) }
        #expect(try readFile(path).prefix(3) == [1, 2, 3])
    }

    /// A directory with a name of two characters that parsed as a number in another form once crashed every process
    /// that opened the cache.
    @Test func onlyTwoDigitsNameAShard() throws {
        let bench = try Bench()
        try bench.cache.store(key, [1], metadata(1))
        let strange = ["-1", "+a", "AB", "0x", "-0", "Aa", "é", "g0"]
        for name in strange { try files.makeDirectory(bench.versionDirectory + "/" + name) }
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(again.cache.usage.count == 1)
        _ = try again.cache.verify()
        try again.cache.removeAll()
        #expect(Set(try files.names(in: bench.versionDirectory)).isSuperset(of: strange))
        #expect(CacheLayout.shardNames.enumerated().allSatisfy { CacheLayout.shard(named: $1) == $0 })
    }
}
