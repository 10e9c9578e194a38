/// The listeners of a connection's channels. A pure value.
struct Subscriptions {
    private struct Channel {
        var listeners: Set<Int> = []
        /// How many SUBSCRIBE commands were written and are not confirmed yet.
        var unconfirmed = 0

        func isActive(_ isConnected: Bool) -> Bool { isConnected && unconfirmed == 0 && !listeners.isEmpty }
    }

    private var channels: [String: Channel] = [:]
    private var isConnected = false

    var isEmpty: Bool { channels.values.allSatisfy(\.listeners.isEmpty) }

    /// Whether the server has confirmed every SUBSCRIBE that was written.
    var isConfirmed: Bool { channels.values.allSatisfy { $0.unconfirmed == 0 } }

    struct Added {
        /// Whether SUBSCRIBE must be written.
        var writes = false
        /// Whether the channel already delivers messages.
        var isActive = false
    }

    mutating func add(_ listener: Int, to name: String) -> Added {
        var channel = channels[name] ?? Channel()
        let isFirst = channel.listeners.isEmpty
        channel.listeners.insert(listener)
        if isFirst, isConnected { channel.unconfirmed += 1 }
        channels[name] = channel
        return Added(writes: isFirst && isConnected, isActive: channel.isActive(isConnected))
    }

    /// - Returns: whether UNSUBSCRIBE must be written.
    mutating func remove(_ listener: Int, from name: String) -> Bool {
        guard channels[name]?.listeners.remove(listener) != nil, channels[name]?.listeners.isEmpty == true else {
            return false
        }
        if !isConnected || channels[name]?.unconfirmed == 0 { channels[name] = nil }
        return isConnected
    }

    /// - Returns: the channels to subscribe to again.
    mutating func connect() -> [String] {
        isConnected = true
        for name in channels.keys { channels[name]?.unconfirmed = 1 }
        return channels.keys.sorted()
    }

    /// Called when the server has confirmed a SUBSCRIBE.
    ///
    /// - Returns: the listeners who get messages from now on.
    mutating func confirm(_ name: String) -> Set<Int> {
        guard var channel = channels[name], channel.unconfirmed > 0 else { return [] }
        channel.unconfirmed -= 1
        channels[name] = channel.unconfirmed == 0 && channel.listeners.isEmpty ? nil : channel
        return channel.unconfirmed == 0 ? channel.listeners : []
    }

    func listeners(of name: String) -> Set<Int> { channels[name]?.listeners ?? [] }

    /// Called when the connection is lost.
    ///
    /// - Returns: the listeners who got messages until now.
    mutating func disconnect() -> Set<Int> {
        defer { isConnected = false }
        var active: Set<Int> = []
        for (name, channel) in channels {
            if channel.isActive(isConnected) { active.formUnion(channel.listeners) }
            channels[name] = channel.listeners.isEmpty ? nil : Channel(listeners: channel.listeners)
        }
        return active
    }
}
