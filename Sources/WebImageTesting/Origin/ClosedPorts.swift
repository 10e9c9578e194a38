public import WebImageCore

extension OriginServer {
    /// A port on 127.0.0.1 that nobody listens on: a connection to it is refused.
    public static func closedPort() throws(WebImageError) -> Int {
        let socket = try LoopbackSocket.listening()
        defer { socket.close() }
        return Int(socket.port)
    }
}

/// A port on 127.0.0.1 on which connecting never ends: somebody listens, takes nobody in, and the queue is full, so that
/// the system drops every further SYN. It goes with the value.
public final class BlackHole: Sendable {
    public let port: Int
    private let sockets: [LoopbackSocket]

    public init() throws(WebImageError) {
        let listener = try LoopbackSocket.listening(backlog: 0)
        var sockets = [listener]
        // Linux lets one more in than the backlog says; the others stand before the door as later ones will.
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
