import Synchronization
import WebImageCore
import WebImageSystem

/// Keeps the memory or the turns that all running work holds within a budget. Work that does not fit waits: higher
/// priorities go first, then in order. Work that is larger than the whole budget runs when it is alone.
///
/// A holder that has nothing to do parks its share together with its partial result (``park(_:_:_:)``). Other work that
/// can go on may then take the share, so that work that waits for a slow origin does not stop the rest.
final class Admission: Sendable {
    private let ledger: Guarded<AdmissionLedger>

    init(budget: Int) { ledger = Guarded(AdmissionLedger(budget: budget)) }

    /// The amount that is held, including parked shares.
    var used: Int { ledger.withLock { $0.used } }

    /// How often a share was returned.
    var givenCount: Int { ledger.withLock { $0.givenCount } }

    var waitingCount: Int { ledger.withLock { $0.waitingCount } }

    /// Takes `amount` now, if it is available and no work with the same or a higher priority waits. Parked shares of
    /// lower priorities count as available.
    func take(_ amount: Int, _ priority: LoadPriority) -> Bool {
        change { ledger, outcome in ledger.take(amount, priority, &outcome) }
    }

    /// Takes `amount` now, or returns false. In that case `run` is called once, without locks held: with true when the
    /// amount has been taken, or with false if `isWanted` returns false when its turn comes. All parked shares count as
    /// available.
    ///
    /// - Parameters:
    ///   - owner: the object whose priority ``setPriority(_:of:)`` changes. It must live until `run` is called.
    ///   - isWanted: called under a lock.
    func take(
        _ amount: Int, _ priority: LoadPriority, for owner: AnyObject, isWanted: @escaping @Sendable () -> Bool,
        orLater run: @escaping @Sendable (_ isAdmitted: Bool) -> Void
    ) -> Bool {
        let ask = AdmissionLedger.Ask(amount: amount, owner: ObjectIdentifier(owner), isWanted: isWanted, run: run)
        return change { ledger, outcome in ledger.takeOrWait(ask, priority, &outcome) }
    }

    /// Adds an amount that is held already, even beyond the budget.
    func charge(_ amount: Int) { ledger.withLock { $0.charge(amount) } }

    func give(_ amount: Int) { change { ledger, outcome in ledger.give(amount, &outcome) } }

    func setPriority(_ priority: LoadPriority, of owner: AnyObject) {
        change { ledger, outcome in ledger.setPriority(priority, of: ObjectIdentifier(owner), &outcome) }
    }

    /// Call it when a waiter may no longer want its share.
    func noteLeft() { change { ledger, outcome in ledger.answer(&outcome) } }

    /// Parks a share, with the partial result.
    ///
    /// - Returns: the number for ``unpark(_:)``.
    func park(_ amount: Int, _ priority: LoadPriority, _ content: any AnyObject & Sendable) -> Int {
        change { ledger, outcome in ledger.park(amount, priority, content, &outcome) }
    }

    /// Takes a parked share back, with its partial result. Nil if other work has taken the share; the result is then
    /// lost.
    func unpark(_ number: Int) -> (amount: Int, content: any AnyObject & Sendable)? {
        ledger.withLock { $0.unpark(number) }
    }

    private func change<Result>(
        _ change: (inout AdmissionLedger, inout AdmissionLedger.Outcome) -> Result
    ) -> Result {
        // Revoked results are released when this returns, after the lock.
        let (result, outcome) = ledger.withLock { ledger in
            var outcome = AdmissionLedger.Outcome()
            let result = change(&ledger, &outcome)
            return (result, outcome)
        }
        for answer in outcome.answered { answer.ask.run(answer.isAdmitted) }
        return result
    }
}

/// A share of a budget, which is returned when this object is released.
final class AdmissionLease: Sendable {
    private let admission: Admission
    private let amount: Guarded<Int>

    /// - Parameter amount: the amount, which was taken already.
    init(_ admission: Admission, _ amount: Int) {
        self.admission = admission
        self.amount = Guarded(amount)
    }

    deinit { admission.give(amount.withLock { $0 }) }

    /// Increases the share when more is needed than was taken.
    func grow(to newAmount: Int) {
        let more = amount.withLock { amount in
            defer { amount = max(amount, newAmount) }
            return newAmount - amount
        }
        if more > 0 { admission.charge(more) }
    }
}

/// Whether a decode that cannot be interrupted may begin.
enum LongDecodeTurn {
    case notNeeded
    case needed
    case taken
    /// The turn is one of those for vector pictures only.
    case takenForVectors

    var isTaken: Bool { self == .taken || self == .takenForVectors }
}
