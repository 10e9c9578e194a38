import Synchronization
import WebImageCore
import WebImageSystem

/// One scheduled action for any number of deadlines. It fires at the earliest known deadline, and its handler then
/// returns the next one. Postponing a deadline costs nothing.
final class DeadlineTimer: Sendable {
    private struct State {
        var armedFor: Duration?
        var action: ScheduledAction?
        var generation = 0
    }

    private let clock: any LoadClock
    private let state = Guarded(State())

    init(clock: any LoadClock) { self.clock = clock }

    /// Whether the timer fires no later than at `deadline`.
    func isArmed(by deadline: Duration) -> Bool {
        state.withLock { state in state.armedFor.map { $0 <= deadline } ?? false }
    }

    /// Makes sure that `fire` is called no later than at `deadline`. The `fire` of an earlier call may be called
    /// instead of this one: they must do the same.
    func arm(for deadline: Duration, fire: @escaping @Sendable () -> Void) {
        let armed = state.withLock { state -> (generation: Int, old: ScheduledAction?)? in
            if let armedFor = state.armedFor, armedFor <= deadline { return nil }
            state.armedFor = deadline
            state.generation += 1
            defer { state.action = nil }
            return (state.generation, state.action)
        }
        guard let armed else { return }
        armed.old?.cancel()
        let action = clock.schedule(at: deadline) { [weak self] in
            if self?.claim(armed.generation) == true { fire() }
        }
        let isStale = state.withLock { state in
            if state.generation != armed.generation || state.armedFor == nil { return true }
            state.action = action
            return false
        }
        if isStale { action.cancel() }
    }

    func cancel() {
        let action = state.withLock { state in
            state.armedFor = nil
            state.generation += 1
            defer { state.action = nil }
            return state.action
        }
        action?.cancel()
    }

    private func claim(_ generation: Int) -> Bool {
        state.withLock { state in
            guard state.generation == generation else { return false }
            state.armedFor = nil
            state.action = nil
            return true
        }
    }
}
