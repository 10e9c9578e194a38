import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// Frames on demand: which are decoded, which are kept, and for which viewers.
@Suite struct FrameBufferTests {
    @Test func keptFramesAreNotDecodedAgain() async throws {
        let bench = try FrameBench(frames: 10)
        for _ in 0..<3 {
            for index in 0..<10 { #expect(try await bench.shown(index) == index) }
        }
        await bench.executor.idle()
        #expect(bench.decodes == (0..<10).map { _ in 1 })
        #expect(bench.buffer.keptFrame(at: 4) != nil)
    }

    /// The cost of a picture under two keys, or in two caches, was once updated only in the last one.
    @Test func everyKeptBytesObserverIsCalledUntilItReturnsFalse() async throws {
        let bench = try FrameBench(frames: 4)
        let told = Guarded<[String: Int]>([:])
        for (key, isLasting) in [("a", true), ("b", true), ("once", false)] {
            bench.buffer.onKeptBytesChange(for: KeptBytesObserver(bench.budget, CacheKey(key))) {
                told.withLock { $0[key, default: 0] += 1 }
                return isLasting
            }
        }
        _ = try await bench.shown(0)
        await bench.executor.idle()
        bench.buffer.removeKeptFrames()
        let counts = told.withLock { $0 }
        #expect(counts["once"] == 1)
        #expect(counts["a"] ?? 0 > 1 && counts["a"] == counts["b"])
    }

    @Test func theNextFramesAreDecodedAhead() async throws {
        let bench = try FrameBench(frames: 10)
        _ = try await bench.shown(2)
        await bench.executor.idle()
        #expect(bench.decoded == [2, 3, 4, 5])
        _ = try await bench.shown(9)
        await bench.executor.idle()
        #expect(bench.decoded == [0, 1, 2, 3, 4, 5, 9])
    }

    @Test func earlierFramesAreDecodedAheadWhenPlayingBackwards() async throws {
        let bench = try FrameBench(frames: 20)
        _ = try await bench.shown(10)
        await bench.executor.idle()
        let before = bench.decoded
        _ = try await bench.shown(9)
        await bench.executor.idle()
        #expect(bench.decoded == before.union([9, 8, 7, 6]))
    }

    /// When a player went backwards and waited for a frame, the frames that it came from were once decoded ahead.
    @Test func aFrameThatIsLateWhenGoingBackwardsChangesNoDirection() async throws {
        let bench = try FrameBench(frames: 20)
        _ = try await bench.shown(10)
        await bench.executor.idle()
        bench.executor.hold()
        bench.buffer.prepare(9, for: bench.viewer)
        let late = Task { try await bench.shown(9) }
        while bench.waiting < 2 { await Task.yield() }
        bench.executor.release()
        #expect(try await late.value == 9)
        await bench.executor.idle()
        #expect(bench.decoded.isSuperset(of: [9, 8, 7, 6]))
    }

    /// Frames that were still to be decoded ahead once were decoded and kept when the last viewer had left.
    @Test func noFramesAreDecodedAheadForAViewerThatHasLeft() async throws {
        let bench = try FrameBench(frames: 10)
        bench.buffer.add(bench.viewer)
        bench.executor.hold()
        bench.buffer.prepare(1, for: bench.viewer)
        await bench.executor.waitForWork()
        bench.buffer.remove(bench.viewer, freeing: true)
        bench.executor.release()
        await bench.executor.idle()
        #expect(bench.decoded == [] && bench.buffer.keptBytes == 0)
        // A frame that a caller waits for is decoded all the same.
        bench.buffer.add(bench.viewer)
        bench.executor.hold()
        let waiting = Task { try await bench.shown(5) }
        await bench.executor.waitForWork()
        bench.buffer.remove(bench.viewer, freeing: true)
        bench.executor.release()
        #expect(try await waiting.value == 5)
        await bench.executor.idle()
        #expect(bench.decoded == [5])
    }

    /// The frames ahead of one player were once given up for those of another.
    @Test func framesAreDecodedAheadForEachPlayer() async throws {
        let bench = try FrameBench(frames: 100)
        let viewers = bench.addViewers(2)
        bench.executor.hold()
        bench.buffer.prepare(10, for: viewers[0])
        bench.buffer.prepare(50, for: viewers[1])
        bench.executor.release()
        await bench.executor.idle()
        #expect(bench.decoded == [10, 11, 12, 13, 50, 51, 52, 53])
    }

    /// It was once taken for one that goes backwards.
    @Test func aPlayerMayBeOneFrameBehindAnother() async throws {
        let bench = try FrameBench(frames: 100)
        let viewers = bench.addViewers(2)
        for step in 0..<5 {
            bench.buffer.prepare(11 + step, for: viewers[0])
            bench.buffer.prepare(10 + step, for: viewers[1])
            await bench.executor.idle()
            #expect(bench.decoded == Set(10...14 + step))
        }
    }

    /// They were once taken for one player until their frames were two steps apart.
    @Test func playersMayPartFromTheSameFrameAtOnce() async throws {
        let bench = try FrameBench(frames: 100)
        let viewers = bench.addViewers(2)
        for viewer in viewers { bench.buffer.prepare(50, for: viewer) }
        await bench.executor.idle()
        #expect(bench.decoded == [50, 51, 52, 53])
        bench.buffer.prepare(51, for: viewers[0])
        bench.buffer.prepare(49, for: viewers[1])
        await bench.executor.idle()
        #expect(bench.decoded == [46, 47, 48, 49, 50, 51, 52, 53, 54])
    }

    /// Somebody who looks at single frames once turned the direction of a player, or moved its frames ahead away.
    @Test func requestsOfOthersDoNotMovePlayers() async throws {
        let bench = try FrameBench(frames: 100)
        bench.buffer.add(bench.viewer)
        #expect(try await bench.shown(10, for: bench.viewer) == 10)
        await bench.executor.idle()
        #expect(try await bench.shown(9) == 9)
        #expect(try await bench.shown(80) == 80)
        await bench.executor.idle()
        bench.buffer.prepare(11, for: bench.viewer)
        await bench.executor.idle()
        #expect(bench.decoded == [9, 10, 11, 12, 13, 14, 80])
    }

    /// An animation that was decoded more slowly than it played once never left the thread to other pictures.
    @Test func otherWorkComesBetweenTwoFrames() async throws {
        let bench = try FrameBench(frames: 10)
        let decodes = Guarded<Int?>(nil)
        bench.whileDecoding {
            bench.executor.run(.normal) { decodes.withLock { $0 = bench.decodes.reduce(0, +) } }
        }
        bench.buffer.prepare(1, for: bench.viewer)
        await bench.executor.idle()
        #expect(decodes.withLock { $0 } == 1 && bench.decoded == [1, 2, 3, 4])
    }

    /// The pixels of a picture that is also its animation's first frame were once counted twice.
    @Test func aSharedFrameCostsNothingAndStays() async throws {
        let bench = try FrameBench(frames: 10)
        let first = try Image(size: FrameBench.size) { $0[0] = 77 }
        bench.buffer.keep(first, at: 0, isShared: true)
        #expect(bench.buffer.keptBytes == 0 && bench.buffer.keptByteCount == .zero)
        _ = try await bench.shown(1)
        await bench.executor.idle()
        bench.buffer.bufferLimit = ByteCount(FrameBench.frameBytes)
        #expect(bench.buffer.keptBytes == FrameBench.frameBytes)
        bench.buffer.removeKeptFrames()
        #expect(bench.buffer.keptBytes == 0 && bench.buffer.keptFrame(at: 0)?.storage === first.storage)
    }

    @Test func manyViewersShareEachDecode() async throws {
        let bench = try FrameBench(frames: 6)
        bench.executor.hold()
        let viewers = (0..<50).map { number in Task { try await bench.shown(number % 3) } }
        await bench.executor.waitForWork()
        while bench.waiting < 50 { await Task.yield() }
        bench.executor.release()
        for (number, viewer) in viewers.enumerated() { #expect(try await viewer.value == number % 3) }
        #expect(bench.decodes.allSatisfy { $0 <= 1 })
    }

    @Test func aCancelledViewerDoesNotWait() async throws {
        let bench = try FrameBench(frames: 4)
        bench.executor.hold()
        let viewer = Task { try await bench.shown(1) }
        await bench.executor.waitForWork()
        viewer.cancel()
        let error = await #expect(throws: WebImageError.self) { try await viewer.value }
        #expect(error?.code == .cancelled)
        bench.executor.release()
        #expect(try await bench.shown(1) == 1)
    }

    /// A viewer that moved a slider over an animation once waited for every frame that the slider had passed.
    @Test func aFrameThatNobodyWaitsForAnyMoreIsNotDecoded() async throws {
        let bench = try FrameBench(frames: 20)
        bench.executor.hold()
        let passed = [3, 6].map { index in Task { try await bench.shown(index) } }
        await bench.executor.waitForWork()
        for viewer in passed { viewer.cancel() }
        for viewer in passed { await #expect(throws: WebImageError.self) { try await viewer.value } }
        let last = Task { try await bench.shown(12) }
        bench.executor.release()
        #expect(try await last.value == 12)
        #expect(bench.decodes[3] == 0)
    }

    @Test func aDamagedFrameIsAnErrorForItsViewersOnly() async throws {
        let bench = try FrameBench(frames: 4, damaged: 2)
        let error = await #expect(throws: WebImageError.self) { try await bench.shown(2) }
        #expect(error?.code == .corruptData)
        #expect(try await bench.shown(3) == 3)
    }

    @Test func dependentFramesAreDecodedOnceWhenPlayedBackwards() async throws {
        let bench = try FrameBench(frames: 64, buildsOnOthers: true)
        for index in (0..<64).reversed() { #expect(try await bench.shown(index) == index) }
        await bench.executor.idle()
        #expect(bench.decodes.reduce(0, +) == 64)
    }

    @Test func shortDelaysAreShownForATenthOfASecond() throws {
        let bench = try FrameBench(frames: 4, delays: [.zero, .milliseconds(10), .milliseconds(11), .seconds(2)])
        #expect(
            bench.buffer.timeline.delays == [.milliseconds(100), .milliseconds(100), .milliseconds(11), .seconds(2)])
        var stored: [Duration] = []
        try bench.buffer.forEachFrame { _, delay in stored.append(delay) }
        #expect(stored == [.zero, .milliseconds(10), .milliseconds(11), .seconds(2)])
    }

    @Test func framesCanBeAskedForWhileTheFileArrives() async throws {
        let bench = try FrameBench(frames: 5, pushed: 2)
        #expect(bench.buffer.timeline.delays.count == 2 && !bench.buffer.timeline.isComplete)
        #expect(try await bench.shown(1) == 1)
        try bench.push(3)
        #expect(try await bench.shown(4) == 4)
        try bench.buffer.finishBytes()
        #expect(bench.buffer.timeline.isComplete)
    }
}
