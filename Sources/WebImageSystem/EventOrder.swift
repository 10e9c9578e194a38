import Synchronization

/// The order of events in different parts of the program, such as removals from caches and beginnings of transfers.
/// Any thread may use it.
package enum EventOrder {
    private static let last = Atomic(0)

    /// The number of the last event; 0: none.
    package static var now: Int { last.load(ordering: .acquiring) }

    /// Returns the number of a new event, which is greater than all earlier ones.
    package static func next() -> Int { last.add(1, ordering: .acquiringAndReleasing).newValue }
}
