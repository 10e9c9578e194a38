import WebImageCore
import WebImageSystem

/// The holders of a budget, its waiters, and its parked shares. A pure value: work that must be done outside the lock
/// is returned.
struct AdmissionLedger {
    /// A waiter.
    struct Ask {
        let amount: Int
        let owner: ObjectIdentifier
        /// Returns false when the work is no longer wanted; the waiter is then released without a share.
        let isWanted: @Sendable () -> Bool
        /// Called with whether the share was taken.
        let run: @Sendable (_ isAdmitted: Bool) -> Void
    }

    /// What must be done after the lock has been released: waiters to answer, and parked results to release.
    struct Outcome {
        var answered: [(ask: Ask, isAdmitted: Bool)] = []
        var revoked: [any AnyObject & Sendable] = []
    }

    private struct Rank: Comparable {
        let priority: LoadPriority
        let turn: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.priority == right.priority ? left.turn < right.turn : left.priority > right.priority
        }
    }

    /// The lowest priority is revoked first; among equals the one that was parked first.
    private struct ParkRank: Comparable {
        let priority: LoadPriority
        let turn: Int

        static func < (left: ParkRank, right: ParkRank) -> Bool {
            left.priority == right.priority ? left.turn < right.turn : left.priority < right.priority
        }
    }

    private let budget: Int
    private(set) var used = 0
    private(set) var givenCount = 0
    private var asks: [Int: Ask] = [:]
    private var queue = IndexedHeap<Int, Rank>()
    private var asksOfOwners: [ObjectIdentifier: Set<Int>] = [:]
    private var parked: [Int: (amount: Int, priority: LoadPriority, content: any AnyObject & Sendable)] = [:]
    /// The parked amounts by priority.
    private var parkedAmounts = [Int](repeating: 0, count: LoadPriority.allCases.count)
    private var parkOrder = IndexedHeap<Int, ParkRank>()
    private var lastNumber = 0

    init(budget: Int) { self.budget = budget }

    var waitingCount: Int { queue.count }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private func fits(_ amount: Int) -> Bool { used == 0 || used + amount <= budget }

    // MARK: Taking

    /// Takes a share now, unless work with the same or a higher priority waits. Parked shares of lower priorities are
    /// revoked for it.
    mutating func take(_ amount: Int, _ priority: LoadPriority, _ outcome: inout Outcome) -> Bool {
        if let first = queue.first, first.rank.priority >= priority { return false }
        return take(amount, revokingBelow: priority, &outcome)
    }

    /// Takes a share now or queues for it. Parked shares are revoked for it.
    mutating func takeOrWait(_ ask: Ask, _ priority: LoadPriority, _ outcome: inout Outcome) -> Bool {
        let isFirst = queue.first.map { $0.rank.priority < priority } ?? true
        if isFirst, take(ask.amount, revokingBelow: nil, &outcome) { return true }
        let number = nextNumber()
        asks[number] = ask
        asksOfOwners[ask.owner, default: []].insert(number)
        queue.set(number, to: Rank(priority: priority, turn: number))
        return false
    }

    /// - Parameter limit: the priority below which parked shares are revoked; nil: all.
    private mutating func take(_ amount: Int, revokingBelow limit: LoadPriority?, _ outcome: inout Outcome) -> Bool {
        if !fits(amount) {
            guard mayMakeRoom(for: amount, revokingBelow: limit) else { return false }
            while !fits(amount), let number = parkOrder.first?.id, let entry = removeParked(number) {
                used -= entry.amount
                outcome.revoked.append(entry.content)
            }
        }
        used += amount
        return true
    }

    private func mayMakeRoom(for amount: Int, revokingBelow limit: LoadPriority?) -> Bool {
        let revocable = parkedAmounts[..<(limit?.rawValue ?? parkedAmounts.count)].reduce(0, +)
        return used == revocable || used - revocable + amount <= budget
    }

    /// Adds a share that is held already, even beyond the budget.
    mutating func charge(_ amount: Int) { used += amount }

    /// Gives a share back.
    mutating func give(_ amount: Int, _ outcome: inout Outcome) {
        used -= amount
        givenCount += 1
        answer(&outcome)
    }

    /// Answers the waiters whose turn it is.
    mutating func answer(_ outcome: inout Outcome) {
        while let first = queue.first, let ask = asks[first.id] {
            let isWanted = ask.isWanted()
            if isWanted, !take(ask.amount, revokingBelow: nil, &outcome) { return }
            queue.remove(first.id)
            asks[first.id] = nil
            asksOfOwners[ask.owner]?.remove(first.id)
            if asksOfOwners[ask.owner]?.isEmpty == true { asksOfOwners[ask.owner] = nil }
            outcome.answered.append((ask, isWanted))
        }
    }

    mutating func setPriority(_ priority: LoadPriority, of owner: ObjectIdentifier, _ outcome: inout Outcome) {
        guard let numbers = asksOfOwners[owner] else { return }
        for number in numbers { queue.set(number, to: Rank(priority: priority, turn: number)) }
        answer(&outcome)
    }

    // MARK: Parking

    /// Parks the share of a holder that has nothing to do for now. The holder keeps it until other work needs it.
    mutating func park(
        _ amount: Int, _ priority: LoadPriority, _ content: any AnyObject & Sendable, _ outcome: inout Outcome
    ) -> Int {
        let number = nextNumber()
        parked[number] = (amount, priority, content)
        parkedAmounts[priority.rawValue] += amount
        parkOrder.set(number, to: ParkRank(priority: priority, turn: number))
        answer(&outcome)
        return number
    }

    /// Takes a parked share back; nil if it was revoked.
    mutating func unpark(_ number: Int) -> (amount: Int, content: any AnyObject & Sendable)? {
        removeParked(number).map { ($0.amount, $0.content) }
    }

    private mutating func removeParked(
        _ number: Int
    ) -> (amount: Int, priority: LoadPriority, content: any AnyObject & Sendable)? {
        guard let entry = parked.removeValue(forKey: number) else { return nil }
        parkOrder.remove(number)
        parkedAmounts[entry.priority.rawValue] -= entry.amount
        return entry
    }
}
