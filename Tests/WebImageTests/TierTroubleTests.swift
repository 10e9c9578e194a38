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

    private final class Reader: TierReader {
        let isAbandoned: Bool

        init(isAbandoned: Bool = false) { self.isAbandoned = isAbandoned }

        var owner: AnyObject { self }
        var priority: LoadPriority { .normal }
        var makesPicture: Bool { true }
    }

    /// The answer to a read.
    private final class Answer: Sendable {
        private let isFound = Guarded<Bool?>(nil)

        /// Whether an entry was found; nil until the read is answered.
        var value: Bool? { isFound.withLock { $0 } }

        func set(_ value: Bool) { isFound.withLock { $0 = value } }
    }

    /// Reads an entry's metadata.
    private func read(_ tier: FurtherTier, for reader: Reader = Reader()) -> Answer {
        let answer = Answer()
        tier.find(key, .metadata, for: reader) { answer.set($0 != nil) }
        return answer
    }

    /// A tier that has the entry, and as many reads that hang as may run at a time.
    private func busyTier() async -> (MemoryTier, FurtherTier, running: [Answer]) {
        let tier = MemoryTier()
        let further = makeTier(tier)
        further.put([1], DiskMetadata(), for: key)
        await finish(further)
        tier.setTrouble { $0 == .metadata ? .waits : .none }
        return (tier, further, (0..<32).map { _ in read(further) })
    }

    @Test func aReadWaitsForOthersUntilItsDeadlineOnly() async {
        let tier = MemoryTier()
        let further = makeTier(tier)
        tier.setTrouble { _ in .waitsStubbornly }
        let running = (0..<32).map { _ in read(further) }
        clock.advance(by: .milliseconds(30))
        let waiting = (0..<8).map { _ in read(further) }
        #expect(await eventually { tier.count(.metadata) == 32 })
        #expect((running + waiting).allSatisfy { $0.value == nil })
        clock.advance(by: .milliseconds(20))
        #expect(await eventually { running.allSatisfy { $0.value == false } })
        #expect(waiting.allSatisfy { $0.value == nil })
        // The circuit is open now: further reads do not wait.
        let refused = read(further)
        #expect(await eventually { refused.value == false })
        clock.advance(by: .milliseconds(30))
        #expect(await eventually { waiting.allSatisfy { $0.value == false } })
        tier.open()
        #expect(tier.count(.metadata) == 32)
    }

    @Test func aReadWhoseReaderHasLeftDoesNotAskTheTier() async throws {
        let (tier, further, running) = await busyTier()
        let left = (0..<5).map { _ in read(further, for: Reader(isAbandoned: true)) }
        let last = read(further)
        #expect(await eventually { tier.count(.metadata) == 32 })
        tier.setTrouble { _ in .none }
        tier.open()
        #expect(await eventually { (running + [last]).allSatisfy { $0.value == true } })
        #expect(left.allSatisfy { $0.value == nil } && tier.count(.metadata) == 33)
    }

    /// A read that had to wait for others has less time than the tier may take. Such reads once would have counted
    /// against the tier.
    @Test func aTierIsNotBlamedForReadsThatWaited() async throws {
        let (tier, further, running) = await busyTier()
        let waiting = (0..<10).map { _ in read(further) }
        #expect(await eventually { tier.count(.metadata) == 32 })
        clock.advance(by: .milliseconds(40))
        tier.open()
        #expect(await eventually { running.allSatisfy { $0.value == true } && tier.count(.metadata) == 42 })
        clock.advance(by: .milliseconds(10))
        #expect(await eventually { waiting.allSatisfy { $0.value == false } })
        tier.setTrouble { _ in .none }
        let next = read(further)
        #expect(await eventually { next.value == true })
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

    /// A tier's call that never ended once kept later stores of its key, and everyone who waited for them, for ever.
    @Test func aCallThatNeverEndsHoldsNobodyUp() async {
        let tier = MemoryTier()
        tier.setTrouble { $0 == .put ? .waitsStubbornly : .none }
        let further = makeTier(tier)
        let stored = Gate()
        further.put([1], DiskMetadata(), for: key)
        #expect(await eventually { tier.count(.put) == 1 })
        further.reserve(key, nil, DiskMetadata())
            .write(ByteLog(bytes: [2]), DiskMetadata(), .normal, progress: {}, then: { _ in stored.open() })
        clock.advance(by: .seconds(5))
        #expect(!stored.isOpen, "the call was cancelled, and may end")
        clock.advance(by: .seconds(5))
        await stored.opened()
        await finish(further)
        tier.open()
        #expect(tier.count(.put) == 1)
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

    /// A tier that has not asked its storage, for example because its own circuit is open, was once blamed for it.
    @Test(arguments: [WebImageError.Code.circuitOpen, .queueFull, .shutDown])
    func aTierThatDidNotAskItsStorageIsNotGivenUp(_ code: WebImageError.Code) async {
        let tier = MemoryTier()
        let further = makeTier(tier)
        tier.setTrouble { _ in .failsWith(code) }
        for _ in 0..<12 {
            further.put([1], DiskMetadata(), for: key)
            await finish(further)
        }
        #expect(tier.count(.put) == 12)
    }

    /// Another program removes an entry while this one stores it. The store once brought the entry back.
    @Test func aStoreThatRunsDuringARemovalElsewhereIsUndone() async throws {
        let tier = MemoryTier()
        let further = makeTier(tier)
        tier.setTrouble { $0 == .put ? .waits : .none }
        further.put([1], DiskMetadata(), for: key)
        #expect(await eventually { tier.count(.put) == 1 })
        further.put([2], DiskMetadata(), for: key)
        further.undoStores(of: key)
        tier.open()
        await finish(further)
        #expect(tier.entries.isEmpty && tier.calls == [.put, .remove])
        tier.setTrouble { _ in .none }
        further.put([3], DiskMetadata(), for: key)
        await finish(further)
        clock.advance(by: .seconds(3))
        further.undoStores(of: key)
        await finish(further)
        #expect(tier.entries[key]?.body == [3], "it was stored after the removal")
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
