import Synchronization
import WebImageSystem

/// The closures to call when the network is back. Each is kept for as long as its observation. Any thread may use the
/// list.
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
        // The action is released outside the lock, because that may release further observations, which remove
        // themselves here.
        _ = state.withLock { $0.actions.removeValue(forKey: number) }
    }

    func tell() {
        let actions = state.withLock { $0.actions.sorted { $0.key < $1.key } }
        for (_, action) in actions { action() }
    }
}
