/// Says when the network is back. ``SystemNetwork`` asks the system; a toolkit or a program that knows better makes one of its own.
public protocol ConnectivityMonitor: AnyObject, Sendable {
    /// Calls `action`, on any thread, each time that the network has come back, until the observation is let go of.
    func onReturn(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation
}

/// Ends when it is let go of.
public final class ConnectivityObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
