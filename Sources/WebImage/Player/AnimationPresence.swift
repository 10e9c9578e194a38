import Synchronization
import WebImageCore
import WebImageSystem

/// That somebody shows an animation. The last one to leave has its decoded frames given up.
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
