import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// Frames on demand: what is decoded, what is kept, and for whom.
@Suite struct FrameBufferTests {
    @Test func whatIsKeptIsNotDecodedAgain() async throws {
        let bench = try FrameBench(frames: 10)
        for _ in 0..<3 {
            for index in 0..<10 { #expect(try await bench.shown(index) == index) }
        }
        await bench.executor.idle()
        #expect(bench.decodes == (0..<10).map { _ in 1 })
        #expect(bench.buffer.keptFrame(at: 4) != nil)
    }

    /// A picture under two keys, or in two caches, changed its cost in the last one only.
    @Test func everyObserverIsToldOfKeptBytesUntilItWantsNoMore() async throws {
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

    @Test func whoGoesBackwardsGetsTheFramesBeforeAhead() async throws {
        let bench = try FrameBench(frames: 20)
        _ = try await bench.shown(10)
        bench.executor.hold()
        await bench.executor.idle()
        let before = bench.decoded
        bench.executor.release()
        _ = try await bench.shown(9)
        await bench.executor.idle()
        #expect(bench.decoded == before.union([9, 8, 7, 6]))
    }

    /// A player that goes backwards and waits for a frame once had the frames decoded that it came from.
    @Test func aFrameThatIsLateWhenGoingBackwardsChangesNoDirection() async throws {
        let bench = try FrameBench(frames: 20)
        _ = try await bench.shown(10)
        await bench.executor.idle()
        bench.executor.hold()
        bench.buffer.prepare(9)
        let late = Task { try await bench.shown(9) }
        while bench.waiting < 2 { await Task.yield() }
        bench.executor.release()
        #expect(try await late.value == 9)
        await bench.executor.idle()
        #expect(bench.decoded.isSuperset(of: [9, 8, 7, 6]))
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

    /// Once only the frames counted, and every animation that had been played kept its canvases besides.
    @Test func whatTheDecoderKeepsCountsToo() async throws {
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

    /// A frame may take as long as `DecodeLimits.time`; who gives memory back once waited for that.
    @Test func framesGoAtOnceWhileAnotherIsDecoded() async throws {
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
        // What the decoder keeps goes when it is done with the frame.
        let working = ByteCount(FrameBench.workingBytes)
        #expect(meanwhile.withLock { $0 } == [working, working])
        #expect(bench.budget.used == ByteCount(FrameBench.frameBytes))
        #expect(bench.buffer.keptByteCount == ByteCount(FrameBench.frameBytes))
    }

    /// One that was decoding a frame had nothing more to give, and all that were used after it kept theirs.
    @Test func anAnimationThatIsDecodedDoesNotSpareTheOthers() async throws {
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

    @Test func aBudgetForgetsWhatIsGone() async throws {
        let budget = FrameBudget(limit: .mebibytes(1))
        do {
            let bench = try FrameBench(frames: 4, budget: budget)
            _ = try await bench.shown(1)
            await bench.executor.idle()
            #expect(budget.used > .zero)
        }
        #expect(budget.used == .zero)
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

    /// Whoever moved a slider over an animation waited for every frame that it had passed.
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

    @Test func framesThatBuildOnEachOtherAreKeptForWhoGoesBackwards() async throws {
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

/// A buffer over frames whose pixels are their numbers; a byte of the file is a frame.
private final class FrameBench: Sendable {
    static let size = PixelSize(width: 4, height: 2)
    static let frameBytes = 4 * 2 * 4
    /// What the decoder says it keeps besides frames.
    static let workingBytes = 20

    let buffer: FrameBuffer
    let budget: FrameBudget
    let executor = GatedExecutor()
    private let asked = Atomic(0)
    private let counts: SharedCounts

    init(
        frames: Int, pushed: Int? = nil, budget: FrameBudget = FrameBudget(limit: .mebibytes(1)), damaged: Int? = nil,
        buildsOnOthers: Bool = false, delays: [Duration]? = nil
    ) throws {
        let counts = SharedCounts(frames)
        self.budget = budget
        self.counts = counts
        buffer = try #require(
            try FrameBuffer(
                frameSize: Self.size, options: DecodeOptions(), executor: executor, budget: budget,
                makeDecoder: { _ in
                    NumberedFrames(
                        counts, damaged: damaged, buildsOnOthers: buildsOnOthers,
                        delays: delays ?? Array(repeating: .milliseconds(40), count: frames))
                },
                finish: { (pixels, _) throws(WebImageError) in Image(pixels: pixels, info: .init(alpha: .opaque)) }))
        try push(pushed ?? frames)
    }

    func push(_ frames: Int) throws {
        try [UInt8](repeating: 0, count: frames).withUnsafeBytes { try buffer.push($0) }
    }

    /// The number in a frame's pixels.
    func shown(_ index: Int) async throws -> Int {
        asked.add(1, ordering: .relaxed)
        return try await buffer.frame(at: index).withPixels { Int($0[0]) }
    }

    /// Has something done once within the next decode.
    func whileDecoding(_ action: @escaping @Sendable () -> Void) { counts.whileDecoding.withLock { $0 = action } }

    var waiting: Int { asked.load(ordering: .relaxed) }
    var decodes: [Int] { counts.values }
    var decoded: Set<Int> { Set(decodes.indices.filter { decodes[$0] > 0 }) }
}

private final class SharedCounts: Sendable {
    private let counts: Guarded<[Int]>
    let whileDecoding = Guarded<(@Sendable () -> Void)?>(nil)

    init(_ frames: Int) { counts = Guarded(Array(repeating: 0, count: frames)) }

    var values: [Int] { counts.withLock { $0 } }
    func count(_ index: Int) {
        counts.withLock { $0[index] += 1 }
        let action = whileDecoding.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

private final class NumberedFrames: AnimationDecoder {
    private let counts: SharedCounts
    private let damaged: Int?
    private let buildsOnOthers: Bool
    private let delays: [Duration]
    private var encodedBytes: [UInt8] = []
    var encodedByteCount: Int { encodedBytes.count }
    private(set) var workingByteCount = 0

    init(_ counts: SharedCounts, damaged: Int?, buildsOnOthers: Bool, delays: [Duration]) {
        self.counts = counts
        self.damaged = damaged
        self.buildsOnOthers = buildsOnOthers
        self.delays = delays
    }

    var header: ImageHeader? { ImageHeader(format: .gif, size: FrameBench.size) }
    var storedDelays: [Duration] { Array(delays.prefix(encodedBytes.count)) }

    func push(_ bytes: UnsafeRawBufferPointer) { encodedBytes.append(contentsOf: bytes) }
    func finish() {}

    func releaseWorkingMemory() { workingByteCount = 0 }

    func firstFrameNeeded(for index: Int) -> Int { buildsOnOthers ? 0 : index }

    func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
        if index == damaged { throw WebImageError(.corruptData, "damaged") }
        counts.count(index)
        workingByteCount = FrameBench.workingBytes
        let pixels = try PixelBuffer(size: FrameBench.size)
        pixels.mutableBytes.initializeMemory(as: UInt8.self, repeating: UInt8(index))
        return pixels
    }
}

/// Runs work on one thread, which can be held before its next piece.
private final class GatedExecutor: WorkExecutor {
    private struct State {
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var running = 0
        var idle: [CheckedContinuation<Void, Never>] = []
        var arrived: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())
    private let pool = ThreadPool(name: "frames", width: 1)

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {
        let (start, arrived) = state.withLock { state in
            if state.isHeld { state.held.append(work) } else { state.running += 1 }
            defer { state.arrived = [] }
            return (!state.isHeld, state.arrived)
        }
        if start { begin(work) }
        for waiting in arrived { waiting.resume() }
    }

    private func begin(_ work: @escaping @Sendable () -> Void) {
        pool.run(.normal) {
            work()
            let idle = self.state.withLock { state in
                state.running -= 1
                defer { if state.running == 0 { state.idle = [] } }
                return state.running == 0 ? state.idle : []
            }
            for waiting in idle { waiting.resume() }
        }
    }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            state.running += state.held.count
            defer { state.held = [] }
            return state.held
        }
        for work in held { begin(work) }
    }

    /// Until nothing runs.
    func idle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.running > 0 { state.idle.append(continuation) }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Until something is to be run that is held.
    func waitForWork() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.arrived.append(continuation) }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }
}
