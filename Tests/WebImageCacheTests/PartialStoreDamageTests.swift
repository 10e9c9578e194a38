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

@Suite struct PartialStoreDamageTests {
    private let key = CacheKey("https://example.org/a")

    /// A killed process leaves the file as it is at that moment, without releasing it.
    @Test func aProcessKilledAtAnyMomentLeavesAValidBeginning() throws {
        let bench = try PartialBench()
        let body = try #require(bench.store.claim(key, creates: true))
        #expect(body.restart(metadata: [5]))
        for count in stride(from: 3000, through: 60_000, by: 3000) {
            #expect(bench.grow(body, key, to: count, piece: 3000))
            let other = try PartialBench()
            other.keep(key, 1)
            try writeFile(other.path(key), readFile(bench.path(key)))
            #expect(try other.kept(key) == count)
        }
    }

    @Test func aFileThatIsCutAnywhereGivesAPrefix() throws {
        let bench = try PartialBench()
        bench.keep(key, 4000, piece: 1000)
        let whole = try readFile(bench.path(key))
        var seen: Set<Int> = []
        for length in stride(from: 0, to: whole.count, by: 13) {
            try writeFile(bench.path(key), Array(whole[..<length]))
            let kept = try #require(try bench.kept(key), "cut at \(length)")
            seen.insert(kept)
        }
        #expect(seen == [0, 1000, 2000, 3000])
    }

    @Test func everyFlippedBitIsFound() throws {
        let bench = try PartialBench()
        bench.keep(key, 3000, piece: 1000)
        let whole = try readFile(bench.path(key))
        var random = SeededGenerator(seed: 11)
        for _ in 0..<400 {
            try writeFile(bench.path(key), whole.withFlippedBits(1 + random.below(3), by: &random))
            let kept = try #require(try bench.kept(key))
            #expect(kept < 3000)
        }
    }

    @Test func aFileWithAnotherKeyIsNotFound() throws {
        let bench = try PartialBench()
        let other = CacheKey("https://example.org/b")
        bench.keep(key, 3000)
        bench.keep(other, 10)
        try writeFile(bench.path(other), readFile(bench.path(key)))
        #expect(bench.store.claim(other, creates: false) == nil)
    }

    @Test func aChangeAfterTheClaimIsFoundOnReading() throws {
        let bench = try PartialBench()
        bench.keep(key, 3000, piece: 1000)
        let whole = try readFile(bench.path(key))
        let body = try #require(bench.store.claim(key, creates: false))
        var changed = whole
        changed[whole.count - 1] ^= 1
        try writeFile(bench.path(key), changed)
        #expect(try body.read(at: 0) == bench.content(key, 0..<1000))
        let error = #expect(throws: WebImageError.self) { try body.read(at: 2500) }
        #expect(error?.code == .corruptEntry)
    }

    /// After a torn frame, the next claim continues from the frames before it and adds good ones.
    @Test func aTornWriteCostsOneFrame() throws {
        for torn in [0, 1, 5, 500, 999] {
            let bench = try PartialBench()
            let body = try #require(bench.store.claim(key, creates: true))
            #expect(body.restart(metadata: [1]))
            #expect(bench.grow(body, key, to: 2000, piece: 1000))
            bench.files.fail(.write, at: 0, with: .torn(torn, EIO))
            #expect(!bench.grow(body, key, to: 3000, piece: 1000))
            // Nothing is added after a gap.
            #expect(!bench.grow(body, key, to: 4000, piece: 1000))
            body.release()
            #expect(try bench.kept(key) == 2000)
            #expect(bench.store.statistics.faults == 1)
            let again = try #require(bench.store.claim(key, creates: false))
            #expect(bench.grow(again, key, to: 5000, piece: 1000))
            again.release()
            #expect(try bench.kept(key) == 5000)
        }
    }

    /// Runs the life of a partial body once for each call to the file system, with that call failing.
    @Test func aFailureOfAnyFileCallKeepsAValidBeginning() throws {
        var number = 0
        while true {
            let bench = try PartialBench()
            bench.files.fail(at: number, with: .error(EIO))
            bench.keep(key, 2500, piece: 1000)
            if let body = bench.store.claim(key, creates: false) {
                _ = bench.grow(body, key, to: 4000, piece: 1000)
                body.release()
            }
            let isOver = bench.files.callCount <= number
            bench.files.heal()
            let kept = try #require(try bench.kept(key), "call \(number)")
            #expect(kept <= 4000)
            if isOver {
                #expect(kept == 4000)
                break
            }
            number += 1
        }
        #expect(number > 20)
    }

    @Test func aFullDiskKeepsTheBytesWrittenBefore() throws {
        let bench = try PartialBench()
        bench.files.fillUp(after: 12_345)
        #expect(!bench.keep(key, 50_000, piece: 1000))
        bench.files.heal()
        let kept = try #require(try bench.kept(key))
        #expect(kept > 0 && kept < 12_345)
    }

    @Test func aDirectoryThatCannotBeMadeIsNoReasonToFail() throws {
        let bench = try PartialBench()
        bench.files.failAll(.makeDirectory, with: .error(EROFS))
        #expect(bench.store.claim(key, creates: true) == nil)
        #expect(bench.store.statistics.faults == 1)
        bench.store.prepare()
        #expect(!bench.store.mayHave(key))
    }
}
