import WebImageCore

/// Frames that are all there, as an animation.
final class GivenFrames: FrameSource {
    private let frames: [Image]

    init(_ frames: [Image]) { self.frames = frames }

    /// The first frame with all of them as its animation.
    static func image(_ frames: [Image]) -> Image { frames[0].with(animation: ImageAnimation(GivenFrames(frames))) }

    var frameSize: PixelSize { frames[0].size }
    var timeline: AnimationTimeline {
        var timeline = AnimationTimeline()
        timeline.delays = frames.map { _ in .milliseconds(50) }
        timeline.loopCount = 0
        timeline.isComplete = true
        return timeline
    }
    var encodedByteCount: ByteCount { .zero }
    var keptByteCount: ByteCount { .zero }
    var bufferLimit: ByteCount {
        get { .zero }
        set {}
    }
    func onKeptBytesChange(_ action: (@Sendable () -> Void)?) {}
    func frame(at index: Int) async throws(WebImageError) -> Image { frames[index] }
    func decodeNow(_ index: Int) throws(WebImageError) {}
    func preload(_ count: Int) async throws(WebImageError) {}
    func keptFrame(at index: Int) -> Image? { frames[index] }
    func removeKeptFrames() {}
    func forEachFrame(_ body: (Image, Duration) throws(WebImageError) -> Void) throws(WebImageError) {
        for frame in frames { try body(frame, .milliseconds(50)) }
    }
}
