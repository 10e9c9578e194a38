public import NIOCore
import RESP

/// An event of a subscription. Events are delivered in order.
public enum SubscriptionEvent: Hashable, Sendable {
    /// All messages from now on are delivered. Messages that were published before, or while the connection was lost,
    /// are not.
    case active
    case message(ByteBuffer)
    /// The connection is lost, and messages may be missed until the next ``active``. The client reconnects by itself.
    case lost
}

/// The connection of an event loop for subscriptions to channels. It belongs to its event loop, on which every method
/// must be called.
final class SubscriberConnection: @unchecked Sendable {  // Its state is touched on its event loop only.
    private let link: RedisLink
    private let configuration: RedisConfiguration
    private let onRefusal: (RedisError) -> Void
    private var subscriptions = Subscriptions()
    private var handlers: [Int: (SubscriptionEvent) -> Void] = [:]
    private var heartbeat: RepeatedTask?
    private var unansweredPings = 0
    private var lastRefusal: RedisError?

    /// - Parameter onRefusal: called when the server refuses a subscription, once for each reason until it accepts
    ///   all.
    init(_ configuration: RedisConfiguration, _ link: RedisLink, onRefusal: @escaping (RedisError) -> Void) {
        self.configuration = configuration
        self.link = link
        self.onRefusal = onRefusal
        link.observe(
            RedisLink.Observer(
                ready: { [weak self] in self?.resubscribe() },
                received: { [weak self] in self?.take($0) },
                lost: { [weak self] _ in self?.lose() },
                mayConnect: { [weak self] in self?.reconnect() }))
    }

    func subscribe(_ listener: Int, to channel: String, _ handler: @escaping (SubscriptionEvent) -> Void) {
        handlers[listener] = handler
        let added = subscriptions.add(listener, to: channel)
        if added.writes { write("SUBSCRIBE", [channel]) }
        if added.isActive { handler(.active) }
        link.connect()
    }

    func unsubscribe(_ listener: Int, from channel: String) {
        handlers[listener] = nil
        if subscriptions.remove(listener, from: channel) { write("UNSUBSCRIBE", [channel]) }
    }

    func close() {
        heartbeat?.cancel()
        link.close()
        handlers = [:]
    }

    private func write(_ command: RESPArgument, _ channels: [String]) {
        var bytes = ByteBuffer()
        RESPEncoder.write(command: [command] + channels.map { RESPArgument($0) }, to: &bytes)
        link.write(bytes)
    }

    private func reconnect() {
        if !subscriptions.isEmpty { link.connect() }
    }

    private func resubscribe() {
        let channels = subscriptions.connect()
        for part in stride(from: 0, to: channels.count, by: 500) {
            write("SUBSCRIBE", Array(channels[part..<min(part + 500, channels.count)]))
        }
        unansweredPings = 0
        heartbeat = link.loop.scheduleRepeatedTask(
            initialDelay: configuration.stallLimit, delay: configuration.stallLimit
        ) { [weak self] _ in self?.beat() }
    }

    /// Pings the server at intervals, because a server that sends no messages may be gone.
    private func beat() {
        guard unansweredPings == 0 else { return link.drop(.timedOut) }
        unansweredPings += 1
        write("PING", [])
    }

    private func take(_ value: RESPValue) {
        guard case .push(let members) = value, let kind = members.first?.text else {
            // The answer to a PING, which is not a push.
            if case .error(let text) = value { refuse(.refused(text)) } else { unansweredPings = 0 }
            return
        }
        guard members.count == 3, let channel = members[1].text else { return }
        switch kind {
        case "subscribe":
            let confirmed = subscriptions.confirm(channel)
            if lastRefusal != nil, subscriptions.isConfirmed { lastRefusal = nil }
            for listener in confirmed.sorted() { handlers[listener]?(.active) }
        case "message":
            guard let bytes = members[2].bytes else { return }
            for listener in subscriptions.listeners(of: channel).sorted() { handlers[listener]?(.message(bytes)) }
        default: break
        }
    }

    /// Drops the connection, which is opened again after a while, because the user's permissions may change.
    private func refuse(_ error: RedisError) {
        link.drop(error)
        if error != lastRefusal { onRefusal(error) }
        lastRefusal = error
    }

    private func lose() {
        heartbeat?.cancel()
        heartbeat = nil
        for listener in subscriptions.disconnect().sorted() { handlers[listener]?(.lost) }
    }
}
