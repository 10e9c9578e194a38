package import WebImageCore
import WebImageSystem

/// Decides which transfers may run: limits in all and for each host, the most urgent first. A pure value; every call
/// costs O(log n).
package struct TransferQueue: Sendable {
    /// The order of transfers with the same priority.
    package enum Order: Hashable, Sendable {
        /// The one that has waited longest.
        case firstInFirstOut
        /// The newest first: what the user is looking at now.
        case lastInFirstOut
    }

    package struct Limits: Hashable, Sendable {
        package var total: Int
        package var perHost: Int
        /// The slots of both limits that transfers of low and very low priority may not take; one is left to them.
        /// Transfers of very low priority count only against their own kind, so that they do not hold up the others.
        package var reserved: Int
        /// How many transfers may run beyond both limits, so that slow origins do not hold up the others: slow
        /// transfers are not counted, and a host without a running transfer may begin one. 0: none.
        package var spare: Int
        /// How many transfers may wait. A tenth of these places is closed to transfers of low priority.
        package var waiting: Int

        /// Each limit is at least one.
        package init(
            total: Int = 6, perHost: Int = 6, reserved: Int = 0, spare: Int = 0, waiting: Int = .max
        ) {
            // Callers often pass `Int.max` for "no limit": sums of limits must not overflow.
            let most = 1 << 30
            self.total = min(max(total, 1), most)
            self.perHost = min(max(perHost, 1), most)
            self.reserved = min(max(reserved, 0), most)
            self.spare = min(max(spare, 0), most)
            self.waiting = max(waiting, 1)
        }

        fileprivate var lowTotal: Int { max(total - reserved, 1) }
        fileprivate var lowPerHost: Int { max(perHost - reserved, 1) }
        /// The limit including slow transfers.
        fileprivate var maxTotal: Int { total + spare }
        fileprivate var maxPerHost: Int { perHost + min(spare, 2 * perHost) }
        /// Transfers of very low priority leave a quarter of the spare slots to others.
        fileprivate func most(_ priority: LoadPriority) -> Int {
            total + (priority <= .low ? spare - spare / 4 : spare)
        }
    }

    package typealias ID = Int

    private struct Rank: Comparable, Sendable {
        let priority: LoadPriority
        /// The transfer with the smaller number goes first.
        let turn: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.priority == right.priority ? left.turn < right.turn : left.priority > right.priority
        }
    }

    /// The state of a transfer.
    private struct Place: Sendable {
        enum State {
            case waiting
            case running(LoadPriority, isSlow: Bool)
            /// The transfer has run and may be queued again.
            case idle
        }

        let turn: Int
        var host: String
        var state: State
    }

    /// The running transfers, of one host or of all.
    private struct Running: Sendable {
        private(set) var count = 0
        /// The slow ones, which count only against the limits that include the spare slots.
        private(set) var slow = 0
        /// The ones of low priority that are not slow.
        private(set) var low = 0
        /// The ones of very low priority that are not slow.
        private(set) var veryLow = 0

        var brisk: Int { count - slow }

        mutating func note(_ change: Int, _ priority: LoadPriority, isSlow: Bool) {
            count += change
            if isSlow {
                slow += change
            } else if priority == .low {
                low += change
            } else if priority == .veryLow {
                veryLow += change
            }
        }

        /// The running transfers that count for a transfer of this priority: those of very low priority count only for
        /// their own kind.
        func seen(by priority: LoadPriority) -> (count: Int, brisk: Int, low: Int) {
            if priority == .veryLow { return (count, brisk, low + veryLow) }
            return (count - veryLow, brisk - veryLow, low)
        }

        func isWithin(total: Int, low lowTotal: Int, most: Int, for priority: LoadPriority) -> Bool {
            let (count, brisk, low) = seen(by: priority)
            return brisk < total && count < most && (priority > .low || low < lowTotal)
        }
    }

    private struct Host: Sendable {
        var running = Running()
        var waiting = IndexedHeap<ID, Rank>()

        /// Whether the host's limits allow one more.
        func admits(_ priority: LoadPriority, _ limits: Limits) -> Bool {
            running.isWithin(
                total: limits.perHost, low: limits.lowPerHost, most: limits.maxPerHost, for: priority)
        }
    }

    package private(set) var limits: Limits
    /// The order of transfers that are queued from now on; waiting ones keep their turn.
    package var order: Order
    package private(set) var isSuspended = false
    private var hosts: [String: Host] = [:]
    /// The hosts that may start one more transfer, by their first waiting one.
    private var ready = IndexedHeap<String, Rank>()
    /// The hosts in `ready` without a running transfer.
    private var idle = IndexedHeap<String, Rank>()
    private var places: [ID: Place] = [:]
    private var running = Running()
    package private(set) var waitingCount = 0
    private var turn = 0

    package var runningCount: Int { running.count }
    /// How many of the running transfers are slow.
    package var slowCount: Int { running.slow }

    package init(limits: Limits = Limits(), order: Order = .firstInFirstOut) {
        self.limits = limits
        self.order = order
    }

    /// Whether one more may wait.
    package func hasRoom(for priority: LoadPriority) -> Bool {
        waitingCount < (priority <= .low ? limits.waiting - limits.waiting / 10 : limits.waiting)
    }

    /// Starts a new transfer at once if no waiting one has precedence; false if it must be queued.
    package mutating func start(_ id: ID, host name: String, priority: LoadPriority) -> Bool {
        guard !isSuspended else { return false }
        let index = hosts.index(forKey: name)
        var host = index.map { hosts.values[$0] } ?? Host()
        let isInTurn = ready.isEmpty && hasSlot(for: priority) && host.waiting.isEmpty && host.admits(priority, limits)
        let isFirstOfHost = host.running.count == 0 && host.waiting.isEmpty && idle.isEmpty && hasSpare(for: priority)
        guard isInTurn || isFirstOfHost else { return false }
        if let index {
            hosts.values[index].running.note(1, priority, isSlow: false)
        } else {
            host.running.note(1, priority, isSlow: false)
            hosts[name] = host
        }
        places[id] = Place(turn: nextTurn(), host: name, state: .running(priority, isSlow: false))
        running.note(1, priority, isSlow: false)
        return true
    }

    /// Whether the limits allow one more transfer.
    private func hasSlot(for priority: LoadPriority) -> Bool {
        running.isWithin(total: limits.total, low: limits.lowTotal, most: limits.maxTotal, for: priority)
    }

    /// Whether the first transfer of a host may run beyond the limits.
    private func hasSpare(for priority: LoadPriority) -> Bool {
        limits.spare > 0 && running.seen(by: priority).count < limits.most(priority)
    }

    /// Queues a transfer. One that has run, and continues at another host, keeps its first turn.
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
        case .running(let before, let isSlow):
            // The transfer counts with its new priority from now on.
            if before != priority { count(id, place, priority, isSlow: isSlow) }
        case .idle: break
        }
    }

    /// Marks a running transfer as slow, or as no longer slow.
    package mutating func setSlow(_ isSlow: Bool, of id: ID) {
        guard let place = places[id], case .running(let priority, let wasSlow) = place.state, isSlow != wasSlow else {
            return
        }
        count(id, place, priority, isSlow: isSlow)
    }

    /// Counts a running transfer with a new priority or speed.
    private mutating func count(_ id: ID, _ place: Place, _ priority: LoadPriority, isSlow: Bool) {
        guard case .running(let before, let wasSlow) = place.state else { return }
        places[id]?.state = .running(priority, isSlow: isSlow)
        running.note(-1, before, isSlow: wasSlow)
        running.note(1, priority, isSlow: isSlow)
        hosts[place.host]?.running.note(-1, before, isSlow: wasSlow)
        hosts[place.host]?.running.note(1, priority, isSlow: isSlow)
        update(place.host)
    }

    /// The next transfer that may start now; it counts as running until ``release(_:)``.
    package mutating func next() -> ID? {
        guard !isSuspended, let (host, rank) = nextHost, let id = hosts[host]?.waiting.popFirst() else { return nil }
        places[id]?.state = .running(rank.priority, isSlow: false)
        waitingCount -= 1
        running.note(1, rank.priority, isSlow: false)
        hosts[host]?.running.note(1, rank.priority, isSlow: false)
        update(host)
        return id
    }

    private var nextHost: (id: String, rank: Rank)? {
        // If the most urgent transfer may not start, no other may.
        if let first = ready.first, hasSlot(for: first.rank.priority) { return first }
        if let first = idle.first, hasSpare(for: first.rank.priority) { return first }
        return nil
    }

    /// Gives up the slot of a running transfer, which may be queued again.
    package mutating func release(_ id: ID) {
        guard let place = places[id], case .running(let priority, let isSlow) = place.state else { return }
        places[id]?.state = .idle
        giveUp(place.host, priority, isSlow: isSlow)
    }

    /// Forgets a transfer, waiting or running.
    package mutating func remove(_ id: ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        switch place.state {
        case .running(let priority, let isSlow): giveUp(place.host, priority, isSlow: isSlow)
        case .waiting:
            waitingCount -= 1
            hosts[place.host]?.waiting.remove(id)
            update(place.host)
        case .idle: break
        }
    }

    private mutating func giveUp(_ name: String, _ priority: LoadPriority, isSlow: Bool) {
        running.note(-1, priority, isSlow: isSlow)
        guard let index = hosts.index(forKey: name) else { return }
        hosts.values[index].running.note(-1, priority, isSlow: isSlow)
        // The rest of the host's state changes only if other transfers wait or the host has none left.
        if !hosts.values[index].waiting.isEmpty || hosts.values[index].running.count == 0 { update(name) }
    }

    private mutating func nextTurn() -> Int {
        turn += 1
        return order == .firstInFirstOut ? turn : -turn
    }

    /// Removes a transfer if it is waiting; a running one keeps its slot.
    package mutating func removeWaiting(_ id: ID) {
        if case .waiting? = places[id]?.state { remove(id) }
    }

    /// Removes all waiting transfers; running ones keep their slots.
    package mutating func removeAllWaiting() {
        for id in Array(places.keys) { removeWaiting(id) }
    }

    package mutating func setLimits(_ limits: Limits) {
        self.limits = limits
        for host in Array(hosts.keys) { update(host) }
    }

    /// A suspended queue starts nothing; running transfers go on.
    package mutating func setSuspended(_ isSuspended: Bool) { self.isSuspended = isSuspended }

    /// Updates `ready` and `idle` for a host, and removes the host if it has no transfers.
    private mutating func update(_ name: String) {
        guard let host = hosts[name] else { return }
        let first = host.waiting.first
        if let first, host.admits(first.rank.priority, limits) {
            ready.set(name, to: first.rank)
        } else {
            ready.remove(name)
        }
        if let first, host.running.count == 0 { idle.set(name, to: first.rank) } else { idle.remove(name) }
        if host.running.count == 0, first == nil { hosts[name] = nil }
    }
}
