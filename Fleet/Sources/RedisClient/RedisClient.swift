import FleetConnections
public import NIOCore
public import RESP
import Synchronization

/// Sends commands to a Redis or Valkey server, and subscribes to its channels. Any thread may use it.
///
/// Each event loop has one connection for commands and one for subscriptions, which are opened when they are first
/// needed, and again after they were lost. Every command ends within its deadline, with an answer or an error.
public final class RedisClient: Sendable {
    /// Counts since the client was made.
    public struct Statistics: Hashable, Sendable {
        public var commands = 0
        public var failures = 0
        /// Commands that were not sent because the server had failed and was not asked for a while.
        public var spared = 0
        /// How often the server failed so often that it was not asked for a while.
        public var openings = 0

        public init() {}
    }

    /// A notice about the state of the server.
    public enum Notice: Hashable, Sendable {
        /// The server is not asked for a while, because it failed with this error. Sent once until ``recovered``, and
        /// once more if the reason becomes known only later.
        case failing(RedisError)
        /// The server refuses some commands but carries out others. Sent after the next command that succeeds. For
        /// subscriptions, sent at once, by each event loop once for each reason.
        case refused(RedisError)
        /// The server carries out commands again.
        case recovered
    }

    private struct State {
        var circuit = Circuit()
        var statistics = Statistics()
        /// Whether the reason of the current failures was sent in a notice.
        var reasonIsTold = false
        /// The last refusal since the last command that succeeded.
        var refusal: RedisError?
        var lastListener = 0
        var next = 0
        var isClosed = false

        mutating func succeed() -> Notice? {
            let wasTrusting = circuit.isTrusting
            defer { refusal = nil }
            if circuit.succeed() == .recovered { return .recovered }
            return wasTrusting ? refusal.map { .refused($0) } : nil
        }

        mutating func fail(_ error: RedisError) -> (Circuit.Action, Notice?) {
            statistics.failures += 1
            if case .refused = error { refusal = error }
            return act(circuit.fail(), after: error)
        }

        mutating func endProbe(_ error: RedisError?) -> (Circuit.Action, Notice?) {
            act(circuit.endProbe(succeeded: error == nil), after: error)
        }

        private mutating func act(_ action: Circuit.Action, after error: RedisError?) -> (Circuit.Action, Notice?) {
            switch action {
            case .open:
                statistics.openings += 1
                reasonIsTold = false
            case .probe:
                // Reports the reason later if the first commands failed before it was known why there is no connection.
                guard !reasonIsTold, error?.isSpecific == true else { return (action, nil) }
            case .nothing, .recovered: return (action, nil)
            }
            if error?.isSpecific == true { reasonIsTold = true }
            return (action, error.map { .failing($0) })
        }
    }

    private struct Connections {
        let loop: any EventLoop
        let commands: CommandConnection
        let subscriber: SubscriberConnection

        func close() {
            commands.close()
            subscriber.close()
        }
    }

    private let connections: [Connections]
    private let state = Mutex(State())
    private let onNotice: @Sendable (Notice) -> Void

    /// - Parameters:
    ///   - group: the event loops of the connections.
    ///   - onNotice: called when the server fails, refuses commands, or works again.
    /// - Throws: `configuration`.
    public init(
        _ configuration: RedisConfiguration, group: any EventLoopGroup,
        onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws(RedisError) {
        let secure = try configuration.secureConnections()
        self.onNotice = onNotice
        connections = group.makeIterator().map { loop in
            Connections(
                loop: loop, commands: CommandConnection(configuration, RedisLink(configuration, secure, on: loop)),
                subscriber: SubscriberConnection(configuration, RedisLink(configuration, secure, on: loop)) {
                    onNotice(.refused($0))
                })
        }
    }

    deinit {
        for connection in connections {
            connection.loop.execute { connection.close() }
        }
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Whether commands are sent. False for a while after several failures in a row, and after ``close()``.
    public var isAvailable: Bool { state.withLock { !$0.circuit.isOpen && !$0.isClosed } }

    /// Sends a command.
    ///
    /// - Parameter deadline: the time for this command; nil: ``RedisConfiguration/deadline``.
    /// - Returns: the server's answer, which is never `.error`.
    /// - Throws: within the deadline, or at once if nothing can be sent.
    public func send(
        _ command: [RESPArgument], deadline: TimeAmount? = nil
    ) async throws(RedisError) -> RESPValue {
        let connection = try takeConnection()
        let result = await withCheckedContinuation { continuation in
            connection.loop.execute {
                connection.commands.send(command, within: deadline) { [self] result in
                    note(result, connection)
                    continuation.resume(returning: result)
                }
            }
        }
        return try result.get()
    }

    /// Subscribes to a channel until the subscription is ended.
    ///
    /// - Parameter handler: called with each event, in order, on an event loop. It must not block.
    public func subscribe(
        to channel: String, _ handler: @escaping @Sendable (SubscriptionEvent) -> Void
    ) -> RedisSubscription {
        let listener = state.withLock { state in
            state.lastListener += 1
            return state.lastListener
        }
        // All subscriptions to a channel share a connection.
        let connection = connections[Int(UInt(bitPattern: channel.hashValue) % UInt(connections.count))]
        connection.loop.execute { connection.subscriber.subscribe(listener, to: channel, handler) }
        return RedisSubscription {
            connection.loop.execute { connection.subscriber.unsubscribe(listener, from: channel) }
        }
    }

    /// Closes all connections. Waiting commands end with `closed`.
    public func close() async {
        state.withLock { $0.isClosed = true }
        for connection in connections {
            try? await connection.loop.submit { connection.close() }.get()
        }
    }

    private func takeConnection() throws(RedisError) -> Connections {
        try state.withLock { (state) throws(RedisError) -> Connections in
            if state.isClosed { throw .closed }
            if state.circuit.isOpen {
                state.statistics.spared += 1
                throw .circuitOpen
            }
            state.statistics.commands += 1
            state.next = (state.next + 1) % connections.count
            return connections[state.next]
        }
    }

    // MARK: - The circuit

    private func note(_ result: Result<RESPValue, RedisError>, _ connection: Connections) {
        let (action, notice) = state.withLock { state -> (Circuit.Action, Notice?) in
            switch result {
            case .failure(let error) where error.isFailure: state.fail(error)
            case .success: (.nothing, state.succeed())
            case .failure: (.nothing, nil)
            }
        }
        if let notice { onNotice(notice) }
        carryOut(action, connection)
    }

    private func carryOut(_ action: Circuit.Action, _ connection: Connections) {
        switch action {
        case .open(let pause), .probe(let pause): probe(after: pause, connection)
        case .nothing, .recovered: break
        }
    }

    private func probe(after pause: TimeAmount, _ connection: Connections) {
        connection.loop.scheduleTask(in: pause) { [weak self] in
            guard let self, !state.withLock({ $0.isClosed }) else { return }
            connection.commands.send(["PING"], isProbe: true) { [weak self] result in
                self?.endProbe(result, connection)
            }
        }
    }

    private func endProbe(_ result: Result<RESPValue, RedisError>, _ connection: Connections) {
        let error: RedisError? = if case .failure(let error) = result { error } else { nil }
        let (action, notice) = state.withLock { $0.endProbe(error) }
        if let notice { onNotice(notice) }
        carryOut(action, connection)
    }
}

/// Ends a subscription when ``end()`` is called, or when it is released.
public final class RedisSubscription: Sendable {
    private let onEnd: Mutex<(@Sendable () -> Void)?>

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

    deinit { end() }

    /// Ends the subscription. Events that are already being delivered may still arrive.
    public func end() {
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        onEnd?()
    }
}
