import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A TCP socket on 127.0.0.1. It is a bare descriptor, which the code that makes it must close.
package struct LoopbackSocket: Sendable {
    package let descriptor: Int32

    /// Listens on `port`, or on a free one when it is 0.
    package static func listening(port: UInt16 = 0, backlog: Int32 = 512) throws(WebImageError) -> LoopbackSocket {
        let socket = try make()
        var yes: Int32 = 1
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard withAddress(port, { bind(socket.descriptor, $0, $1) }) == 0,
            listen(socket.descriptor, backlog) == 0
        else {
            let number = errno
            socket.close()
            throw WebImageError(.connectionRefused, "127.0.0.1:\(port) cannot be listened on (error \(number))")
        }
        return socket
    }

    /// Connects to `port`. Waits until the connection is made; with `waits` false, it returns before the result is
    /// known.
    package static func connecting(to port: UInt16, waits: Bool = true) throws(WebImageError) -> LoopbackSocket {
        let socket = try make()
        if !waits { socket.stopBlocking() }
        let result = withAddress(port) { connect(socket.descriptor, $0, $1) }
        guard result == 0 || (!waits && errno == EINPROGRESS) else {
            let number = errno
            socket.close()
            throw WebImageError(.connectionRefused, "127.0.0.1:\(port) takes no connection (error \(number))")
        }
        return socket
    }

    private static func make() throws(WebImageError) -> LoopbackSocket {
        let descriptor = wi_stream_socket()
        guard descriptor >= 0 else {
            throw WebImageError(.connectionRefused, "the system gives no more sockets (error \(errno))")
        }
        return LoopbackSocket(descriptor: descriptor)
    }

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The local port.
    package var port: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Returns the next connection, or nil if the listener was shut down.
    ///
    /// - Parameter isWanted: asked while the system has no descriptor or no memory for another connection, because it
    ///   then does not report that the listener was shut down. If it returns false, the result is nil.
    package func accept(while isWanted: () -> Bool = { true }) -> LoopbackSocket? {
        while true {
            let accepted = wi_accept(descriptor)
            if accepted >= 0 {
                let socket = LoopbackSocket(descriptor: accepted)
                var yes: Int32 = 1
                setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return socket
            }
            switch errno {
            // A client that disconnects before it is accepted does not concern the listener.
            case EINTR, ECONNABORTED: break
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                guard isWanted() else { return nil }
                // The system does not tell when there is room again.
                usleep(10_000)
            default: return nil
            }
        }
    }

    private func stopBlocking() {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Sends all bytes; returns false if the peer has closed the connection. Never raises SIGPIPE.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = wi_send(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    package func send(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { send($0) } }

    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Receives the next bytes: nil if the connection was reset, and empty if the peer closed it normally.
    package func receive(atMost count: Int = 65536) -> [UInt8]? {
        var received = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            repeat {
                received = recv(descriptor, buffer.baseAddress, count, 0)
            } while received < 0 && errno == EINTR
            initialized = max(received, 0)
        }
        return received < 0 ? nil : bytes
    }

    /// Shuts down both directions, which wakes every thread that waits on the socket.
    package func shutdown() { _ = endSocket(descriptor, Int32(SHUT_RDWR)) }

    /// Shuts down the sending direction; the peer reads a normal end.
    package func finishSending() { _ = endSocket(descriptor, Int32(SHUT_WR)) }

    package func close() { _ = closeSocket(descriptor) }

    /// Closes the socket so that the peer gets an RST (no linger time, RFC 9293 section 3.5.2).
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }
}

extension LoopbackSocket {
    /// Waits until a connection that was begun without waiting is made; returns false if it is not within the limit.
    package func isConnected(within limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard poll(&watched, 1, Int32(clamping: milliseconds)) == 1 else { return false }
        return watched.revents & Int16(POLLERR | POLLHUP) == 0
    }
}

// The system's functions, which are shadowed by methods of the same name.
private func closeSocket(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func endSocket(_ descriptor: Int32, _ how: Int32) -> Int32 { shutdown(descriptor, how) }
