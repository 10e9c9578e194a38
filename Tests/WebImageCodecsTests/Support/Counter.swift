import Synchronization

/// Counts calls from any thread.
final class Counter: Sendable {
    private let count = Atomic(0)

    /// The number of calls so far, including this one.
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
