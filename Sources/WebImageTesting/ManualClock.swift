import Synchronization
package import WebImageCore
import WebImageSystem

/// A clock that stands until a test moves it.
package final class ManualClock: LoadClock {
    private final class Entry: Sendable {
        /// Not the closure itself: a lock would wrap it once more at each access of an unoptimised build, and a test that
        /// polls would overflow the stack.
        struct Action {
            let run: @Sendable () -> Void
        }

        let action: Guarded<Action?>

        init(action: @escaping @Sendable () -> Void) { self.action = Guarded(Action(run: action)) }

        /// Gives the action out once.
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

    /// The usual wall time when ``now`` is zero: half a day after the process began. The times of files are the machine's,
    /// and what a test writes is to be older than its clock, but not too old to be kept.
    package static let start = SystemClock.shared.wallTime + 43_200

    /// - Parameter wallTime: seconds since 1970 when ``now`` is zero.
    package init(wallTime: Int64 = ManualClock.start) { wallStart = wallTime }

    package var now: Duration { state.withLock { $0.now } }
    package var wallTime: Int64 { wallStart + now.components.seconds }

    /// How many actions have not come due and were not cancelled before their time.
    package var waitingCount: Int {
        state.withLock { state in
            state.waiting.removeAll { entry in entry.action.withLock { $0 == nil } }
            return state.waiting.count
        }
    }

    /// When the next of them comes due.
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

    /// Moves the time on and runs, on this thread, what comes due on the way: in order, each at its own time, and also
    /// what those actions schedule.
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
