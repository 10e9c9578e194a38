import Synchronization
import WebImageCore
import WebImageSystem

/// An executor that keeps work until a test runs it, one piece at a time. The test chooses the piece, usually by a
/// seed; priorities are ignored.
final class SeededExecutor: WorkExecutor {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    /// - Returns: false if no work waits.
    func runOne(_ choose: (Int) -> Int) -> Bool {
        let work = waiting.withLock { waiting -> (@Sendable () -> Void)? in
            waiting.isEmpty ? nil : waiting.remove(at: choose(waiting.count))
        }
        work?()
        return work != nil
    }
}
