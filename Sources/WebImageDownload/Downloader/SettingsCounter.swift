import Synchronization

/// Counts the changes of what a downloader sends with all requests: what was answered before one may not be good for the same
/// request behind it.
///
/// An object of its own, which nobody holds weakly: it is asked at every hit in memory.
package final class SettingsCounter: Sendable {
    private let changes = Atomic(0)

    /// How many there were.
    package var number: Int { changes.load(ordering: .acquiring) }

    /// - Parameter number: never less than before.
    func set(_ number: Int) { changes.store(number, ordering: .releasing) }
}
