import Synchronization
import WebImageCore
import WebImageSystem
import WebImageTesting

/// An executor whose work waits until a test runs it, on the test's thread.
final class HeldExecutor: WorkExecutor {
    private let work = Guarded<[@Sendable () -> Void]>([])

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0.append(work) }
    }

    var waitingCount: Int { work.withLock { $0.count } }

    /// Runs all waiting work, and the work that it adds, until nothing waits.
    func runAll() {
        while true {
            let next = work.withLock { work in
                defer { work = [] }
                return work
            }
            if next.isEmpty { return }
            for work in next { work() }
        }
    }
}

/// A counter that several threads may increment.
final class Counter: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func increment() -> Int { number.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Pseudorandom bytes, the same for each seed, so that bytes in a wrong place are noticed.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
}
