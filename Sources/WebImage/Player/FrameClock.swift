import WebImageSystem

/// The time that animations go by, and something to be called when a frame is due. On the main actor.
///
/// ``SystemFrameClock`` serves every program; a toolkit that knows better when the next picture reaches the screen brings one of
/// its own, and a test one that it moves by hand.
@MainActor public protocol FrameClock: AnyObject, Sendable {
    /// The time since a fixed moment; never goes back.
    var now: Duration { get }

    /// Calls `body` once when ``now`` has reached `time`, but not before this function has returned.
    func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake
}

/// A call that comes unless it is cancelled before.
@MainActor public struct FrameWake {
    private let onCancel: @MainActor () -> Void

    public init(onCancel: @escaping @MainActor () -> Void) { self.onCancel = onCancel }

    public func cancel() { onCancel() }
}

/// Makes a clock that uses the system's time. It wakes the player within a millisecond of the requested time, unless
/// the main actor is busy.
@MainActor public final class SystemFrameClock: FrameClock {
    public nonisolated init() {}

    public var now: Duration { SystemClock.shared.now }

    public func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
        let rest = max(time - now, .zero)
        // A cancelled sleep throws, and so ends the task without a call.
        let task = Task { @MainActor in
            try await Task.sleep(for: rest, tolerance: .zero)
            body()
        }
        return FrameWake { task.cancel() }
    }
}
