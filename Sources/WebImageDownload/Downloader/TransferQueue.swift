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

        /// At least one each.
        package init(total: Int = 6, perHost: Int = 6) {
            self.total = max(total, 1)
            self.perHost = max(perHost, 1)
        }
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
        var waiting = IndexedHeap<ID, Rank>()
    }

    package private(set) var limits: Limits
    package let order: Order
    package private(set) var isSuspended = false
    private var hosts: [String: Host] = [:]
    /// The hosts that may start one more, by their first waiter.
    private var ready = IndexedHeap<String, Rank>()
    private var hostOfRunning: [ID: String] = [:]
    private var hostOfWaiting: [ID: String] = [:]
    private var turn = 0
    private var turns: [ID: Int] = [:]

    package init(limits: Limits = Limits(), order: Order = .firstInFirstOut) {
        self.limits = limits
        self.order = order
    }

    package var runningCount: Int { hostOfRunning.count }
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
        guard let host = hostOfWaiting[id], let turn = turns[id] else { return }
        hosts[host]?.waiting.set(id, to: Rank(priority: priority, turn: turn))
        update(host)
    }

    /// The next transfer that may start now; it counts as running until ``release(_:)``.
    package mutating func next() -> ID? {
        guard !isSuspended, runningCount < limits.total, let host = ready.first?.id,
            let id = hosts[host]?.waiting.popFirst()
        else { return nil }
        hostOfWaiting[id] = nil
        hostOfRunning[id] = host
        hosts[host]?.running += 1
        update(host)
        return id
    }

    /// Gives up the slot of a running transfer, which may be queued again.
    package mutating func release(_ id: ID) {
        guard let host = hostOfRunning.removeValue(forKey: id) else { return }
        hosts[host]?.running -= 1
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
        if let first = host.waiting.first, host.running < limits.perHost {
            ready.set(name, to: first.rank)
        } else {
            ready.remove(name)
        }
        if host.running == 0, host.waiting.isEmpty { hosts[name] = nil }
    }
}
