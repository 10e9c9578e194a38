import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A further tier that is slow, refuses calls, or is no longer asked.
@Suite struct TierTroubleTests {
    private let clock = ManualClock()
    private let key = CacheKey("a")

    private func makeTier(_ tier: MemoryTier) -> FurtherTier {
        let bench = TestBench(clock: clock)
        return FurtherTier(
            tier, bench.manager.loader.decoding, executor: ThreadPool(name: "tier", width: 1),
            logger: LogBook().logger)
    }

    private func finish(_ tier: FurtherTier) async {
        let gate = Gate()
        tier.whenIdle { gate.open() }
        await gate.opened()
    }

    /// The answers once came on Swift's own threads, and at a deadline on the clock's, which callers' closures could block.
    @Test func changesAreAnsweredOnTheExecutor() async throws {
        let (bench, executor) = (TestBench(clock: clock), SeededExecutor())
        let tier = MemoryTier()
        let answers = Guarded(0)
        let further = FurtherTier(
            tier, bench.manager.loader.decoding, executor: executor, logger: LogBook().logger)
        further.remove(key) { answers.withLock { $0 += 1 } }
        await finish(further)
        #expect(tier.count(.remove) == 1 && answers.withLock { $0 } == 0)
        #expect(executor.runOne { _ in 0 } && answers.withLock { $0 } == 1)
        tier.setTrouble { _ in .waits }
        further.renew(key, { $0 }) { answers.withLock { $0 += 1 } }
        #expect(await eventually { tier.count(.renew) == 1 })
        clock.advance(by: .seconds(5))
        await finish(further)
        #expect(answers.withLock { $0 } == 1 && executor.runOne { _ in 0 } && answers.withLock { $0 } == 2)
    }

    /// Each refused change once began the next one recursively, so that thousands of them overflowed the stack.
    @Test func thousandsOfWaitingChangesAreRefusedOneAfterTheOther() async {
        let tier = MemoryTier()
        let further = makeTier(tier)
        // The calls end only after all of them were late, because a call that ended before the tier is given up would
        // make room for another.
        tier.setTrouble { _ in .waitsStubbornly }
        for number in 0..<9_900 { further.put([1], DiskMetadata(), for: CacheKey("\(number)")) }
        #expect(await eventually { tier.count(.put) == 32 })
        clock.advance(by: tier.changeDeadline)
        tier.open()
        await finish(further)
        #expect(tier.count(.put) == 32)
    }

    @Test func aBodyTooLongForATierRemovesItsOlderEntry() async throws {
        let tier = MemoryTier(longestBody: ByteCount(10))
        let further = makeTier(tier)
        further.put([UInt8](repeating: 1, count: 10), DiskMetadata(), for: key)
        await finish(further)
        #expect(tier.entries.count == 1)
        // The tier's entry is older than the refused one.
        further.put([UInt8](repeating: 2, count: 11), DiskMetadata(), for: key)
        await finish(further)
        #expect(tier.entries.isEmpty && tier.calls == [.put, .remove])
    }

    /// After five answers that were too long, a working storage was once no longer asked.
    @Test func aTierThatRefusesCallsIsNotGivenUp() async {
        let tier = MemoryTier()
        let further = makeTier(tier)
        for (trouble, wanted) in [(MemoryTier.Trouble.refuses, 12), (.fails, 5)] {
            let before = tier.count(.put)
            tier.setTrouble { _ in trouble }
            for _ in 0..<12 {
                further.put([1], DiskMetadata(), for: key)
                await finish(further)
            }
            #expect(tier.count(.put) - before == wanted)
        }
    }

    @Test func aRefusedRemovalsErrorSaysWhatWasNotRemoved() async throws {
        let tier = MemoryTier()
        let further = makeTier(tier)
        tier.setTrouble { _ in .waitsStubbornly }
        for number in 0..<10_032 { further.put([], DiskMetadata(), for: CacheKey("\(number)")) }
        let error = await #expect(throws: WebImageError.self) { try await further.remove(CacheKey("other")) }
        #expect(error?.message.contains("an original was not removed there") == true)
        #expect(await eventually { tier.count(.put) == 32 })
        clock.advance(by: tier.changeDeadline)
        tier.open()
        await finish(further)
    }
}
