import Synchronization
import WebImageCore
import WebImageSystem

/// Runs pieces of work one at a time, in an order that a seed decides. All that waits may come next, whatever its priority.
final class SeededExecutor: WorkExecutor {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    /// - Returns: false when nothing waits.
    func runOne(_ choose: (Int) -> Int) -> Bool {
        let work = waiting.withLock { waiting -> (@Sendable () -> Void)? in
            waiting.isEmpty ? nil : waiting.remove(at: choose(waiting.count))
        }
        work?()
        return work != nil
    }
}
