import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The order in which waiting work gets a thread.
@Suite struct ThreadPoolTests {
    private final class Order: Sendable {
        private let names = Guarded<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let pool = ThreadPool(name: "test-ranks", width: 1)
    private let order = Order()
    private let begun = Gate()
    private let gate = Gate()
    private let done = Gate()

    /// Occupies the pool's only thread until the gate opens.
    private func holdThread() async {
        pool.run(.high) { [begun, gate] in
            begun.open()
            gate.wait()
        }
        await begun.opened()
    }

    private func note(_ name: String) -> @Sendable () -> Void { { [order] in order.note(name) } }

    /// Releases the thread and waits until all work that waits now has run.
    private func finish() async {
        gate.open()
        // The pool lets waiting work be passed over only a limited number of times. The last piece is therefore added
        // when nothing else waits, so that it runs last.
        while pool.waitingCount > 0 { await Task.yield() }
        pool.run(.low) { [done] in done.open() }
        await done.opened()
    }

    @Test func workThatCompletesGoesBeforeWorkThatBegins() async {
        await holdThread()
        pool.run(.normal, note("decode"))
        pool.run(.high, note("urgent decode"))
        pool.complete(.normal, note("encode"))
        pool.run(.low, note("store"))
        await finish()
        #expect(order.all == ["urgent decode", "encode", "decode", "store"])
    }

    @Test func waitingWorkIsRankedAnewWhenItsOwnerIs() async {
        await holdThread()
        let (first, second) = (Order(), Order())
        pool.run(.low, for: first, note("first"))
        pool.run(.low, for: first, note("first again"))
        pool.run(.normal, for: second, note("second"))
        pool.run(.normal, note("nobody's"))
        pool.setPriority(.high, of: first)
        pool.setPriority(.low, of: second)
        await finish()
        #expect(order.all == ["first", "first again", "nobody's", "second"])
    }

    /// Stores have a low priority. Under steady load they once waited so long that they were given up.
    @Test func workPassedOverEightTimesGoesFirst() async {
        await holdThread()
        pool.run(.low, note("store"))
        for number in 0..<20 { pool.run(.high, note("\(number)")) }
        await finish()
        #expect(order.all.firstIndex(of: "store") == 8)
        #expect(order.all.filter { $0 != "store" } == (0..<20).map { "\($0)" })
    }

    /// A thread that could not be started once ended the process.
    @Test func withoutAThreadTheCallerDoesTheWork() {
        let pool = ThreadPool(name: "test-none", width: 2, startThread: { _, _ in false })
        pool.run(.normal, note("one"))
        pool.run(.normal, note("two"))
        #expect(order.all == ["one", "two"])
    }

    /// An object that only a piece of work retains is released with it. Its `deinit` may add work, so it must not run
    /// under the pool's lock.
    @Test(.timeLimit(.minutes(1))) func objectsReleasedWithTheirWorkMayAddWork() async {
        final class Leaver: Sendable {
            let end: @Sendable () -> Void
            init(_ end: @escaping @Sendable () -> Void) { self.end = end }
            deinit { end() }
        }
        func work(_ done: Gate) -> @Sendable () -> Void {
            let leaver = Leaver { [pool] in pool.run(.normal) { done.open() } }
            return { withExtendedLifetime(leaver) {} }
        }
        for _ in 0..<20 {
            let done = Gate()
            pool.run(.normal, work(done))
            await done.opened()
        }
    }

    #if os(Linux)
        /// Beside other busy programs, a server's answers once waited behind decodes for up to 0.4 s.
        @Test func threadsThatComputeLetOthersGoFirst() async {
            func policy(_ pool: ThreadPool) async -> Int32 {
                await withCheckedContinuation { continuation in
                    pool.run(.normal) { continuation.resume(returning: sched_getscheduler(0)) }
                }
            }
            let computing = ThreadPool.computing(name: "test-computing", width: 1)
            // 3 is SCHED_BATCH, which Swift's glibc module does not export.
            #expect(await policy(computing) == 3)
            #expect(await policy(pool) == SCHED_OTHER)
        }
    #endif
}
