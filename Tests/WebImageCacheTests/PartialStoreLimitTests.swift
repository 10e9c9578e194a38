import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCache

@Suite struct PartialStoreLimitTests {
    private func key(_ number: Int) -> CacheKey { CacheKey("https://example.org/\(number)") }

    @Test func theOldestBeginningsAreDroppedForNewOnes() throws {
        let bench = try PartialBench(bytes: .mebibytes(1))
        for number in 0..<10 {
            #expect(bench.keep(key(number), 200_000))
            #expect(bench.store.usedBytes <= .mebibytes(1))
            try PosixFileSystem().touch(bench.path(key(number)), at: ManualClock.start + Int64(number))
        }
        let kept = try (0..<10).filter { try bench.kept(key($0)) == 200_000 }
        #expect(kept == Array((10 - kept.count)..<10) && kept.count >= 3)
        #expect(bench.store.statistics.dropped == 10 - kept.count)
    }

    @Test func aClaimedBeginningIsNotDropped() throws {
        let bench = try PartialBench(bytes: .mebibytes(1))
        bench.keep(key(0), 500_000)
        let first = try #require(bench.store.claim(key(0), creates: false))
        let second = try #require(bench.store.claim(key(1), creates: true))
        #expect(second.restart(metadata: [1]))
        #expect(!bench.grow(second, key(1), to: 900_000))
        #expect(second.length > 100_000)
        #expect(bench.store.usedBytes <= .mebibytes(1))
        #expect(bench.store.statistics.refusals == 1)
        #expect(try first.read(at: 0).count == 10_000)
        first.release()
        second.release()
        #expect(try bench.kept(key(0)) == 500_000)
    }

    @Test func aBodyLargerThanTheLimitIsKeptInPart() throws {
        let bench = try PartialBench(bytes: .kibibytes(100))
        #expect(!bench.keep(key(0), 200_000, piece: 10_000))
        let kept = try #require(try bench.kept(key(0)))
        #expect((80_000..<102_400).contains(kept))
        let none = try PartialBench(bytes: .zero)
        #expect(!none.keep(key(0), 10))
        #expect(none.store.usedBytes == .zero)
    }

    @Test func aReleasedBeginningGivesBackTheRoomThatWasTakenAhead() throws {
        let bench = try PartialBench()
        bench.keep(key(0), 1000)
        #expect(bench.store.usedBytes == ByteCount(4096))
    }

    /// A random walk with two stores on one directory against a naive model: each finds no more than was kept, and the
    /// limit holds after every step.
    @Test func twoProcessesShareOneLimit() throws {
        let first = try PartialBench(bytes: .mebibytes(1))
        let second = try first.neighbour(bytes: .mebibytes(1))
        var random = SeededGenerator(seed: 77)
        var model: [Int: Int] = [:]
        var held: [(number: Int, body: any PartialBody)] = []
        for step in 0..<1500 {
            let bench = random.below(2) == 0 ? first : second
            let number = random.below(9)
            switch random.below(6) {
            case 0:
                if !held.isEmpty { held.remove(at: random.below(held.count)).body.release() }
            case 1:
                if !held.isEmpty {
                    let (number, body) = held.remove(at: random.below(held.count))
                    body.discard()
                    model[number] = nil
                }
            case 2 where held.count < 3:
                let isHeld = held.contains { $0.number == number }
                if let body = bench.store.claim(key(number), creates: true) {
                    #expect(!isHeld)
                    #expect(body.length <= model[number] ?? 0)
                    if body.metadata == nil, !body.restart(metadata: [UInt8(number)]) { continue }
                    #expect(body.metadata == [UInt8(number)])
                    held.append((number, body))
                } else {
                    #expect(isHeld)
                }
            case 3, 4:
                if let (number, body) = held.randomElement(using: &random) {
                    _ = bench.grow(body, key(number), to: body.length + random.below(90_000), piece: 20_000)
                    model[number] = max(model[number] ?? 0, body.length)
                }
            default:
                if !held.contains(where: { $0.number == number }) {
                    let kept = try #require(try bench.kept(key(number)), "step \(step)")
                    #expect(kept <= model[number] ?? 0)
                }
            }
            try #require(bench.store.usedBytes <= .mebibytes(1), "step \(step)")
        }
        #expect(first.store.statistics.dropped + second.store.statistics.dropped > 0)
        #expect(first.store.statistics.found > 0)
    }

    /// Partial bodies that were not asked for again once stayed until the next start.
    @Test(arguments: [false, true]) func oldBeginningsGoWithExpiredEntries(byItself: Bool) throws {
        let bench = try Bench()
        let store = PartialStore(
            DiskCacheConfiguration(directory: bench.directory), of: bench.cache, clock: bench.clock, files: bench.files)
        func begin(_ number: Int) throws -> any PartialBody {
            let body = try #require(store.claim(key(number), creates: true))
            #expect(body.restart(metadata: [1]) && ([1, 2, 3] as [UInt8]).withUnsafeBytes { body.append($0) })
            return body
        }
        try begin(0).release()
        let claimed = try begin(1)
        bench.clock.advance(by: .seconds(86_000))
        try begin(2).release()
        bench.clock.advance(by: .seconds(byItself ? 3600 : 500))
        if byItself { bench.executor.runAll() } else { try bench.cache.removeExpired() }
        // The claimed body, with the room that it took ahead, and the young one are left.
        #expect(store.statistics.dropped == 1 && store.usedBytes == ByteCount((256 << 10) + 4096))
        claimed.release()
        #expect(store.claim(key(2), creates: false)?.length == 3)
    }
}
