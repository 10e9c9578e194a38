import CShimSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Watches the machine's network for changes of interfaces and addresses, on a thread of its own that sleeps in
/// between.
package final class NetworkWatch: Sendable {
    private let stop: PipeEnds

    /// Whether the machine has an address besides those of the loopback, on an interface that is up.
    package static var isAvailable: Bool { wi_network_is_available() != 0 }

    /// Nil if the system does not report changes.
    ///
    /// - Parameter onChange: called after each change, on the watch's thread. It must not block for long.
    package init?(onChange: @escaping @Sendable () -> Void) {
        let changes = wi_watch_network()
        guard changes >= 0 else { return nil }
        guard let stop = PipeEnds() else {
            close(changes)
            return nil
        }
        self.stop = stop
        // The thread owns both descriptors, and ends when the pipe's other end is closed.
        let end = stop.reading
        let hasThread = startThread(named: "wi-network") {
            while Self.waitForChange(changes, end) { onChange() }
            close(changes)
            close(end)
        }
        if !hasThread {
            // The other end is closed by `deinit`, which runs as all properties are set.
            close(changes)
            close(end)
            return nil
        }
    }

    deinit { close(stop.writing) }

    /// - Returns: false at the end of the watch.
    private static func waitForChange(_ changes: Int32, _ end: Int32) -> Bool {
        var waiting = [
            pollfd(fd: changes, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&waiting, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, waiting[1].revents == 0 else { return false }
            // The content of the messages does not matter, nor do messages that do not fit.
            var bytes = [UInt8](repeating: 0, count: 4096)
            let isAlive =
                recv(changes, &bytes, bytes.count, Int32(MSG_DONTWAIT)) >= 0 || errno == ENOBUFS
                || errno == EAGAIN
            return isAlive
        }
    }
}
