import Synchronization

/// Counts calls, from any thread.
final class Counter: Sendable {
    private let count = Atomic(0)

    /// How often this was called, this call included.
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
