import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Blocking calls that cannot be interrupted, and callers that stop waiting for them.
@Suite struct LeavableCallTests {
    private let left = LeftCalls(most: 2)

    private typealias Call = LeavableCall<Int>

    private func run(leaves: () -> Bool, _ body: @escaping @Sendable () -> Int) -> Call.Outcome {
        Call.run(among: left, stackSize: 1 << 20, leaves: leaves, body)
    }

    @Test func aCallThatEndsGivesItsResult() {
        guard case .ended(7) = run(leaves: { false }, { 7 }) else {
            Issue.record("a call that ends was not waited for")
            return
        }
        #expect(left.current == 0)
    }

    @Test func anAbandonedCallContinuesAndCountsUntilItEnds() {
        let gates = [Gate(), Gate()]
        for (number, gate) in gates.enumerated() {
            let outcome = run(leaves: { true }) {
                gate.wait()
                return number
            }
            guard case .left = outcome else {
                Issue.record("the call was not left")
                return
            }
            #expect(left.current == number + 1)
        }
        // The limit is reached: no further call is begun.
        let hasRun = Guarded(false)
        guard
            case .refused = run(
                leaves: { false },
                {
                    hasRun.withLock {
                        $0 = true; return 1
                    }
                })
        else {
            Issue.record("a third one was begun")
            return
        }
        #expect(!hasRun.withLock { $0 })
        gates[0].open()
        while left.current > 1 { _ = sched_yield() }
        guard case .ended(3) = run(leaves: { false }, { 3 }) else {
            Issue.record("a place that is free again was not given")
            return
        }
        gates[1].open()
        while left.current > 0 { _ = sched_yield() }
    }

    @Test func askingWhetherToLeaveDoesNotEndTheCall() {
        let gate = Gate()
        var asked = 0
        let outcome = run(leaves: {
            asked += 1
            if asked == 3 { gate.open() }
            return false
        }) {
            gate.wait()
            return 5
        }
        guard case .ended(5) = outcome else {
            Issue.record("the call was left")
            return
        }
        #expect(asked >= 3 && left.current == 0)
    }

    @Test func objectsOfAnAbandonedCallAreReleasedAtItsEnd() {
        final class Held: Sendable {}
        let gate = Gate()
        weak var held: Held?
        do {
            let object = Held()
            held = object
            _ = run(leaves: { true }) {
                gate.wait()
                return withExtendedLifetime(object) { 1 }
            }
        }
        // The abandoned call still uses the object.
        #expect(held != nil)
        gate.open()
        while held != nil { _ = sched_yield() }
        #expect(left.current == 0)
    }

    @Test func aThreadThatCannotBeStartedIsReported() {
        // A stack that is larger than the address space.
        guard case .noThread = Call.run(among: left, stackSize: 1 << 60, leaves: { false }, { 1 }) else {
            Issue.record("there was a thread with a stack of an exabyte")
            return
        }
    }
}
