import Synchronization

/// Numbers the settings by which a downloader sends its requests. An answer that was received or judged under one number
/// may not be valid under another: the settings have changed, or belong to another downloader, perhaps of another user.
///
/// An object of its own without weak references, because it is read at every memory hit.
package final class SettingsCounter: Sendable {
    /// The last number that any downloader of this process has got.
    private static let last = Atomic(0)

    private let current = Atomic(SettingsCounter.next())

    /// The number of the current settings.
    package var number: Int { current.load(ordering: .acquiring) }

    /// - Parameter number: never less than the current one.
    func set(_ number: Int) { current.store(number, ordering: .releasing) }

    /// Returns a number that no settings in this process have had. Numbers are 2^32 apart, so that a caller can add a
    /// count of its own, and the sums differ, too.
    static func next() -> Int { last.wrappingAdd(1 << 32, ordering: .relaxed).newValue }
}
