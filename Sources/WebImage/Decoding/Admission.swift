import Synchronization
import WebImageCore
import WebImageSystem

/// Keeps what all running work holds of something, memory or turns, within a budget. Who does not fit waits: the most
/// urgent goes first, then in order. Work that is larger than the whole budget runs when it is alone.
///
/// A holder that has nothing to do lays its share down together with what it made so far (``park(_:_:_:)``): somebody who
/// could go on takes it, so that work that waits for a slow origin stops nobody.
final class Admission: Sendable {
    private let ledger: Guarded<AdmissionLedger>

    init(budget: Int) { ledger = Guarded(AdmissionLedger(budget: budget)) }

    /// What is held, also by those who have laid it down.
    var used: Int { ledger.withLock { $0.used } }

    /// How often a share was given back.
    var givenCount: Int { ledger.withLock { $0.givenCount } }

    var waitingCount: Int { ledger.withLock { $0.waitingCount } }

    /// Takes `amount` now if it is there and nobody who is at least as urgent waits. What less urgent holders have laid down
    /// counts as being there.
    func take(_ amount: Int, _ priority: LoadPriority) -> Bool {
        change { ledger, outcome in ledger.take(amount, priority, &outcome) }
    }

    /// Takes `amount` now, or returns false: then `run` is called once, off every lock, with true when it has been taken, or
    /// with false as soon as its turn comes and `isWanted` says no. What anyone has laid down counts as being there.
    ///
    /// - Parameters:
    ///   - owner: whose urgency ``setPriority(_:of:)`` changes. It must live until `run` is called.
    ///   - isWanted: called under a lock.
    func take(
        _ amount: Int, _ priority: LoadPriority, for owner: AnyObject, isWanted: @escaping @Sendable () -> Bool,
        orLater run: @escaping @Sendable (_ isAdmitted: Bool) -> Void
    ) -> Bool {
        let ask = AdmissionLedger.Ask(amount: amount, owner: ObjectIdentifier(owner), isWanted: isWanted, run: run)
        return change { ledger, outcome in ledger.takeOrWait(ask, priority, &outcome) }
    }

    /// Counts what is held already, whatever the budget says.
    func charge(_ amount: Int) { ledger.withLock { $0.charge(amount) } }

    func give(_ amount: Int) { change { ledger, outcome in ledger.give(amount, &outcome) } }

    func setPriority(_ priority: LoadPriority, of owner: AnyObject) {
        change { ledger, outcome in ledger.setPriority(priority, of: ObjectIdentifier(owner), &outcome) }
    }

    /// Somebody may not want any more what it waits for.
    func noteLeft() { change { ledger, outcome in ledger.answer(&outcome) } }

    /// Lays down a share that was taken, with what was made under it.
    ///
    /// - Returns: what ``unpark(_:)`` takes.
    func park(_ amount: Int, _ priority: LoadPriority, _ content: any AnyObject & Sendable) -> Int {
        change { ledger, outcome in ledger.park(amount, priority, content, &outcome) }
    }

    /// Takes up a share again, with what was made under it; nil when somebody else needed it. Then it is gone.
    func unpark(_ number: Int) -> (amount: Int, content: any AnyObject & Sendable)? {
        ledger.withLock { $0.unpark(number) }
    }

    private func change<Result>(
        _ change: (inout AdmissionLedger, inout AdmissionLedger.Outcome) -> Result
    ) -> Result {
        // What is revoked is released when this returns, after the lock.
        let (result, outcome) = ledger.withLock { ledger in
            var outcome = AdmissionLedger.Outcome()
            let result = change(&ledger, &outcome)
            return (result, outcome)
        }
        for answer in outcome.answered { answer.ask.run(answer.isAdmitted) }
        return result
    }
}

/// A share of a budget that is given back when nobody holds this any more.
final class AdmissionLease: Sendable {
    private let admission: Admission
    private let amount: Guarded<Int>

    /// - Parameter amount: taken already.
    init(_ admission: Admission, _ amount: Int) {
        self.admission = admission
        self.amount = Guarded(amount)
    }

    deinit { admission.give(amount.withLock { $0 }) }

    /// It turned out to be more than was taken.
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
    /// One of those that only vector pictures need.
    case takenForVectors

    var isTaken: Bool { self == .taken || self == .takenForVectors }
}
