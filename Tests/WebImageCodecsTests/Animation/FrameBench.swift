import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// A frame buffer with a fake decoder, for tests of `FrameBuffer` and `FrameBudget`. The pixels of each frame hold its
/// number, and each byte of the file is a frame.
final class FrameBench: Sendable {
    static let size = PixelSize(width: 4, height: 2)
    static let frameBytes = 4 * 2 * 4
    /// The bytes of working memory that the decoder reports besides frames.
    static let workingBytes = 20

    let buffer: FrameBuffer
    /// Somebody who may be made a viewer.
    let viewer = AnimationViewer()
    let budget: FrameBudget
    let executor = GatedExecutor()
    private let asked = Atomic(0)
    private let counts: SharedCounts

    /// Makes a buffer over a file of `frames` frames.
    ///
    /// - Parameters:
    ///   - pushed: The number of frames that are pushed at once; nil for all.
    ///   - damaged: The frame that cannot be decoded.
    ///   - buildsOnOthers: Whether each frame needs all frames before it.
    ///   - delays: The delay of each frame; nil for 40 ms each.
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

    func addViewers(_ count: Int) -> [AnimationViewer] {
        let viewers = (0..<count).map { _ in AnimationViewer() }
        for viewer in viewers { buffer.add(viewer) }
        return viewers
    }

    /// Requests a frame, and returns the number in its pixels.
    func shown(_ index: Int, for viewer: AnimationViewer? = nil) async throws -> Int {
        asked.add(1, ordering: .relaxed)
        return try await buffer.frame(at: index, for: viewer).withPixels { Int($0[0]) }
    }

    /// Runs `action` once, within the next decode.
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

/// An executor with one thread. A test can hold its work back and release it.
final class GatedExecutor: WorkExecutor {
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

    /// Holds back all work that is added from now on.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Starts the work that was held back. Later work is no longer held back.
    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            state.running += state.held.count
            defer { state.held = [] }
            return state.held
        }
        for work in held { begin(work) }
    }

    /// Waits until no work runs.
    func idle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.running > 0 { state.idle.append(continuation) }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Waits until there is work that is held back.
    func waitForWork() async {
        await withCheckedContinuation { continuation in
            let isAvailable = state.withLock { state in
                if state.held.isEmpty { state.arrived.append(continuation) }
                return !state.held.isEmpty
            }
            if isAvailable { continuation.resume() }
        }
    }
}
