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

/// A partial store in a directory of its own, with a clock and a file system that the test controls.
struct PartialBench {
    let scratch: Scratch
    let clock = ManualClock()
    let files = FaultyFileSystem()
    let store: PartialStore

    init(
        bytes: ByteCount = .mebibytes(8), age: Duration = .seconds(86_400), keepsKeys: Bool = true,
        scratch: Scratch? = nil
    ) throws {
        self.scratch = try scratch ?? Scratch()
        var limits = PartialStore.Limits()
        (limits.bytes, limits.age) = (bytes, age)
        var configuration = DiskCacheConfiguration(directory: self.scratch.path + "/cache")
        configuration.keepsKeys = keepsKeys
        store = PartialStore(configuration, limits: limits, clock: clock, files: files)
    }

    /// A second store on the same directory, which stands for another process.
    func neighbour(bytes: ByteCount = .mebibytes(8)) throws -> PartialBench {
        try PartialBench(bytes: bytes, scratch: scratch)
    }

    var directory: String { scratch.path + "/cache/default/v1/partial" }
    func path(_ key: CacheKey) -> String { directory + "/" + KeyDigest.hex(key.text) + ".part" }

    /// Keeps the first `count` bytes of a key's body, `piece` at a time.
    @discardableResult
    func keep(_ key: CacheKey, _ count: Int, piece: Int = 10_000, metadata: [UInt8] = [7]) -> Bool {
        guard let body = store.claim(key, creates: true), body.restart(metadata: metadata) else { return false }
        defer { body.release() }
        return grow(body, key, to: count, piece: piece)
    }

    func grow(_ body: any PartialBody, _ key: CacheKey, to count: Int, piece: Int = 10_000) -> Bool {
        while body.length < count {
            let part = content(key, body.length..<min(body.length + piece, count))
            guard part.withUnsafeBytes({ body.append($0) }) else { return false }
        }
        return true
    }

    /// The bytes of a key's body in a range.
    func content(_ key: CacheKey, _ range: Range<Int>) -> [UInt8] {
        range.map {
            UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13 ^ key.text.utf8.count ^ Int(key.text.utf8.last ?? 0))
        }
    }

    /// The number of bytes that are kept for a key, or nil if they are not the first ones of its body.
    func kept(_ key: CacheKey) throws -> Int? {
        guard let body = store.claim(key, creates: false) else { return 0 }
        defer { body.release() }
        var offset = 0
        while offset < body.length {
            let bytes = try body.read(at: offset)
            guard !bytes.isEmpty, bytes == content(key, offset..<offset + bytes.count) else { return nil }
            offset += bytes.count
        }
        return offset
    }
}

@Suite struct PartialStoreTests {
    private let key = CacheKey("https://example.org/a")

    @Test func aBeginningIsThereAgainAfterARestart() throws {
        let bench = try PartialBench()
        #expect(bench.keep(key, 123_456, metadata: [1, 2, 3]))
        let later = try bench.neighbour()
        let body = try #require(later.store.claim(key, creates: false))
        #expect(body.metadata == [1, 2, 3])
        #expect(body.length == 123_456)
        for offset in [0, 1, 9_999, 10_000, 10_001, 123_455] {
            let bytes = try body.read(at: offset)
            #expect(!bytes.isEmpty && bytes == later.content(key, offset..<offset + bytes.count))
        }
        #expect(try body.read(at: 123_456) == [] && body.read(at: -1) == [] && body.read(at: .max) == [])
    }

    @Test func aClaimGoesOnWhereTheLastOneEnded() throws {
        let bench = try PartialBench()
        bench.keep(key, 50_000)
        for count in [50_001, 70_000, 200_000] {
            let body = try #require(try bench.neighbour().store.claim(key, creates: false))
            #expect(bench.grow(body, key, to: count, piece: 777))
            body.release()
            #expect(try bench.kept(key) == count)
        }
    }

    @Test func aClaimIsExclusive() throws {
        let bench = try PartialBench()
        bench.keep(key, 1000)
        let other = try bench.neighbour()
        let body = try #require(bench.store.claim(key, creates: false))
        #expect(bench.store.claim(key, creates: true) == nil)
        #expect(other.store.claim(key, creates: true) == nil)
        #expect(other.store.claim(CacheKey("b"), creates: true) != nil)
        body.release()
        let second = try #require(other.store.claim(key, creates: false))
        second.discard()
        #expect(bench.store.claim(key, creates: false) == nil)
    }

    @Test func aBeginningIsRemoved() throws {
        let bench = try PartialBench()
        bench.keep(key, 1000)
        #expect(try bench.store.remove(key) && !bench.store.remove(key))
        #expect(bench.store.usedBytes == .zero && bench.store.claim(key, creates: false) == nil)
    }

    /// Otherwise the bytes would be on disk again when their transfer releases them.
    @Test(arguments: ["remove", "removeAll", "neighbour"], [true, false])
    func aClaimedBeginningIsRemovedAndStoresNothingMore(by way: String, isReleased: Bool) throws {
        let bench = try PartialBench()
        bench.keep(key, 1000)
        let body = try #require(bench.store.claim(key, creates: false))
        switch way {
        case "remove": #expect(try bench.store.remove(key) && !bench.store.remove(key))
        case "removeAll": try bench.store.removeAll()
        default: try bench.neighbour().store.removeAll()
        }
        #expect(bench.store.usedBytes == .zero)
        // Its transfer may still read it, but takes no room for more.
        #expect(try body.read(at: 0).count == 1000 && !bench.grow(body, key, to: 600_000))
        // Another transfer begins anew, and the end of the first one leaves it alone.
        let next = try #require(bench.store.claim(key, creates: true))
        #expect(next.length == 0 && next.restart(metadata: [8]) && bench.grow(next, key, to: 2000))
        if isReleased { body.release() } else { body.discard() }
        next.release()
        #expect(try bench.kept(key) == 2000)
    }

    @Test(arguments: [true, false])
    func beginningsOfOtherUsersAreRemovedWhereKeysAreKept(keepsKeys: Bool) throws {
        let bench = try PartialBench(keepsKeys: keepsKeys)
        let theirs = CacheKey(key.text + String(CacheKey.partSeparator) + "someone")
        let longer = CacheKey(key.text + "b")
        for key in [key, theirs, longer] { bench.keep(key, 1000) }
        let (count, failure) = bench.store.removeAll(of: key)
        #expect(count == (keepsKeys ? 2 : 1) && failure == nil)
        #expect(try bench.kept(theirs) == (keepsKeys ? 0 : 1000))
        #expect(try bench.kept(key) == 0 && bench.kept(longer) == 1000)
    }

    /// One that could not be read was once passed over in silence, and one that could not be removed ended the search.
    @Test func aBeginningThatCannotBeReadIsToldAfterTheOthersAreRemoved() throws {
        let bench = try PartialBench()
        let theirs = CacheKey(key.text + String(CacheKey.partSeparator) + "someone")
        for key in [key, theirs] { bench.keep(key, 1000) }
        // The other one is not opened, because its name says enough.
        bench.files.fail(.open, at: 0, with: .error(EACCES))
        let (count, failure) = bench.store.removeAll(of: key)
        #expect(count == 1 && failure != nil)
        #expect(try bench.kept(key) == 0 && bench.kept(theirs) == 1000)
    }

    @Test func aClaimThatIsLetGoIsReleased() throws {
        let bench = try PartialBench()
        do {
            let body = try #require(bench.store.claim(key, creates: true))
            #expect(body.restart(metadata: [9]))
            #expect(bench.grow(body, key, to: 5000))
        }
        #expect(try bench.kept(key) == 5000)
    }

    @Test func anEndedClaimDoesNothing() throws {
        let bench = try PartialBench()
        let body = try #require(bench.store.claim(key, creates: true))
        #expect(body.restart(metadata: [1]))
        body.discard()
        #expect(!body.restart(metadata: [2]))
        #expect(![1, 2, 3].withUnsafeBytes { body.append($0) })
        #expect(try body.read(at: 0) == [])
        body.release()
        #expect(try PosixFileSystem().names(in: bench.directory).filter { $0.hasSuffix(".part") } == [])
    }

    @Test func aNewBeginningForgetsTheOldOne() throws {
        let bench = try PartialBench()
        bench.keep(key, 90_000, metadata: [1])
        let body = try #require(bench.store.claim(key, creates: true))
        #expect(body.restart(metadata: [2, 2]))
        #expect(body.length == 0 && body.metadata == [2, 2])
        #expect(bench.grow(body, key, to: 10))
        body.release()
        let again = try #require(bench.store.claim(key, creates: false))
        #expect(again.length == 10 && again.metadata == [2, 2])
    }

    @Test func nothingIsLeftOfAClaimThatKeptNothing() throws {
        let bench = try PartialBench()
        try #require(bench.store.claim(key, creates: true)).release()
        let body = try #require(bench.store.claim(key, creates: true))
        #expect(body.restart(metadata: [1]))
        body.release()
        #expect(try PosixFileSystem().names(in: bench.directory).filter { $0.hasSuffix(".part") } == [])
        #expect(bench.store.claim(key, creates: false) == nil)
    }

    @Test func mayHaveKnowsTheKeysAfterPrepare() throws {
        let bench = try PartialBench()
        #expect(bench.store.mayHave(key))
        bench.store.prepare()
        #expect(!bench.store.mayHave(key))
        bench.keep(key, 100)
        #expect(bench.store.mayHave(key))
        let other = try bench.neighbour()
        other.store.prepare()
        #expect(other.store.mayHave(key) && !other.store.mayHave(CacheKey("b")))
        other.store.claim(key, creates: false)?.discard()
        #expect(!other.store.mayHave(key))
        #expect(other.store.statistics.found == 1)
    }

    @Test func filesAreReadableByTheirOwnerOnly() throws {
        let bench = try PartialBench()
        bench.keep(key, 100)
        #expect(try mode(bench.directory) == 0o700)
        #expect(try mode(bench.path(key)) == 0o600)
    }

    @Test func aBeginningExpiresAfterADay() throws {
        let bench = try PartialBench()
        bench.keep(key, 100)
        bench.keep(CacheKey("b"), 100)
        bench.clock.advance(by: .seconds(86_399))
        #expect(try bench.kept(key) == 100)
        bench.clock.advance(by: .seconds(1))
        #expect(bench.store.claim(key, creates: false) == nil)
        #expect(bench.store.mayHave(CacheKey("b")))
        bench.store.prepare()
        #expect(!bench.store.mayHave(CacheKey("b")))
        #expect(bench.store.usedBytes == .zero)
    }

    @Test func anAgeBelowASecondCountsAsOneSecond() throws {
        let bench = try PartialBench(age: .milliseconds(1))
        bench.keep(key, 100)
        #expect(try bench.kept(key) == 100)
        bench.clock.advance(by: .seconds(1))
        #expect(try bench.kept(key) == 0)
    }

    @Test func aKeyThatIsNotToBeKeptIsNotWritten() throws {
        let bench = try PartialBench(keepsKeys: false)
        let key = CacheKey("https://example.org/private/album?token=abcdef")
        bench.keep(key, 300)
        let file = String(decoding: try readFile(bench.path(key)), as: UTF8.self)
        for start in 0..<key.text.count - 4 { #expect(!file.contains(key.text.dropFirst(start).prefix(4))) }
        let later = try PartialBench(keepsKeys: false, scratch: bench.scratch)
        later.store.prepare()
        #expect(later.store.mayHave(key))
        #expect(try later.kept(key) == 300)
        try writeFile(bench.path(CacheKey("b")), readFile(bench.path(key)))
        #expect(try later.kept(CacheKey("b")) == 0)
    }

    @Test func beginningsWithKeysGoWhereKeysAreNotKept() throws {
        let bench = try PartialBench()
        bench.keep(key, 300)
        let later = try PartialBench(keepsKeys: false, scratch: bench.scratch)
        later.store.prepare()
        #expect(!later.store.mayHave(key))
        #expect(throws: FileFault.self) { try PosixFileSystem().status(at: bench.path(key)) }
    }

    @Test func aBeginningFromTheFutureIsNone() throws {
        let bench = try PartialBench()
        bench.clock.advance(by: .seconds(90_000))
        bench.keep(key, 100)
        // The same directory, with a clock that has been set right since.
        #expect(try bench.neighbour().store.claim(key, creates: false) == nil)
    }

    @Test func theCacheLeavesBeginningsAlone() throws {
        let bench = try PartialBench()
        bench.keep(key, 5000)
        let cache = DiskCache(
            DiskCacheConfiguration(directory: bench.scratch.path + "/cache"), executor: HeldExecutor(),
            clock: bench.clock)
        _ = try cache.verify()
        try cache.removeAll()
        #expect(try bench.kept(key) == 5000)
        try bench.store.removeAll()
        #expect(try bench.kept(key) == 0)
    }
}
