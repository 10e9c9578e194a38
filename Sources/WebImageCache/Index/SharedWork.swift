import Synchronization
import WebImageCore
import WebImageSystem

/// Pieces of work that any number of threads take one after the other. The thread that needs the results works, too,
/// and waits only for threads that have begun, so that it does not depend on free threads of the executor.
final class SharedWork<Result: Sendable>: Sendable {
    private static var maxHelpers: Int { 3 }

    private let count: Int
    private let next = Atomic<Int>(0)
    private let body: @Sendable (Int) -> Result
    private let results = Guarded<[Result]>([])
    /// Each is held by a helper while it works.
    private let turns = (0..<maxHelpers).map { _ in Turn() }

    private final class Turn: Sendable {
        let lock = Guarded(())
    }

    init(_ count: Int, _ body: @escaping @Sendable (Int) -> Result) {
        (self.count, self.body) = (count, body)
    }

    /// Returns all results, in no order. Call it once.
    func finish(helpedBy executor: (any WorkExecutor)? = nil) -> [Result] {
        if let executor { for turn in turns { help(turn, executor) } }
        var done: [Result] = []
        while let result = workOnce() { done.append(result) }
        results.withLock { $0 += done }
        // No work is left: helpers that begin now end at once.
        for turn in turns { turn.lock.withLock { _ in } }
        return results.withLock { $0 }
    }

    /// Works on one piece, and then lets the executor run more urgent work.
    private func help(_ turn: Turn, _ executor: any WorkExecutor) {
        executor.run(.low) {
            let goesOn = turn.lock.withLock { _ in
                guard let result = self.workOnce() else { return false }
                self.results.withLock { $0.append(result) }
                return true
            }
            if goesOn { self.help(turn, executor) }
        }
    }

    /// Nil if no work is left.
    private func workOnce() -> Result? {
        let place = next.add(1, ordering: .relaxed).oldValue
        return place < count ? body(place) : nil
    }
}
