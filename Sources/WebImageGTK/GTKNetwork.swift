#if GTK
    internal import CSysGTK
    public import WebImage

    /// Says when the network is back, as GLib's monitor of it does.
    ///
    /// Made and used on the main actor; observations may be begun and ended anywhere.
    public final class GTKNetwork: ConnectivityMonitor {
        /// For all widgets of a program.
        @MainActor public static let shared = GTKNetwork()

        private let observers = ObserverList()

        @MainActor public init() {
            guard let monitor = g_network_monitor_get_default() else { return }
            var wasThere = g_network_monitor_get_network_available(monitor) != 0
            // The connection lasts as long as the monitor, which is for ever.
            SignalConnection.connect(UnsafeMutableRawPointer(monitor), "notify::network-available") { [observers] in
                let isThere = g_network_monitor_get_network_available(monitor) != 0
                defer { wasThere = isThere }
                if isThere, !wasThere { observers.tell() }
            }
        }

        public func onReturn(_ action: @escaping @Sendable () -> Void) -> ConnectivityObservation {
            observers.add(action)
        }
    }
#endif
