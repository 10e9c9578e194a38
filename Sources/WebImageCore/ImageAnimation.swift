import Synchronization

/// The frames of an animated picture. They are decoded on demand; some are kept and some are decoded ahead. All users
/// of the same image share them. Any thread may use it.
///
/// While the file is still arriving (in the preview events of a load), the animation grows: ``frameCount`` and
/// ``delays`` then cover the frames so far, and ``isComplete`` is false.
public final class ImageAnimation: Sendable {
    private let source: any FrameSource

    package init(_ source: any FrameSource) { self.source = source }

    /// The size of every frame in pixels, the same as that of the image.
    public var size: PixelSize { source.frameSize }
    /// The number of frames so far.
    public var frameCount: Int { source.timeline.delays.count }
    /// How often the animation plays, 0 for ever; nil if the file does not say, which means once.
    public var loopCount: Int? { source.timeline.loopCount }
    /// How long each frame is shown. Delays under 11 ms count as 100 ms, as in browsers.
    public var delays: [Duration] { source.timeline.delays }
    /// How long one round of all frames takes.
    public var duration: Duration { delays.reduce(.zero, +) }
    /// Whether all frames that the file has are known.
    public var isComplete: Bool { source.timeline.isComplete }
    /// The memory of the encoded file, besides the frames that are kept.
    public var encodedByteCount: ByteCount { source.encodedByteCount }
    /// The memory that the kept frames and the state of their decoder take now.
    public var keptByteCount: ByteCount { source.keptByteCount }

    /// Calls `action` whenever ``keptByteCount`` has changed, on any thread and without holding a lock.
    ///
    /// - Parameters:
    ///   - observer: identifies the observer; a later action of the same observer replaces the earlier one.
    ///   - action: returns whether it is to be called again.
    package func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool) {
        source.onKeptBytesChange(for: observer, action)
    }

    /// Returns a frame as it is shown: composited, in the size and colours of the image.
    ///
    /// Unless the frame is kept already, it is decoded on another thread, and some of the following frames are decoded
    /// ahead.
    ///
    /// - Throws: `unsupportedFeature` if `index` is not from 0 to less than ``frameCount``; `corruptData`,
    ///   `truncatedData` and `limitExceeded` as decoding does; `cancelled` when the task is.
    /// - Complexity: one frame's memory. A frame out of order is decoded from the nearest earlier frame that is
    ///   independent of others or whose canvas is kept.
    public func frame(at index: Int) async throws(WebImageError) -> Image {
        try await source.frame(at: index, for: nil)
    }

    /// Like ``frame(at:)``, for a viewer: the frames that are decoded ahead are those that this viewer shows next.
    package func frame(at index: Int, for viewer: AnimationViewer) async throws(WebImageError) -> Image {
        try await source.frame(at: index, for: viewer)
    }

    /// Returns a frame if it is kept, without waiting; nil if the frame would have to be decoded.
    public func keptFrame(at index: Int) -> Image? { source.keptFrame(at: index) }

    /// Starts to decode the frame that a viewer shows next and those after it, without waiting for them.
    package func prepare(_ index: Int, for viewer: AnimationViewer) { source.prepare(index, for: viewer) }

    /// Whether the image is the first frame. False for an APNG whose image is only for programs that do not support
    /// animations.
    package var beginsWithStill: Bool { source.beginsWithStill }

    /// Adds a viewer.
    package func add(_ viewer: AnimationViewer) { source.add(viewer) }

    /// Removes a viewer.
    ///
    /// - Parameter freeing: whether the kept frames are dropped if this was the last viewer.
    package func remove(_ viewer: AnimationViewer, freeing: Bool) { source.remove(viewer, freeing: freeing) }

    /// Whether both are the same animation, perhaps at different stages of its download.
    package func hasFrames(of other: ImageAnimation) -> Bool { source === other.source }

    /// Decodes frames, from the first on, until all are kept or ``bufferLimit`` is reached.
    ///
    /// - Returns: how many frames are decoded and kept.
    /// - Throws: the same errors as ``frame(at:)``; the frames before the one that failed are kept.
    @discardableResult
    public func preload() async throws(WebImageError) -> Int {
        let count = framesToPreload
        try await source.preload(count)
        return count
    }

    /// Decodes each frame in order. It keeps no more of them than ``bufferLimit`` allows.
    ///
    /// - Throws: as ``frame(at:)``, for the first frame that cannot be decoded.
    package func decodeAll() async throws(WebImageError) {
        for index in 0..<frameCount { _ = try await frame(at: index) }
    }

    /// The number of frames that fit into ``bufferLimit``, at least one.
    package var framesToPreload: Int {
        min(frameCount, max(bufferLimit.bytes / max(source.frameByteCount.bytes, 1), 1))
    }

    /// Decodes a frame on the calling thread, which may block, and keeps it.
    ///
    /// - Throws: as ``frame(at:)``.
    package func decodeNow(_ index: Int) throws(WebImageError) { try source.decodeNow(index) }

    /// The most bytes of decoded frames that are kept, not counting the frame shown last. Default 64 MiB.
    ///
    /// Where frames build on earlier ones, the decoder keeps up to 32 MiB more, so that seeking is fast.
    public var bufferLimit: ByteCount {
        get { source.bufferLimit }
        set { source.bufferLimit = newValue }
    }

    /// Releases all frames that are kept.
    public func removeKeptFrames() { source.removeKeptFrames() }

    /// Decodes all frames once, in order, for writing them. Keeps none, and gives each with the delay that the file
    /// stores. Blocks the calling thread.
    ///
    /// - Throws: what decoding and `body` throw.
    package func forEachFrame(
        _ body: (Image, Duration) throws(WebImageError) -> Void
    ) throws(WebImageError) { try source.forEachFrame(body) }
}

/// The delays and the loop count of an animation, as far as they are known.
package struct AnimationTimeline: Hashable, Sendable {
    package var delays: [Duration] = []
    package var loopCount: Int?
    package var isComplete = false

    package init() {}
}

/// Someone who shows an animation. Its frames are kept, and decoded ahead, for each viewer.
package struct AnimationViewer: Hashable, Sendable {
    private static let last = Atomic(0)

    private let number: Int

    /// A viewer that is equal to no other.
    package init() { number = Self.last.add(1, ordering: .relaxed).newValue }
}

/// A cache entry that holds an animation. Its cost changes with the frames that the animation keeps.
package struct KeptBytesObserver: Hashable, Sendable {
    package let cache: ObjectIdentifier
    package let key: CacheKey

    package init(_ cache: AnyObject, _ key: CacheKey) { (self.cache, self.key) = (ObjectIdentifier(cache), key) }
}

/// The implementation of an ``ImageAnimation``.
package protocol FrameSource: AnyObject, Sendable {
    var frameSize: PixelSize { get }
    /// The memory of one decoded frame.
    var frameByteCount: ByteCount { get }
    var timeline: AnimationTimeline { get }
    var beginsWithStill: Bool { get }
    var encodedByteCount: ByteCount { get }
    var keptByteCount: ByteCount { get }
    func onKeptBytesChange(for observer: KeptBytesObserver, _ action: @escaping @Sendable () -> Bool)
    var bufferLimit: ByteCount { get set }
    /// - Parameter viewer: who asks; nil if it is nobody who shows the animation.
    func frame(at index: Int, for viewer: AnimationViewer?) async throws(WebImageError) -> Image
    func decodeNow(_ index: Int) throws(WebImageError)
    func preload(_ count: Int) async throws(WebImageError)
    func keptFrame(at index: Int) -> Image?
    func prepare(_ index: Int, for viewer: AnimationViewer)
    func add(_ viewer: AnimationViewer)
    func remove(_ viewer: AnimationViewer, freeing: Bool)
    func removeKeptFrames()
    func forEachFrame(_ body: (Image, Duration) throws(WebImageError) -> Void) throws(WebImageError)
}

/// Defaults for sources that have all frames from the start.
extension FrameSource {
    package var frameByteCount: ByteCount { ByteCount((frameSize.pixelCount ?? 0) * PixelLayout.rgba8.bytesPerPixel) }
    package var beginsWithStill: Bool { true }
    package func prepare(_ index: Int, for viewer: AnimationViewer) {}
    package func add(_ viewer: AnimationViewer) {}
    package func remove(_ viewer: AnimationViewer, freeing: Bool) {}
}
