import Synchronization
import WebImageSystem

/// Reports when the machine's network is back, that is, when it has an address again after it had none (Linux:
/// `rtnetlink`; on other systems it reports nothing). It needs one sleeping thread while it is observed. Any thread may
/// use it.
public final class SystemNetwork: ConnectivityMonitor {
    /// The monitor that all targets of a program share.
    public static let shared = SystemNetwork()

    private struct State {
        var watch: NetworkWatch?
        var wasAvailable = true
        var observers = 0
    }

    private let state = Guarded(State())
    private let observers = ObserverList()

    public init() {}

    public func onReturn(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation {
        let observation = observers.add(action)
        begin()
        return ConnectivityObservation { [weak self] in
            _ = observation
            self?.end()
        }
    }

    private func begin() {
        state.withLock { state in
            state.observers += 1
            guard state.watch == nil else { return }
            // In this order, so that no change between them is missed: `changed` waits for the lock.
            state.watch = NetworkWatch { [weak self] in self?.look() }
            state.wasAvailable = NetworkWatch.isAvailable
        }
    }

    private func end() {
        // The watch is released outside the lock.
        let watch = state.withLock { state -> NetworkWatch? in
            state.observers -= 1
            guard state.observers == 0 else { return nil }
            defer { state.watch = nil }
            return state.watch
        }
        _ = watch
    }

    private func look() { changed(isAvailable: NetworkWatch.isAvailable) }

    /// Tells the observers if the network is back.
    func changed(isAvailable: Bool) {
        let isBack = state.withLock { state in
            defer { state.wasAvailable = isAvailable }
            return isAvailable && !state.wasAvailable
        }
        if isBack { observers.tell() }
    }
}
