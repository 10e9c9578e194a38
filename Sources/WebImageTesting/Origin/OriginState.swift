import Synchronization
import WebImageCore
import WebImageSystem

/// The state that an ``OriginServer`` shares with its threads. The threads retain it and not the server, so that the
/// server can be released.
final class OriginState: Sendable {
    private struct Routes {
        var exact: [String: OriginServer.Handler] = [:]
        var prefixes: [(prefix: String, handler: OriginServer.Handler)] = []

        func handler(for request: RecordedRequest) -> OriginServer.Handler? {
            let path = request.path
            return exact[request.target] ?? exact[path] ?? prefixes.last { path.hasPrefix($0.prefix) }?.handler
        }
    }

    private struct Doors {
        var isStopped = false
        /// Whether the listener is open. Once it is closed, its descriptor may be another file's.
        var isListening = true
        /// The sockets of open connections. A socket is removed from here before it is closed.
        var sockets: [Int: LoopbackSocket] = [:]
    }

    let ledger = Observed(OriginLedger())
    private let routes = Guarded(Routes())
    private let doors = Guarded(Doors())
    private let listener: LoopbackSocket
    private let threads = ThreadPool(name: "wi-origin-conn", width: OriginServer.maxConnections)

    init(_ listener: LoopbackSocket) { self.listener = listener }

    var isStopped: Bool { doors.withLock { $0.isStopped } }

    func acceptConnections() {
        while let socket = listener.accept(while: { !isStopped }) {
            let number = ledger.change { state in
                state.accepted += 1
                state.open += 1
                return state.accepted
            }
            let isWelcome = doors.withLock { doors in
                if !doors.isStopped { doors.sockets[number] = socket }
                return !doors.isStopped
            }
            guard isWelcome else {
                socket.reset()
                ledger.change { $0.open -= 1 }
                continue
            }
            threads.run(.normal) {
                OriginConnection(socket, number: number, state: self).serve()
                self.ledger.change { $0.open -= 1 }
            }
        }
        doors.withLock { doors in
            doors.isListening = false
            listener.close()
        }
    }

    /// Removes a connection, which the caller then closes.
    func forget(_ number: Int) {
        doors.withLock { _ = $0.sockets.removeValue(forKey: number) }
    }

    func stop() {
        doors.withLock { doors in
            guard !doors.isStopped else { return }
            doors.isStopped = true
            if doors.isListening { listener.shutdown() }
            for socket in doors.sockets.values { socket.shutdown() }
        }
        ledger.giveUp()
    }

    func serve(_ path: String, _ handler: @escaping OriginServer.Handler) {
        routes.withLock { $0.exact[path] = handler }
    }

    func serve(under prefix: String, _ handler: @escaping OriginServer.Handler) {
        routes.withLock { $0.prefixes.append((prefix, handler)) }
    }

    func response(to request: RecordedRequest) -> OriginResponse {
        guard let handler = routes.withLock({ $0.handler(for: request) }) else { return .status(404) }
        return handler(request)
    }
}
