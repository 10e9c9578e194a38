import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

/// Idle threads of a pool help with a piece of work that has several parts.
@Suite struct ThreadSharingTests {
    private final class Parts: Sendable {
        private let numbers = Guarded<[Int]>([])

        var all: [Int] { numbers.withLock { $0 } }

        func note(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    private let parts = Parts()

    @Test(arguments: [0, 1, 2, 7, 1000], [1, 2, 4]) func everyPartIsDoneOnce(_ count: Int, _ width: Int) {
        let pool = ThreadPool(name: "test-parts", width: width)
        pool.share(count) { [parts] in parts.note($0) }
        #expect(parts.all.sorted() == Array(0..<count))
    }

    @Test func anIdleThreadHelps() {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (first, second) = (Gate(), Gate())
        // Neither part can end unless the other runs at the same time.
        pool.share(2) { number in
            (number == 0 ? first : second).open()
            (number == 0 ? second : first).wait()
        }
        #expect(pool.waitingCount == 0)
    }

    /// All threads are busy, so the caller does every part itself.
    @Test func busyThreadsAreLeftAlone() async {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (begun, gate) = (Gate(), Gate())
        pool.run(.normal) {
            begun.open()
            gate.wait()
        }
        await begun.opened()
        #expect(pool.idleCount == 0)
        pool.share(5) { [parts] in parts.note($0) }
        #expect(parts.all == [0, 1, 2, 3, 4])
        gate.open()
    }

    /// When other work comes, a helper finishes its current part and then leaves.
    @Test func otherWorkComesFirst() async {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (helping, goesOn, isDone) = (Gate(), Gate(), Gate())
        let task = Task.detached { [parts] in
            let caller = CurrentThread.id
            pool.share(100) { number in
                parts.note(number)
                if CurrentThread.id == caller {
                    // Waits until the helper has begun a part and the other work is done.
                    helping.wait()
                    isDone.wait()
                } else {
                    helping.open()
                    goesOn.wait()
                }
            }
        }
        await helping.opened()
        pool.run(.low) { [parts] in
            parts.note(-1)
            isDone.open()
        }
        goesOn.open()
        await task.value
        #expect(Array(parts.all.prefix(3)).sorted() == [-1, 0, 1])
        #expect(parts.all.count == 101)
    }

    // MARK: Help with continuous work

    @Test func anIdleThreadHelpsWhileWorkRuns() {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (helped, mayEnd) = (Gate(), Gate())
        pool.share({
            helped.wait()
            mayEnd.open()
            parts.note(0)
        }) { [parts] goesOn in
            #expect(goesOn())
            helped.open()
            mayEnd.wait()
            parts.note(1)
        }
        // Both pieces have ended when `share` returns.
        #expect(parts.all.sorted() == [0, 1])
    }

    @Test func workOfBusyThreadsIsDoneAlone() async {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (begun, gate, ended) = (Gate(), Gate(), Gate())
        pool.run(.normal) {
            begun.open()
            gate.wait()
        }
        await begun.opened()
        pool.share({ parts.note(0) }) { [parts] _ in parts.note(1) }
        gate.open()
        // No thread begins to help later, either.
        pool.run(.veryLow) { ended.open() }
        await ended.opened()
        #expect(parts.all == [0])
    }

    @Test func helpEndsWhenOtherWorkComes() async {
        let pool = ThreadPool(name: "test-parts", width: 1)
        let (helping, other) = (Gate(), Gate())
        pool.share({
            helping.wait()
            pool.run(.low) { other.open() }
            // The pool's only thread does the other work before this work ends.
            other.wait()
        }) { goesOn in
            helping.open()
            while goesOn() {}
        }
    }
}
