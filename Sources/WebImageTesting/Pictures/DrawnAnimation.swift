package import WebImageCore

/// An animation whose frames are all in memory, for samples, and for tests that write one.
package final class DrawnAnimation: FrameSource {
    private let frames: [Image]
    private let delay: Duration

    private init(_ frames: [Image], _ delay: Duration) {
        self.frames = frames
        self.delay = delay
    }

    /// The first frame as an image with all frames as its animation, which plays for ever.
    ///
    /// - Parameters:
    ///   - frames: the frames, all of the same size; at least one.
    ///   - delay: how long each frame is shown.
    package static func image(_ frames: [Image], delay: Duration) -> Image {
        precondition(!frames.isEmpty, "an animation needs a frame")
        return frames[0].with(animation: ImageAnimation(DrawnAnimation(frames, delay)))
    }

    package var frameSize: PixelSize { frames[0].size }
    package var timeline: AnimationTimeline {
        var timeline = AnimationTimeline()
        timeline.delays = frames.map { _ in delay }
        timeline.loopCount = 0
        timeline.isComplete = true
        return timeline
    }
    package var encodedByteCount: ByteCount { .zero }
    package var keptByteCount: ByteCount { .zero }
    package var bufferLimit: ByteCount {
        get { .zero }
        set {}
    }
    package func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool) {}
    package func frame(at index: Int, for viewer: AnimationViewer?) async throws(WebImageError) -> Image {
        if let frame = keptFrame(at: index) { return frame }
        throw WebImageError(.unsupportedFeature, "the animation has no frame \(index), but \(frames.count) from 0 on")
    }
    package func decodeNow(_ index: Int) throws(WebImageError) {}
    package func preload(_ count: Int) async throws(WebImageError) {}
    package func keptFrame(at index: Int) -> Image? { frames.indices.contains(index) ? frames[index] : nil }
    package func removeKeptFrames() {}
    package func forEachFrame(_ body: (Image, Duration) throws(WebImageError) -> Void) throws(WebImageError) {
        for frame in frames { try body(frame, delay) }
    }
}
