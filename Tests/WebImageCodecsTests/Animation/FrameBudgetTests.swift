import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// How many frames are kept, and how their memory is released.
@Suite struct FrameBudgetTests {
    @Test func theLimitHoldsAndOneFrameAlwaysStays() async throws {
        let bench = try FrameBench(frames: 30)
        bench.buffer.bufferLimit = ByteCount(FrameBench.frameBytes * 4)
        for index in 0..<30 {
            _ = try await bench.shown(index)
            #expect(bench.buffer.keptBytes <= FrameBench.frameBytes * 4)
        }
        bench.buffer.bufferLimit = .zero
        await bench.executor.idle()
        _ = try await bench.shown(7)
        #expect(bench.buffer.keptBytes == FrameBench.frameBytes && bench.buffer.keptFrame(at: 7) != nil)
        bench.buffer.removeKeptFrames()
        #expect(bench.buffer.keptBytes == 0 && bench.budget.used == 0)
    }

    @Test func animationsShareOneBudget() async throws {
        let budget = FrameBudget(limit: ByteCount(FrameBench.frameBytes * 6 + FrameBench.workingBytes))
        let benches = try (0..<3).map { _ in try FrameBench(frames: 4, budget: budget) }
        for bench in benches {
            for index in 0..<4 { _ = try await bench.shown(index) }
            await bench.executor.idle()
            #expect(budget.used <= ByteCount(FrameBench.frameBytes * 6 + FrameBench.workingBytes))
        }
        #expect(benches[0].buffer.keptBytes == 0 && benches[2].buffer.keptBytes == FrameBench.frameBytes * 4)
    }

    /// Large animations in view took each other's canvases, and then each frame was drawn from the first one on.
    @Test func watchedAnimationsGiveUpLastAndKeepTheirPlace() async throws {
        let one = FrameBench.frameBytes * 4 + FrameBench.workingBytes
        let budget = FrameBudget(limit: ByteCount(2 * one + FrameBench.workingBytes))
        let benches = try (0..<3).map { _ in try FrameBench(frames: 4, budget: budget) }
        func show(_ bench: FrameBench) async throws {
            for index in 0..<4 { _ = try await bench.shown(index) }
            await bench.executor.idle()
        }
        benches[0].buffer.add(benches[0].viewer)
        try await show(benches[0])
        try await show(benches[1])
        benches[2].buffer.add(benches[2].viewer)
        try await show(benches[2])
        // The one that nobody watches was used later than the first.
        #expect(benches.map { $0.buffer.keptByteCount.bytes } == [one, 0, one])
        benches[1].buffer.add(benches[1].viewer)
        try await show(benches[1])
        #expect(benches.map { $0.buffer.keptByteCount.bytes } == [FrameBench.workingBytes, one, one])
        benches[0].buffer.remove(benches[0].viewer, freeing: true)
        #expect(benches[0].buffer.keptByteCount == .zero)
        // Under memory pressure all is released.
        budget.trim(to: .zero)
        #expect(budget.used == .zero)
    }

    /// Once only the frames counted, and every animation that had been played kept its canvases in addition.
    @Test func theDecodersWorkingMemoryCounts() async throws {
        let bench = try FrameBench(frames: 10)
        bench.buffer.bufferLimit = .zero
        for index in [4, 1] {
            _ = try await bench.shown(index)
            await bench.executor.idle()
            #expect(bench.budget.used == ByteCount(FrameBench.frameBytes + FrameBench.workingBytes))
        }
        bench.buffer.removeKeptFrames()
        #expect(bench.budget.used == .zero)
    }

    /// Decoding a frame may take as long as `DecodeLimits.time`. Releasing memory once waited for it.
    @Test func framesAreReleasedAtOnceWhileAnotherIsDecoded() async throws {
        let bench = try FrameBench(frames: 10)
        bench.buffer.bufferLimit = .zero
        _ = try await bench.shown(4)
        await bench.executor.idle()
        let other = ThreadPool(name: "other", width: 1)
        let meanwhile = Guarded<[ByteCount]>([])
        bench.whileDecoding { [buffer = bench.buffer, budget = bench.budget] in
            let isDone = Gate()
            other.run(.normal) {
                buffer.removeKeptFrames()
                meanwhile.withLock { $0 = [buffer.keptByteCount, budget.used] }
                isDone.open()
            }
            isDone.wait()
        }
        _ = try await bench.shown(7)
        await bench.executor.idle()
        // The decoder's working memory is released when the frame is decoded.
        let working = ByteCount(FrameBench.workingBytes)
        #expect(meanwhile.withLock { $0 } == [working, working])
        #expect(bench.budget.used == ByteCount(FrameBench.frameBytes))
        #expect(bench.buffer.keptByteCount == ByteCount(FrameBench.frameBytes))
    }

    /// An animation that was decoding a frame could not release its memory, and trimming once stopped there, before
    /// animations that had been used later.
    @Test func trimmingReachesOtherAnimationsDuringADecode() async throws {
        let budget = FrameBudget(limit: .mebibytes(1))
        let (busy, other) = (try FrameBench(frames: 10, budget: budget), try FrameBench(frames: 10, budget: budget))
        for bench in [busy, other] {
            bench.buffer.bufferLimit = .zero
            _ = try await bench.shown(4)
            await bench.executor.idle()
        }
        let pool = ThreadPool(name: "pressure", width: 1)
        busy.whileDecoding {
            let isDone = Gate()
            pool.run(.normal) {
                budget.trim(to: .zero)
                isDone.open()
            }
            isDone.wait()
        }
        _ = try await busy.shown(7)
        await busy.executor.idle()
        #expect(other.buffer.keptByteCount == .zero)
        #expect(budget.used == busy.buffer.keptByteCount)
    }

    @Test func aReleasedAnimationFreesItsBudget() async throws {
        let budget = FrameBudget(limit: .mebibytes(1))
        do {
            let bench = try FrameBench(frames: 4, budget: budget)
            _ = try await bench.shown(1)
            await bench.executor.idle()
            #expect(budget.used > .zero)
        }
        #expect(budget.used == .zero)
    }
}
