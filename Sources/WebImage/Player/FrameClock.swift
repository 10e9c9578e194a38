import WebImageSystem

/// A clock for animations: it tells the time, and calls a closure when a frame is due. Isolated to the main actor.
///
/// ``SystemFrameClock`` works in every program. A toolkit that knows when the screen shows its next picture can provide
/// its own clock, and a test one that it controls.
@MainActor public protocol FrameClock: AnyObject, Sendable {
    /// The time since a fixed moment; never goes back.
    var now: Duration { get }

    /// Calls `body` once when ``now`` has reached `time`, but not before this function has returned.
    func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake
}

/// A scheduled call, which can be cancelled.
@MainActor public struct FrameWake {
    private let onCancel: @MainActor () -> Void

    public init(onCancel: @escaping @MainActor () -> Void) { self.onCancel = onCancel }

    public func cancel() { onCancel() }
}

/// A clock that uses the system's time. It wakes the player within a millisecond of the requested time, unless the main
/// actor is busy.
@MainActor public final class SystemFrameClock: FrameClock {
    private let sleep: @MainActor (Duration) async throws -> Void

    public nonisolated convenience init() { self.init { try await Task.sleep(for: $0, tolerance: .zero) } }

    /// - Parameter sleep: waits for that long. It throws if it is cancelled before.
    nonisolated init(sleep: @escaping @MainActor (Duration) async throws -> Void) { self.sleep = sleep }

    public var now: Duration { SystemClock.shared.now }

    public func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
        let rest = max(time - now, .zero)
        // A cancelled sleep throws, and so ends the task without a call.
        let task = Task { @MainActor [sleep] in
            try await sleep(rest)
            // It may also be cancelled when the sleep has ended, while it waits for the main actor.
            if !Task.isCancelled { body() }
        }
        return FrameWake { task.cancel() }
    }
}
