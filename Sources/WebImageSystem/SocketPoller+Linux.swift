internal import CShimSystem
import Glibc

/// Waits until one of many sockets is ready; the cost is that of those that are, not of all. One thread watches and
/// waits, any may ``wake()`` it.
package final class SocketPoller: Sendable {
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let readable = Readiness(rawValue: WI_POLLER_READABLE)
        package static let writable = Readiness(rawValue: WI_POLLER_WRITABLE)
    }

    private static let capacity = 64
    private let poller: Int32
    private let alarm: Int32

    /// Nil when the process may open no more descriptors: it needs two.
    package init?() {
        let poller = wi_poller_make()
        guard poller >= 0 else { return nil }
        let alarm = wi_poller_make_alarm(poller)
        guard alarm >= 0 else {
            close(poller)
            return nil
        }
        (self.poller, self.alarm) = (poller, alarm)
    }

    deinit {
        close(alarm)
        close(poller)
    }

    /// Waits for the socket from now on, in place of what was waited for before.
    ///
    /// - Returns: false when the system cannot.
    package func watch(_ socket: Int32, for readiness: Readiness) -> Bool {
        wi_poller_watch(poller, socket, readiness.rawValue) == 0
    }

    /// A socket that is closed is forgotten by itself.
    package func forget(_ socket: Int32) { wi_poller_forget(poller, socket) }

    /// Ends a wait, or the next one.
    package func wake() { wi_poller_ring(alarm) }

    /// Waits and tells which sockets are ready, and for what: for nothing when a socket has failed.
    ///
    /// - Parameter milliseconds: at most so long.
    package func wait(milliseconds: Int32, _ body: (_ socket: Int32, Readiness) -> Void) {
        withUnsafeTemporaryAllocation(of: wi_poller_event.self, capacity: Self.capacity) { events in
            guard let first = events.baseAddress else { return }
            let count = wi_poller_wait(poller, first, Int32(events.count), milliseconds)
            for event in events.prefix(Int(count)) where event.socket != alarm {
                body(event.socket, Readiness(rawValue: event.readiness))
            }
        }
    }
}
