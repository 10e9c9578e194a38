public import WebImageCore

extension OriginServer {
    /// A port on 127.0.0.1 on which no process listens, so that connections are refused.
    public static func closedPort() throws(WebImageError) -> Int {
        let socket = try LoopbackSocket.listening()
        defer { socket.close() }
        return Int(socket.port)
    }
}

/// A port on 127.0.0.1 on which connecting never ends: a socket listens but accepts no connection, and its queue is
/// full, so that the system drops every further SYN. The port is closed when the value is released.
public final class BlackHole: Sendable {
    public let port: Int
    private let sockets: [LoopbackSocket]

    public init() throws(WebImageError) {
        let listener = try LoopbackSocket.listening(backlog: 0)
        var sockets = [listener]
        // Linux queues one more connection than the backlog says. The others wait, as later ones will.
        do {
            for _ in 0..<4 { sockets.append(try LoopbackSocket.connecting(to: listener.port, waits: false)) }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        port = Int(listener.port)
        self.sockets = sockets
    }

    deinit { for socket in sockets { socket.close() } }

    /// A URL on that port.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
