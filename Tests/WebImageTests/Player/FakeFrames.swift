import Synchronization
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A frame source whose frames are decoded when the test says so. Frame `n` is `n + 1` pixels wide; all have the given
/// height.
final class FakeFrames: FrameSource {
    private struct State {
        var timeline = AnimationTimeline()
        var ready: Set<Int> = []
        var waiting: [Int: [CheckedContinuation<Result<Image, WebImageError>, Never>]] = [:]
        var prepared: [Int] = []
        var viewers: Set<AnimationViewer> = []
        var freed = 0
    }

    private let state = Guarded(State())
    /// Whether each frame is decoded as soon as it is wanted.
    private let isInstant: Bool
    private let height: Int
    let beginsWithStill: Bool

    init(
        delays: [Int], loops: Int? = 0, isComplete: Bool = true, isInstant: Bool = true, height: Int = 1,
        beginsWithStill: Bool = true
    ) {
        self.beginsWithStill = beginsWithStill
        self.isInstant = isInstant
        self.height = height
        add(delays: delays, isComplete: isComplete)
        state.withLock { $0.timeline.loopCount = loops }
    }

    /// The first frame as an image, with these frames as its animation.
    var image: Image { frame(0).with(animation: ImageAnimation(self)) }

    private func frame(_ index: Int) -> Image { Fixture.gradient(index + 1, height) }

    func add(delays: [Int], isComplete: Bool) {
        state.withLock { state in
            state.timeline.delays += delays.map { .milliseconds($0) }
            state.timeline.isComplete = isComplete
        }
    }

    /// Ends the decode of a frame, with an error if one is given, and resumes those that wait for it.
    func finish(_ index: Int, _ error: WebImageError? = nil) {
        let waiting = state.withLock { state in
            if error == nil { state.ready.insert(index) }
            return state.waiting.removeValue(forKey: index) ?? []
        }
        for continuation in waiting {
            continuation.resume(returning: error.map { .failure($0) } ?? .success(frame(index)))
        }
    }

    /// Whether a caller waits for the frame.
    func isAwaited(_ index: Int) -> Bool { state.withLock { $0.waiting[index] != nil } }
    var prepared: [Int] { state.withLock { $0.prepared } }
    var viewers: Int { state.withLock { $0.viewers.count } }
    var freed: Int { state.withLock { $0.freed } }

    var frameSize: PixelSize { PixelSize(width: 1, height: 1) }
    var timeline: AnimationTimeline { state.withLock { $0.timeline } }
    var encodedByteCount: ByteCount { .zero }
    var keptByteCount: ByteCount { .zero }
    var bufferLimit: ByteCount {
        get { .zero }
        set {}
    }
    func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool) {}
    func frame(at index: Int, for viewer: AnimationViewer?) async throws(WebImageError) -> Image {
        let result = await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if isInstant || state.ready.contains(index) { return true }
                state.waiting[index, default: []].append(continuation)
                return false
            }
            if isReady { continuation.resume(returning: Result<Image, WebImageError>.success(frame(index))) }
        }
        return try result.get()
    }
    func decodeNow(_ index: Int) throws(WebImageError) {}
    func preload(_ count: Int) async throws(WebImageError) {}
    func keptFrame(at index: Int) -> Image? {
        isInstant || state.withLock { $0.ready.contains(index) } ? frame(index) : nil
    }
    func prepare(_ index: Int, for viewer: AnimationViewer) { state.withLock { $0.prepared.append(index) } }
    func add(_ viewer: AnimationViewer) { state.withLock { _ = $0.viewers.insert(viewer) } }
    func remove(_ viewer: AnimationViewer, freeing: Bool) {
        state.withLock { state in
            state.viewers.remove(viewer)
            if freeing, state.viewers.isEmpty { state.freed += 1 }
        }
    }
    func removeKeptFrames() {}
    func forEachFrame(_ body: (Image, Duration) throws(WebImageError) -> Void) throws(WebImageError) {}
}
