import Synchronization
import Testing
import WebImageCore
import WebImageSystem

@testable import WebImage

/// Which work is admitted when memory or turns do not suffice for all.
@Suite struct AdmissionTests {
    private final class Waiter: Sendable {
        private let answers = Guarded<[Bool]>([])

        var answered: [Bool] { answers.withLock { $0 } }

        func take(_ isAdmitted: Bool) { answers.withLock { $0.append(isAdmitted) } }
    }

    private final class Work: Sendable {}

    private let admission = Admission(budget: 100)

    private func ask(
        _ amount: Int, _ priority: LoadPriority = .normal, for owner: AnyObject? = nil,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) -> Waiter {
        let waiter = Waiter()
        let isNow = admission.take(amount, priority, for: owner ?? waiter, isWanted: isWanted) { waiter.take($0) }
        if isNow { waiter.take(true) }
        return waiter
    }

    @Test func waitersAreAdmittedByPriorityThenInOrder() {
        #expect(admission.take(100, .low))
        let waiters = [ask(60, .low), ask(60), ask(60, .high), ask(60, .high)]
        for expected in [[0, 0, 1, 0], [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]] {
            admission.give(expected == [0, 0, 1, 0] ? 100 : 60)
            #expect(waiters.map(\.answered.count) == expected)
        }
    }

    @Test func aRaisedPriorityMovesAWaiterToTheFront() {
        #expect(admission.take(100, .low))
        let owner = Waiter()
        let (first, second) = (ask(60), ask(60, .low, for: owner))
        admission.setPriority(.high, of: owner)
        admission.give(100)
        #expect(first.answered.isEmpty && second.answered == [true])
        _ = owner
    }

    @Test func aCancelledWaiterIsAnsweredAndHoldsUpNoOther() {
        #expect(admission.take(50, .low))
        let hasLeft = Guarded(false)
        let leaving = ask(90, isWanted: { hasLeft.withLock { !$0 } })
        let next = ask(40)
        #expect(leaving.answered.isEmpty && next.answered.isEmpty)
        hasLeft.withLock { $0 = true }
        admission.noteLeft()
        #expect(leaving.answered == [false] && next.answered == [true])
        #expect(admission.used == 90 && admission.waitingCount == 0)
    }

    @Test func theShareOfParkedWorkGoesToAWaiter() {
        #expect(admission.take(80, .normal))
        weak var made: Work?
        var parked = 0
        do {
            let work = Work()
            made = work
            parked = admission.park(80, .normal, work)
        }
        #expect(made != nil && admission.used == 80)
        #expect(ask(50, .low).answered == [true])
        #expect(made == nil && admission.used == 50)
        #expect(admission.unpark(parked) == nil)
    }

    @Test func parkedWorkThatKeptItsShareCanBeUnparked() {
        #expect(admission.take(80, .normal))
        let work = Work()
        let parked = admission.park(80, .normal, work)
        #expect(ask(20).answered == [true])
        let share = admission.unpark(parked)
        #expect(share?.amount == 80 && share?.content === work && admission.used == 100)
        // The share that was taken up again cannot be given to other work.
        #expect(ask(50).answered.isEmpty)
    }

    /// `take`, for work that still has to get its bytes, does not drive out parked work of the same priority.
    @Test func takeDrivesOutOnlyLessUrgentParkedWork() {
        #expect(admission.take(80, .normal))
        let parked = admission.park(80, .normal, Work())
        #expect(!admission.take(50, .normal))
        #expect(admission.take(50, .high))
        #expect(admission.unpark(parked) == nil && admission.used == 50)
    }

    @Test func theLeastUrgentParkedWorkIsDrivenOutAndNoMoreThanNeeded() {
        #expect(admission.take(40, .high) && admission.take(30, .low) && admission.take(30, .normal))
        let parked = [
            admission.park(40, .high, Work()), admission.park(30, .low, Work()), admission.park(30, .normal, Work()),
        ]
        #expect(ask(50).answered == [true])
        #expect(parked.map { admission.unpark($0) != nil } == [true, false, false])
        #expect(admission.used == 90)
    }

    /// Parked work keeps its share if giving it up would not make enough room.
    @Test func parkedWorkStaysWhereItsShareWouldNotSuffice() {
        #expect(admission.take(70, .normal) && admission.take(30, .normal))
        let parked = admission.park(30, .normal, Work())
        let waiter = ask(60)
        #expect(waiter.answered.isEmpty && admission.unpark(parked) != nil)
    }

    @Test func workLargerThanTheBudgetRunsAlone() {
        #expect(admission.take(10, .normal))
        let large = ask(300)
        let small = ask(10)
        #expect(large.answered.isEmpty && small.answered.isEmpty)
        admission.give(10)
        #expect(large.answered == [true] && small.answered.isEmpty && admission.used == 300)
        admission.give(300)
        #expect(small.answered == [true])
    }
}
