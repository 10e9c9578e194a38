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

    /// Where a transfer is.
    private struct Place: Sendable {
        enum State {
            case waiting
            case running(isLow: Bool)
            /// Has run and may be queued again.
            case idle
        }

        let turn: Int
        var host: String
        var state: State
    }

    private struct Host: Sendable {
        var running = 0
        /// Those of them that are of low priority.
        var lowRunning = 0
        var waiting = IndexedHeap<ID, Rank>()

        mutating func noteRunning(_ change: Int, isLow: Bool) {
            running += change
            if isLow { lowRunning += change }
        }
    }

    package private(set) var limits: Limits
    /// Of those that come from now on; who waits keeps its turn.
    package var order: Order
    package private(set) var isSuspended = false
    private var hosts: [String: Host] = [:]
    /// The hosts that may start one more, by their first waiter.
    private var ready = IndexedHeap<String, Rank>()
    private var places: [ID: Place] = [:]
    package private(set) var runningCount = 0
    package private(set) var waitingCount = 0
    private var lowRunning = 0
    private var turn = 0

    package init(limits: Limits = Limits(), order: Order = .firstInFirstOut) {
        self.limits = limits
        self.order = order
    }

    /// Starts a new transfer at once where nobody waits whom that could concern; false when it must be queued.
    package mutating func start(_ id: ID, host name: String, priority: LoadPriority) -> Bool {
        let isLow = priority == .low
        guard !isSuspended, ready.isEmpty, runningCount < limits.total, !isLow || lowRunning < limits.lowTotal else {
            return false
        }
        var host = Host()
        let index = hosts.index(forKey: name)
        if let index { host = hosts.values[index] }
        guard host.waiting.isEmpty, host.running < limits.perHost, !isLow || host.lowRunning < limits.lowPerHost else {
            return false
        }
        if let index {
            hosts.values[index].noteRunning(1, isLow: isLow)
        } else {
            host.noteRunning(1, isLow: isLow)
            hosts[name] = host
        }
        places[id] = Place(turn: nextTurn(), host: name, state: .running(isLow: isLow))
        noteRunning(1, isLow: isLow)
        return true
    }

    /// Queues a transfer. One that has run (and goes on at another host) keeps its first turn.
    package mutating func enqueue(_ id: ID, host: String, priority: LoadPriority) {
        let place = Place(turn: places[id]?.turn ?? nextTurn(), host: host, state: .waiting)
        places[id] = place
        waitingCount += 1
        hosts[host, default: Host()].waiting.set(id, to: Rank(priority: priority, turn: place.turn))
        update(host)
    }

    package mutating func setPriority(_ priority: LoadPriority, of id: ID) {
        guard let place = places[id] else { return }
        switch place.state {
        case .waiting:
            hosts[place.host]?.waiting.set(id, to: Rank(priority: priority, turn: place.turn))
            update(place.host)
        case .running(let wasLow):
            // One that has become urgent, or no longer is, counts as what it is now.
            let isLow = priority == .low
            guard isLow != wasLow else { return }
            places[id]?.state = .running(isLow: isLow)
            lowRunning += isLow ? 1 : -1
            hosts[place.host]?.lowRunning += isLow ? 1 : -1
            update(place.host)
        case .idle: break
        }
    }

    /// The next transfer that may start now; it counts as running until ``release(_:)``.
    package mutating func next() -> ID? {
        guard !isSuspended, runningCount < limits.total, let (host, rank) = ready.first else { return nil }
        let isLow = rank.priority == .low
        // When the first of all is of low priority, so is every other one.
        if isLow, lowRunning >= limits.lowTotal { return nil }
        guard let id = hosts[host]?.waiting.popFirst() else { return nil }
        places[id]?.state = .running(isLow: isLow)
        waitingCount -= 1
        noteRunning(1, isLow: isLow)
        hosts[host]?.noteRunning(1, isLow: isLow)
        update(host)
        return id
    }

    /// Gives up the slot of a running transfer, which may be queued again.
    package mutating func release(_ id: ID) {
        guard let place = places[id], case .running(let isLow) = place.state else { return }
        places[id]?.state = .idle
        giveUp(place.host, isLow: isLow)
    }

    /// Forgets a transfer, waiting or running.
    package mutating func remove(_ id: ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        switch place.state {
        case .running(let isLow): giveUp(place.host, isLow: isLow)
        case .waiting:
            waitingCount -= 1
            hosts[place.host]?.waiting.remove(id)
            update(place.host)
        case .idle: break
        }
    }

    private mutating func giveUp(_ name: String, isLow: Bool) {
        noteRunning(-1, isLow: isLow)
        guard let index = hosts.index(forKey: name) else { return }
        hosts.values[index].noteRunning(-1, isLow: isLow)
        // Where others wait or nothing is left there is more to do.
        if !hosts.values[index].waiting.isEmpty || hosts.values[index].running == 0 { update(name) }
    }

    private mutating func noteRunning(_ change: Int, isLow: Bool) {
        runningCount += change
        if isLow { lowRunning += change }
    }

    private mutating func nextTurn() -> Int {
        turn += 1
        return order == .firstInFirstOut ? turn : -turn
    }

    /// Forgets a transfer if it waits; one that runs keeps its slot.
    package mutating func removeWaiting(_ id: ID) {
        if case .waiting? = places[id]?.state { remove(id) }
    }

    /// Forgets all that wait; what runs keeps its slots.
    package mutating func removeAllWaiting() {
        for id in Array(places.keys) { removeWaiting(id) }
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
