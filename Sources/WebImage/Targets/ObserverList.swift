import Synchronization
import WebImageSystem

/// Who wants to be told that the network is back, each for as long as its observation is kept. Any thread may use it.
final class ObserverList: Sendable {
    private struct State {
        var last = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    init() {}

    func add(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation {
        let number = state.withLock { state in
            state.last += 1
            state.actions[state.last] = action
            return state.last
        }
        return ConnectivityObservation { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // Let go of outside the lock: what the action held may take its own observations with it.
        _ = state.withLock { $0.actions.removeValue(forKey: number) }
    }

    func tell() {
        let actions = state.withLock { $0.actions.sorted { $0.key < $1.key } }
        for (_, action) in actions { action() }
    }
}
