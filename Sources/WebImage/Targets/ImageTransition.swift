public import WebImageCore

/// How a target changes from its current picture to a new one. Targets carry out transitions
/// (``ImageTarget/apply(_:to:in:completion:)``); a target that does not know a transition uses another one or none.
///
/// A transition runs for pictures from the network, from disk or from a further tier. It does not run for a picture
/// that was in memory, or that was available before the call returned, unless ``SlotOptions/forcesTransition`` is true.
public protocol ImageTransition: Sendable {
    /// The duration of the transition.
    var duration: Duration { get }
}

/// The new picture appears over the old one.
public struct CrossFade: ImageTransition {
    public var duration: Duration

    /// - Parameter duration: how long the transition takes. Default half a second, as in SDWebImage.
    public init(duration: Duration = .milliseconds(500)) { self.duration = duration }
}

/// The old picture turns over like a card, and the new one is on its back.
public struct FlipTransition: ImageTransition {
    /// The edge that comes to the front.
    public enum Edge: String, Hashable, Sendable, CaseIterable { case left, right, top, bottom }

    public var edge: Edge
    public var duration: Duration

    public init(from edge: Edge, duration: Duration = .milliseconds(500)) {
        self.edge = edge
        self.duration = duration
    }
}

/// The new picture slides in over the old one.
public struct SlideTransition: ImageTransition {
    /// The edge that it comes from.
    public var edge: FlipTransition.Edge
    public var duration: Duration

    public init(from edge: FlipTransition.Edge, duration: Duration = .milliseconds(500)) {
        self.edge = edge
        self.duration = duration
    }
}

/// A transition that its owner carries out.
///
///     options.transition = CustomTransition(duration: .seconds(1)) { context in
///         view.opacity = 0
///         context.setImage()
///         view.animate(for: .seconds(1)) { view.opacity = 1 } then: { context.finish() }
///     }
public struct CustomTransition: ImageTransition {
    public var duration: Duration
    let run: @MainActor (TransitionContext) -> Void
    /// Whether the picture is still that of the slot; set by the slot that runs the transition.
    var isCurrent: @MainActor () -> Bool = { true }

    /// - Parameters:
    ///   - duration: how long the transition takes. It is only informative.
    ///   - run: runs the transition. It must show the picture, and call ``TransitionContext/finish()`` at the end.
    public init(duration: Duration, run: @escaping @MainActor (TransitionContext) -> Void) {
        self.duration = duration
        self.run = run
    }

    /// Runs the transition, for targets that implement ``ImageTarget/apply(_:to:in:completion:)``.
    ///
    /// - Parameters:
    ///   - image: the new picture.
    ///   - slot: the slot that shows the picture.
    ///   - target: the target whose ``ImageTarget/setImage(_:in:)`` shows the picture.
    ///   - completion: called once, when the transition ends.
    @MainActor public func run(
        to image: Image, in slot: SlotName, of target: any ImageTarget, completion: @escaping @MainActor () -> Void
    ) {
        var completion: (@MainActor () -> Void)? = completion
        let finish: @MainActor () -> Void = {
            let first = completion
            completion = nil
            first?()
        }
        run(TransitionContext(image: image, slot: slot, target: target, check: isCurrent, completion: finish))
    }
}

/// The context of a running ``CustomTransition``.
@MainActor public struct TransitionContext {
    /// The new picture, which must be visible at the end.
    public let image: Image
    public let slot: SlotName
    public let target: any ImageTarget
    let check: @MainActor () -> Bool
    let completion: @MainActor () -> Void

    /// Whether the slot still has this picture. It is false once another load, a larger picture or
    /// ``ImageSlot/clear()`` has replaced it: the transition should then only call ``finish()``.
    public var isCurrent: Bool { check() }

    /// Makes the target show the picture, at once. Does nothing if ``isCurrent`` is false.
    public func setImage() {
        if isCurrent { target.setImage(image, in: slot) }
    }

    /// Ends the transition. Only the first call has an effect.
    public func finish() { completion() }
}

extension ImageTransition where Self == CrossFade {
    /// The new picture appears over the old one.
    public static func fade(_ duration: Duration = .milliseconds(500)) -> CrossFade { CrossFade(duration: duration) }
}

extension ImageTransition where Self == FlipTransition {
    /// The old picture turns over like a card.
    public static func flip(
        from edge: FlipTransition.Edge, _ duration: Duration = .milliseconds(500)
    ) -> FlipTransition { FlipTransition(from: edge, duration: duration) }
}

extension ImageTransition where Self == SlideTransition {
    /// The new picture slides in over the old one.
    public static func slide(
        from edge: FlipTransition.Edge, _ duration: Duration = .milliseconds(500)
    ) -> SlideTransition { SlideTransition(from: edge, duration: duration) }
}
