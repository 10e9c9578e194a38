import Synchronization
import WebImageCore
import WebImageSystem

/// A player's view of an animation. While it is present, it counts as a viewer, for whom frames are decoded ahead. When the
/// last viewer leaves, decoded frames are released.
final class AnimationPresence: Sendable {
    private let animation: ImageAnimation
    private let viewer = AnimationViewer()
    private let isPresent: Guarded<Bool>

    init(_ animation: ImageAnimation, isPresent: Bool = true) {
        self.animation = animation
        self.isPresent = Guarded(isPresent)
        if isPresent { animation.add(viewer) }
    }

    deinit { if isPresent.withLock({ $0 }) { animation.remove(viewer, freeing: false) } }

    func isFor(_ other: ImageAnimation) -> Bool { animation.hasFrames(of: other) }

    func enter() { if change(to: true) { animation.add(viewer) } }

    func leave() { if change(to: false) { animation.remove(viewer, freeing: true) } }

    private func change(to value: Bool) -> Bool {
        isPresent.withLock { isPresent in
            defer { isPresent = value }
            return isPresent != value
        }
    }

    /// Starts to decode the frame that is shown next and those after it, without waiting for them.
    func prepare(_ index: Int) { animation.prepare(index, for: viewer) }

    /// See ``ImageAnimation/frame(at:)``.
    func frame(at index: Int) async throws(WebImageError) -> Image { try await animation.frame(at: index, for: viewer) }
}
