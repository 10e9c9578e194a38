import Synchronization

/// Counts the changes of what a downloader sends with all requests. An answer from before a change may not be valid for
/// the same request afterwards.
///
/// An object of its own without weak references, because it is read at every memory hit.
package final class SettingsCounter: Sendable {
    private let changes = Atomic(0)

    /// The number of changes so far.
    package var number: Int { changes.load(ordering: .acquiring) }

    /// - Parameter number: never less than the current one.
    func set(_ number: Int) { changes.store(number, ordering: .releasing) }
}
