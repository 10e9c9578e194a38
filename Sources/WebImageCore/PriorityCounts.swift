/// How many of those who want one thing there are of each priority.
package struct PriorityCounts: Sendable {
    /// By raw value.
    private var counts = SIMD4<Int32>()

    package init() {}

    /// Nil when there are none.
    package var highest: LoadPriority? {
        for priority in [LoadPriority.high, .normal, .low, .veryLow] where counts[priority.rawValue] > 0 {
            return priority
        }
        return nil
    }

    package mutating func add(_ priority: LoadPriority) { counts[priority.rawValue] &+= 1 }

    package mutating func remove(_ priority: LoadPriority) { counts[priority.rawValue] &-= 1 }
}
