#if GTK
    /// A source of frames for a paintable. ``ImageBox`` is one; tests provide others.
    @MainActor public protocol FrameTicks: AnyObject {
        /// Calls a closure before each frame, until ``removeTick(_:)`` is called.
        ///
        /// - Returns: nil if no frames are drawn now; the closure is then released.
        func addTick(_ body: @escaping @MainActor (FrameTick) -> Void) -> TickID?

        /// Ends the calls of a closure. Does nothing if they have ended already.
        func removeTick(_ id: TickID)
    }

    /// An event of the frame clock.
    public enum FrameTick: Hashable, Sendable {
        /// A frame is about to be drawn, which will be visible at this time of the monotonic clock.
        case frame(Duration)
        /// No more frames are drawn, because the widget is no longer visible. This is the last call.
        case ended
    }

    /// Identifies a closure that is called before each frame.
    public struct TickID: Hashable, Sendable {
        let number: Int

        /// - Parameter number: a number that is unique within the same ``FrameTicks``.
        public init(_ number: Int) { self.number = number }
    }
#endif
