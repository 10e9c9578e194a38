/// The number of waiters of each priority.
package struct PriorityCounts: Sendable {
    /// Indexed by the raw value of the priority.
    private var counts = SIMD4<Int32>()

    package init() {}

    /// The highest priority with a waiter; nil if there are no waiters.
    package var highest: LoadPriority? {
        for priority in [LoadPriority.high, .normal, .low, .veryLow] where counts[priority.rawValue] > 0 {
            return priority
        }
        return nil
    }

    package mutating func add(_ priority: LoadPriority) { counts[priority.rawValue] &+= 1 }

    package mutating func remove(_ priority: LoadPriority) { counts[priority.rawValue] &-= 1 }
}
