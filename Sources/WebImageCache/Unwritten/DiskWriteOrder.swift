/// A place in the order of all writes and removals of a key, taken before there is anything to write. A write is
/// cancelled by a later removal, and by a store that begins later and ends earlier.
package final class DiskWriteOrder: Sendable {
    let number: UInt64
    private let id: EntryID
    private let entries: UnwrittenEntries
    private let isRemoval: Bool

    init(_ id: EntryID, _ entries: UnwrittenEntries, isRemoval: Bool = false) {
        (self.id, self.entries, self.isRemoval) = (id, entries, isRemoval)
        number = isRemoval ? entries.beginRemoval(id) : entries.begin(id)
    }

    deinit { if isRemoval { entries.endRemoval(id) } else { entries.end(id) } }

    /// Whether the write or removal is not cancelled.
    package var isWanted: Bool { entries.wants(number, id) }
}
