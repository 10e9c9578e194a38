/// Writes that have begun and not ended. Later changes of their keys can cancel them: a removal cancels a write that
/// began before it, and so does a write that began later and has ended already.
struct OpenWrites {
    private struct Open {
        var count = 0
        /// Writes with a lower number are cancelled.
        var firstWanted: UInt64 = 0
    }

    private var open: [EntryID: Open] = [:]
    private var nextNumber: UInt64 = 1
    private var firstWanted: UInt64 = 0

    /// - Returns: the write's place in the order of all writes.
    mutating func begin(_ id: EntryID) -> UInt64 {
        open[id, default: Open()].count += 1
        nextNumber += 1
        return nextNumber - 1
    }

    func wants(_ number: UInt64, _ id: EntryID) -> Bool {
        number >= firstWanted && number >= open[id]?.firstWanted ?? 0
    }

    /// A write has given its file the entry's name.
    mutating func didPublish(_ number: UInt64, _ id: EntryID) { cancel(of: id, before: number) }

    mutating func end(_ id: EntryID) {
        guard var left = open[id] else { return }
        left.count -= 1
        open[id] = left.count > 0 ? left : nil
    }

    /// Cancels writes of an entry that began before the one with that number.
    mutating func cancel(of id: EntryID, before number: UInt64) {
        guard var others = open[id] else { return }
        others.firstWanted = max(others.firstWanted, number)
        open[id] = others
    }

    mutating func cancelAll(of id: EntryID) { open[id]?.firstWanted = nextNumber }

    mutating func cancelAll() { firstWanted = nextNumber }
}
