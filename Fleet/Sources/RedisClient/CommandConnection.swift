import NIOCore
import RESP

/// The connection of an event loop for commands, of which many may wait for answers. It belongs to its event loop, on
/// which every method must be called.
final class CommandConnection: @unchecked Sendable {  // Its state is touched on its event loop only.
    typealias Reply = (Result<RESPValue, RedisError>) -> Void

    private let link: RedisLink
    private let configuration: RedisConfiguration
    private var pending: PendingCommands<Reply>
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?

    init(_ configuration: RedisConfiguration, _ link: RedisLink) {
        self.configuration = configuration
        self.link = link
        pending = PendingCommands(most: configuration.maxInFlight)
        link.observe(
            RedisLink.Observer(
                ready: { [weak self] in self?.writeWaiting() },
                received: { [weak self] in self?.takeAnswer($0) },
                lost: { [weak self] in self?.lose($0) },
                // The next command need not wait for it.
                mayConnect: { [weak self] in self?.link.connect() }))
    }

    /// - Parameters:
    ///   - limit: the time for the command; nil: as configured.
    ///   - isProbe: whether to reconnect at once, even if the connection was lost a moment ago.
    ///   - reply: called once, on the event loop.
    func send(
        _ command: [RESPArgument], within limit: TimeAmount? = nil, isProbe: Bool = false, _ reply: @escaping Reply
    ) {
        guard !pending.isFull else { return reply(.failure(.overloaded)) }
        if isProbe { link.connectNow() } else { link.connect() }
        guard link.acceptsCommands else { return reply(.failure(link.failure ?? .connectionLost)) }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(command.reduce(16) { $0 + $1.length })
        RESPEncoder.write(command: command, to: &bytes)
        let deadline = link.loop.now + (limit ?? configuration.deadline)
        if link.isReady {
            pending.addWritten(reply, until: deadline)
            link.write(bytes)
        } else {
            pending.addUnwritten(reply, bytes, until: deadline)
        }
        startTimer(at: deadline)
    }

    func close() {
        timer?.task.cancel()
        link.close()
    }

    private func writeWaiting() {
        for bytes in pending.writeWaiting() { link.write(bytes) }
    }

    private func takeAnswer(_ value: RESPValue) {
        // Pushes do not matter on a command connection.
        if case .push = value { return }
        switch pending.takeAnswer() {
        case .late: break
        case .nobody: link.drop(.connectionLost)
        case .command(let reply):
            guard case .error(let text) = value else { return reply(.success(value)) }
            reply(.failure(.refused(text)))
            // The server has become a replica. Its name, or a balancer, may lead to the new primary by now.
            if text.contains("READONLY") { link.drop(.refused(text)) }
        }
    }

    private func lose(_ error: RedisError) {
        for reply in pending.loseAll() { reply(.failure(error)) }
    }

    /// Schedules the one timer of all commands for the earliest deadline.
    private func startTimer(at deadline: NIODeadline) {
        if let timer {
            if timer.deadline <= deadline { return }
            timer.task.cancel()
        }
        timer = (link.loop.scheduleTask(deadline: deadline) { [weak self] in self?.expire() }, deadline)
    }

    private func expire() {
        timer = nil
        let now = link.loop.now
        let expired = pending.expire(at: now)
        if let since = pending.lateSince, now - since >= configuration.stallLimit { link.drop(.timedOut) }
        for reply in expired.written { reply(.failure(.timedOut)) }
        for reply in expired.unwritten { reply(.failure(.connecting)) }
        if pending.count > 0 { startTimer(at: pending.nextDeadline ?? now + configuration.stallLimit) }
    }
}
