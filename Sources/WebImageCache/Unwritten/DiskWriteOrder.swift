/// A place in the order of all writes of a key, taken before there is anything to write. The write is cancelled by a
/// later removal, and by a store that begins later and ends earlier.
package final class DiskWriteOrder: Sendable {
    let number: UInt64
    private let id: EntryID
    private let entries: UnwrittenEntries

    init(_ id: EntryID, _ entries: UnwrittenEntries) {
        (self.id, self.entries) = (id, entries)
        number = entries.begin(id)
    }

    deinit { entries.end(id) }

    /// Whether the write is not cancelled.
    package var isWanted: Bool { entries.wants(number, id) }
}
