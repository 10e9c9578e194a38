#if GTK
    /// What tells a paintable that frames are drawn, and when. ``ImageBox`` is one; tests give others.
    @MainActor public protocol FrameTicks: AnyObject {
        /// Calls a closure before each frame until ``removeTick(_:)``.
        ///
        /// - Returns: nil when no frames are drawn now; then the closure is not kept.
        func addTick(_ body: @escaping @MainActor (FrameTick) -> Void) -> TickID?

        /// Makes no more calls. One that has ended is no mistake.
        func removeTick(_ id: TickID)
    }

    /// What is told of frames.
    public enum FrameTick: Hashable, Sendable {
        /// A frame is about to be drawn that will be seen at this time, by the monotonic clock.
        case frame(Duration)
        /// No more frames are drawn, and this is the last call: the widget has gone out of sight.
        case ended
    }

    /// Names a closure that is called before each frame.
    public struct TickID: Hashable, Sendable {
        let number: Int

        /// - Parameter number: whatever sets it apart from the others of the same ``FrameTicks``.
        public init(_ number: Int) { self.number = number }
    }
#endif
