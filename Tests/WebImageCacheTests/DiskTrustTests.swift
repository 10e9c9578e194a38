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

/// A cache removes files by itself. It must not do so in directories where other users could have put files.
struct DiskTrustTests {
    private let key = CacheKey("a")

    /// A cache with an entry, after one second.
    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(key, [1, 2, 3], metadata(200))
        bench.clock.advance(by: .seconds(1))
        return bench
    }

    private func expectRefused(_ bench: Bench, _ note: String = "") throws {
        let store = #expect(throws: WebImageError.self, "\(note)") { try bench.cache.store(key, [4], metadata(1)) }
        #expect(store?.code == .readOnly && store?.message.contains("belongs to somebody else") == true, "\(note)")
        let read = #expect(throws: WebImageError.self, "\(note)") { try bench.cache.read(CacheKey("not known")) }
        #expect(read?.code == .cacheIO, "\(note)")
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.path(for: key) }
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.updateMetadata(key, metadata(2)) }
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.remove(key) }
        try bench.cache.removeExpired()
        // Clearing and inspecting the cache fail, so that no caller believes that it is empty.
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.removeAll() }
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.trim(to: 0) }
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.verify() }
        #expect(throws: WebImageError.self, "\(note)") { try bench.cache.entries() }
        bench.cache.flushIndex()
        #expect(bench.cache.fault() == nil, "\(note)")
    }

    private let folders = ["", "/default", "/default/v1", "/default/v1/owners"]

    @Test func aDirectoryThatOthersMayWriteToIsNotUsed() throws {
        for folder in folders {
            for mode in [0o770, 0o707] as [mode_t] {
                let bench = try makeBench()
                let entry = bench.cache.defaultPath(for: key)
                try #require(chmod(bench.directory + folder, mode) == 0)
                // Checked with a cache that has the directory open and with one that opens it.
                let again = try bench.reopened()
                again.executor.runAll()
                #expect(again.cache.usage.count == 0)
                try expectRefused(again, "\(folder) \(mode)")
                #expect(try readFile(entry).prefix(3) == [1, 2, 3], "nothing was touched")
                try #require(chmod(bench.directory + folder, 0o700) == 0)
                again.clock.advance(by: .seconds(1))
                try again.cache.store(CacheKey("b"), [5], metadata(1))
                #expect(try again.cache.read(key)?.body == [1, 2, 3])
                #expect(again.cache.usage.count == 2)
            }
        }
    }

    @Test func changedPermissionsOfAnOpenDirectoryAreNoticed() throws {
        let bench = try makeBench()
        try #require(chmod(bench.versionDirectory, 0o777) == 0)
        #expect(throws: WebImageError.self) { try bench.cache.store(key, [4], metadata(1)) }
        #expect(throws: WebImageError.self) { try bench.cache.read(key) }
        try #require(chmod(bench.versionDirectory, 0o700) == 0)
        bench.clock.advance(by: .seconds(1))
        #expect(try bench.cache.read(key)?.body == [1, 2, 3])
    }

    @Test func aDirectoryOfAnotherOwnerIsNotUsed() throws {
        for folder in folders {
            let bench = try makeBench()
            let again = try bench.reopened()
            again.files.setOwner(4711, of: bench.directory + folder)
            again.executor.runAll()
            try expectRefused(again, folder)
            #expect(try readFile(bench.cache.defaultPath(for: key)).prefix(3) == [1, 2, 3])
        }
    }

    /// In a directory with the sticky bit, such as /tmp, users cannot remove each other's files.
    @Test func aFolderLikeTmpIsUsed() throws {
        let bench = try makeBench()
        try #require(chmod(bench.directory, 0o1777) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(try again.cache.read(key)?.body == [1, 2, 3])
        try again.cache.store(CacheKey("b"), [5], metadata(1))
    }

    @Test func aLinkOfAnotherOwnerIsNotFollowed() throws {
        let scratch = try Scratch()
        try PosixFileSystem().makeDirectory(scratch.path + "/real")
        try #require(symlink(scratch.path + "/real", scratch.path + "/cache") == 0)
        let bench = try Bench(scratch: scratch)
        bench.files.setOwner(4711, of: bench.directory)
        bench.executor.runAll()
        try expectRefused(bench)
        #expect(try PosixFileSystem().names(in: scratch.path + "/real").isEmpty)
    }

    @Test func aLinkInThePlaceOfAFolderIsNotFollowed() throws {
        for folder in folders.dropFirst() {
            let bench = try makeBench()
            let files = PosixFileSystem()
            let elsewhere = bench.scratch.path + "/elsewhere"
            try files.rename(bench.directory + folder, to: elsewhere)
            try #require(symlink(elsewhere, bench.directory + folder) == 0)
            let again = try bench.reopened()
            again.executor.runAll()
            try expectRefused(again, folder)
        }
    }

    /// If the folder of marks was a link to a home directory, the cache once deleted the files there, because no
    /// process held locks on them.
    @Test func onlyOwnerMarksOfTheExactFormAreRemoved() throws {
        let bench = try makeBench()
        let owners = bench.versionDirectory + "/owners/"
        let shard = String(bench.cache.defaultPath(for: key).dropLast(65))
        let precious = [
            "notes.txt", "thesis-final", "12", "12-", "-ab", "12-xyz", "12-ab-3", "1-123456789", ".profile",
        ]
        for name in precious { try writeFile(owners + name, [1]) }
        let strange = [".profile", ".notes-1", ".77-ab-", ".77-ab-c", ".77-ab.jpg"]
        for name in strange { try writeFile(shard + "/" + name, [1]) }
        try writeFile(owners + "77-ab", [])
        try writeFile(shard + "/.77-ab-1", [1])
        let link = owners + "78-cd"
        try writeFile(bench.scratch.path + "/target", [1])
        try #require(symlink(bench.scratch.path + "/target", link) == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        again.clock.advance(by: .seconds(10_000_000))
        try again.cache.store(CacheKey("b"), [5], metadata(1))
        try again.cache.removeExpired()
        _ = try again.cache.verify()
        let left = try PosixFileSystem().names(in: owners)
        #expect(Set(left).isSuperset(of: precious + ["78-cd"]) && !left.contains("77-ab"))
        let inShard = try PosixFileSystem().names(in: shard)
        #expect(Set(inShard).isSuperset(of: strange) && !inShard.contains(".77-ab-1"))
        #expect(try readFile(bench.scratch.path + "/target") == [1])
    }

    /// Temporary files that a killed process left beside the shards once stayed for ever, and no limit counted them.
    @Test func temporaryFilesBesideTheEntriesAreRemovedToo() throws {
        let bench = try makeBench()
        try PosixFileSystem().makeDirectory(bench.versionDirectory + "/index")
        let abandoned = [".clock-77-ab", ".clock-12-34", "index/.78-cd-3"].map { bench.versionDirectory + "/" + $0 }
        let strange = [".clock-notes", ".clock-77-ab.txt", "index/.notes"].map { bench.versionDirectory + "/" + $0 }
        for path in abandoned + strange {
            try writeFile(path, [UInt8](repeating: 1, count: 5000))
            try PosixFileSystem().touch(path, at: bench.clock.wallTime)
        }
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(
            Int64(again.cache.usage.bytes.bytes) - (try bench.allocatedBytes()) == 4 * 8192, "the index is not listed")
        again.clock.advance(by: .seconds(10_000_000))
        try again.cache.removeExpired()
        let files = PosixFileSystem()
        #expect(abandoned.allSatisfy { (try? files.status(at: $0)) == nil })
        #expect(strange.allSatisfy { (try? files.status(at: $0)) != nil })
        #expect(Int64(again.cache.usage.bytes.bytes) - (try bench.allocatedBytes()) == 3 * 8192)
    }

    @Test func aLinkInThePlaceOfTheTotalIsNotWrittenThrough() throws {
        let bench = try makeBench()
        let target = bench.scratch.path + "/target"
        try writeFile(target, [1, 2, 3])
        try PosixFileSystem().remove(bench.versionDirectory + "/usage")
        try #require(symlink(target, bench.versionDirectory + "/usage") == 0)
        let again = try bench.reopened()
        again.executor.runAll()
        #expect(try again.cache.store(CacheKey("b"), [5], metadata(1)))
        #expect(try readFile(target) == [1, 2, 3])
    }

    @Test func aLinkInThePlaceOfAnEntryIsAMiss() throws {
        let bench = try makeBench()
        let path = bench.cache.defaultPath(for: key)
        let target = bench.scratch.path + "/target"
        try PosixFileSystem().rename(path, to: target)
        try #require(symlink(target, path) == 0)
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.cache.statistics.corruptEntries == 1 && bench.cache.usage.count == 0)
        #expect(try readFile(target).prefix(3) == [1, 2, 3])
        #expect(try bench.cache.store(key, [9], metadata(1)))
        #expect(try bench.cache.read(key)?.body == [9])
        #expect(try readFile(target).prefix(3) == [1, 2, 3])
    }

    @Test func entriesAreNotMovedOutOfADirectoryThatIsNotOurs() throws {
        let (bench, other) = (try makeBench(), try Bench())
        other.files.setOwner(4711, of: bench.directory)
        #expect(throws: WebImageError.self) {
            try other.cache.moveEntries(from: bench.directory, namespace: "default")
        }
        #expect(try bench.cache.read(key)?.body == [1, 2, 3])
    }

    @Test func foreignFilesStayWhenADirectoryIsMoved() throws {
        let (scratch, other) = (try Scratch(), try Bench())
        var paths: [String] = []
        do {
            let bench = try Bench(scratch: scratch)
            try bench.cache.store(key, [1, 2, 3], metadata(200))
            try bench.makeShardsOld()
            bench.cache.flushIndex()
            let shard = bench.cache.defaultPath(for: key).dropLast(65)
            paths = ["owners/notes.txt", "notes.txt", "index/notes.txt"].map { bench.versionDirectory + "/" + $0 }
            paths.append(shard + "/notes.txt")
        }
        for path in paths { try writeFile(path, [1]) }
        #expect(try other.cache.moveEntries(from: scratch.path + "/cache", namespace: "default").moved == 1)
        for path in paths { #expect(try readFile(path) == [1]) }
        for path in paths { try PosixFileSystem().remove(path) }
        #expect(try other.cache.moveEntries(from: scratch.path + "/cache", namespace: "default").left == 0)
        #expect(try PosixFileSystem().names(in: scratch.path).isEmpty)
    }

    @Test(arguments: ["../..", "..", ".", "", "a/../../b", "/etc", "a/b", "...", "a\u{0}b"])
    func aNamespaceCannotLeaveTheDirectory(namespace: String) throws {
        let scratch = try Scratch()
        try PosixFileSystem().makeDirectory(scratch.path + "/above")
        let directory = scratch.path + "/above/cache"
        let cache = DiskCache(
            DiskCacheConfiguration(directory: directory, namespace: namespace), executor: HeldExecutor(),
            clock: ManualClock())
        try cache.store(key, [1], metadata(1))
        #expect(try cache.read(key)?.body == [1])
        #expect(try PosixFileSystem().names(in: scratch.path) == ["above"])
        #expect(try PosixFileSystem().names(in: scratch.path + "/above") == ["cache"])
        let names = try PosixFileSystem().names(in: directory).filter { $0 != "CACHEDIR.TAG" }
        #expect(names.count == 1)
        #expect(try PosixFileSystem().names(in: "\(directory)/\(names[0])") == ["v1"])
    }

    /// Partial bodies are in the same directory.
    @Test func beginningsAreNotKeptWhereOthersMayWrite() throws {
        let bench = try makeBench()
        let store = PartialStore(DiskCacheConfiguration(directory: bench.directory), clock: bench.clock)
        store.claim(key, creates: true)?.discard()
        try #require(chmod(bench.versionDirectory, 0o777) == 0)
        #expect(store.claim(key, creates: true) == nil)
        #expect(store.statistics.faults == 1)
    }
}
