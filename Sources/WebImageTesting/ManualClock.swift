import Synchronization
package import WebImageCore
import WebImageSystem

/// A clock that only tests move.
package final class ManualClock: LoadClock {
    private final class Entry: Sendable {
        /// The closure is wrapped in a structure, because a lock would otherwise wrap it again at each access of an
        /// unoptimised build, and a test that polls would overflow the stack.
        struct Action {
            let run: @Sendable () -> Void
        }

        let action: Guarded<Action?>

        init(action: @escaping @Sendable () -> Void) { self.action = Guarded(Action(run: action)) }

        /// Returns the action the first time, and nil after that.
        func take() -> (@Sendable () -> Void)? {
            action.withLock { action in
                defer { action = nil }
                return action?.run
            }
        }
    }

    private struct State {
        var now: Duration = .zero
        var waiting = TimeHeap<Entry>()
    }

    private let state = Guarded(State())
    private let wallStart: Int64

    /// The default wall time when ``now`` is zero: half a day after the process began. Files have the times of the
    /// machine's clock, and must be older than this clock, but not so old that they expire.
    package static let start = SystemClock.shared.wallTime + 43_200

    /// - Parameter wallTime: the wall time when ``now`` is zero, in seconds since 1970.
    package init(wallTime: Int64 = ManualClock.start) { wallStart = wallTime }

    package var now: Duration { state.withLock { $0.now } }
    package var wallTime: Int64 { wallStart + now.components.seconds }

    /// The number of actions that are neither due nor cancelled.
    package var waitingCount: Int {
        state.withLock { state in
            state.waiting.removeAll { entry in entry.action.withLock { $0 == nil } }
            return state.waiting.count
        }
    }

    /// The time of the next action.
    package var nextDue: Duration? {
        state.withLock { state in
            state.waiting.removeAll { entry in entry.action.withLock { $0 == nil } }
            return state.waiting.earliest
        }
    }

    package func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let entry = Entry(action: action)
        state.withLock { $0.waiting.insert(entry, at: time) }
        return ScheduledAction { _ = entry.take() }
    }

    /// Advances the time, and runs the actions that become due on this thread: in order, each at its own time,
    /// including those that these actions schedule.
    package func advance(by duration: Duration) {
        let end = now + duration
        while let action = next(until: end) { action() }
        state.withLock { $0.now = max($0.now, end) }
    }

    private func next(until end: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            while let time = state.waiting.earliest, time <= end {
                guard let entry = state.waiting.removeEarliest() else { return nil }
                if let action = entry.take() {
                    state.now = max(state.now, time)
                    return action
                }
            }
            return nil
        }
    }
}
