package import WebImageCore

/// Who may run: so many transfers in all, so many to one host, the most urgent first. A pure value; every call costs
/// O(log n).
package struct TransferQueue: Sendable {
    /// Who goes first among equally urgent ones.
    package enum Order: Hashable, Sendable {
        /// The one that has waited longest.
        case firstInFirstOut
        /// The newest: what the user looks at now.
        case lastInFirstOut
    }

    package struct Limits: Hashable, Sendable {
        package var total: Int
        package var perHost: Int
        /// Of both, those that low-priority transfers may not take; one is left to them.
        package var reserved: Int

        /// At least one each.
        package init(total: Int = 6, perHost: Int = 6, reserved: Int = 0) {
            self.total = max(total, 1)
            self.perHost = max(perHost, 1)
            self.reserved = max(reserved, 0)
        }

        fileprivate var lowTotal: Int { max(total - reserved, 1) }
        fileprivate var lowPerHost: Int { max(perHost - reserved, 1) }
    }

    package typealias ID = Int

    private struct Rank: Comparable, Sendable {
        let priority: LoadPriority
        /// Smaller goes first.
        let turn: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.priority == right.priority ? left.turn < right.turn : left.priority > right.priority
        }
    }

    private struct Host: Sendable {
        var running = 0
        /// Those of them that are of low priority.
        var lowRunning = 0
        var waiting = IndexedHeap<ID, Rank>()
    }

    package private(set) var limits: Limits
    /// Of those that come from now on; who waits keeps its turn.
    package var order: Order
    package private(set) var isSuspended = false
    private var hosts: [String: Host] = [:]
    /// The hosts that may start one more, by their first waiter.
    private var ready = IndexedHeap<String, Rank>()
    private var running: [ID: (host: String, isLow: Bool)] = [:]
    private var lowRunning = 0
    private var hostOfWaiting: [ID: String] = [:]
    private var turn = 0
    private var turns: [ID: Int] = [:]

    package init(limits: Limits = Limits(), order: Order = .firstInFirstOut) {
        self.limits = limits
        self.order = order
    }

    package var runningCount: Int { running.count }
    package var waitingCount: Int { hostOfWaiting.count }

    /// Queues a transfer. One that has run (and goes on at another host) keeps its first turn.
    package mutating func enqueue(_ id: ID, host: String, priority: LoadPriority) {
        if turns[id] == nil {
            turn += 1
            turns[id] = order == .firstInFirstOut ? turn : -turn
        }
        hostOfWaiting[id] = host
        hosts[host, default: Host()].waiting.set(id, to: Rank(priority: priority, turn: turns[id] ?? turn))
        update(host)
    }

    package mutating func setPriority(_ priority: LoadPriority, of id: ID) {
        if let place = running[id] { return setLow(priority == .low, of: id, place) }
        guard let host = hostOfWaiting[id], let turn = turns[id] else { return }
        hosts[host]?.waiting.set(id, to: Rank(priority: priority, turn: turn))
        update(host)
    }

    /// A running transfer that has become urgent, or no longer is, counts as what it is now.
    private mutating func setLow(_ isLow: Bool, of id: ID, _ place: (host: String, isLow: Bool)) {
        guard isLow != place.isLow else { return }
        running[id]?.isLow = isLow
        lowRunning += isLow ? 1 : -1
        hosts[place.host]?.lowRunning += isLow ? 1 : -1
        update(place.host)
    }

    /// The next transfer that may start now; it counts as running until ``release(_:)``.
    package mutating func next() -> ID? {
        guard !isSuspended, runningCount < limits.total, let (host, rank) = ready.first else { return nil }
        let isLow = rank.priority == .low
        // When the first of all is of low priority, so is every other one.
        if isLow, lowRunning >= limits.lowTotal { return nil }
        guard let id = hosts[host]?.waiting.popFirst() else { return nil }
        hostOfWaiting[id] = nil
        running[id] = (host, isLow)
        lowRunning += isLow ? 1 : 0
        hosts[host]?.running += 1
        hosts[host]?.lowRunning += isLow ? 1 : 0
        update(host)
        return id
    }

    /// Gives up the slot of a running transfer, which may be queued again.
    package mutating func release(_ id: ID) {
        guard let (host, isLow) = running.removeValue(forKey: id) else { return }
        lowRunning -= isLow ? 1 : 0
        hosts[host]?.running -= 1
        hosts[host]?.lowRunning -= isLow ? 1 : 0
        update(host)
    }

    /// Forgets a transfer, waiting or running.
    package mutating func remove(_ id: ID) {
        release(id)
        turns[id] = nil
        guard let host = hostOfWaiting.removeValue(forKey: id) else { return }
        hosts[host]?.waiting.remove(id)
        update(host)
    }

    /// Forgets all that wait; what runs keeps its slots.
    package mutating func removeAllWaiting() {
        for id in Array(hostOfWaiting.keys) { remove(id) }
    }

    package mutating func setLimits(_ limits: Limits) {
        self.limits = limits
        for host in Array(hosts.keys) { update(host) }
    }

    /// A suspended queue starts nothing; what runs goes on.
    package mutating func setSuspended(_ isSuspended: Bool) { self.isSuspended = isSuspended }

    /// Brings `ready` in line with what `host` may do, and forgets hosts that have nothing.
    private mutating func update(_ name: String) {
        guard let host = hosts[name] else { return }
        if let first = host.waiting.first, host.running < limits.perHost,
            first.rank.priority != .low || host.lowRunning < limits.lowPerHost
        {
            ready.set(name, to: first.rank)
        } else {
            ready.remove(name)
        }
        if host.running == 0, host.waiting.isEmpty { hosts[name] = nil }
    }
}
