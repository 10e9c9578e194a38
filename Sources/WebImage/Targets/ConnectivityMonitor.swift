/// Reports when the network is back. ``SystemNetwork`` asks the system; a toolkit or a program with a better source can
/// implement its own monitor.
public protocol ConnectivityMonitor: AnyObject, Sendable {
    /// Calls `action`, on any thread, each time the network has come back, until the observation is released.
    func onReturn(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation
}

/// An observation of the network, which ends when it is released.
public final class ConnectivityObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
