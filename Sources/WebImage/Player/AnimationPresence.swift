import Synchronization
import WebImageCore
import WebImageSystem

/// Counts one viewer of an animation while it is present. When the last viewer leaves, decoded frames are released.
final class AnimationPresence: Sendable {
    private let animation: ImageAnimation
    private let isPresent: Guarded<Bool>

    init(_ animation: ImageAnimation, isPresent: Bool = true) {
        self.animation = animation
        self.isPresent = Guarded(isPresent)
        if isPresent { animation.addViewer() }
    }

    deinit { if isPresent.withLock({ $0 }) { animation.removeViewer(freeing: false) } }

    func isFor(_ other: ImageAnimation) -> Bool { animation.hasFrames(of: other) }

    func enter() { if change(to: true) { animation.addViewer() } }

    func leave() { if change(to: false) { animation.removeViewer(freeing: true) } }

    private func change(to value: Bool) -> Bool {
        isPresent.withLock { isPresent in
            defer { isPresent = value }
            return isPresent != value
        }
    }
}
