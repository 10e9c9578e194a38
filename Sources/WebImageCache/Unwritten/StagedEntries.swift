import WebImageCore
import WebImageSystem

/// An entry that was passed to the cache and that the cache itself will write.
struct StagedEntry: UnwrittenEntry {
    typealias Answer = Result<Bool, WebImageError>

    let key: CacheKey
    let body: [UInt8]
    let metadata: DiskMetadata
    let number: UInt64
    let completion: @Sendable (Answer) -> Void
    /// Whether a thread is writing it.
    var isTaken = false

    func allBytes() -> [UInt8] { body }
}

/// The entries that were passed to the cache and are not on disk yet: by name, only the newest of each.
struct StagedEntries {
    /// What a caller that needs an entry on disk must do.
    enum Turn {
        case write(StagedEntry)
        /// Another thread is writing it.
        case wait(BlockingAnswer<StagedEntry.Answer>)
    }

    private(set) var entries: [EntryID: StagedEntry] = [:]
    private(set) var bytes = 0
    /// The waiters for a write, by its number; they stay if another entry takes the name, or none has it.
    private var waiting: [UInt64: [BlockingAnswer<StagedEntry.Answer>]] = [:]

    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    subscript(id: EntryID) -> StagedEntry? { entries[id] }

    /// - Returns: the entry that it replaces.
    mutating func add(_ entry: StagedEntry, _ id: EntryID) -> StagedEntry? {
        bytes += entry.body.count
        let old = entries.updateValue(entry, forKey: id)
        bytes -= old?.body.count ?? 0
        return old
    }

    /// Gives an entry to its writer, once; it stays readable until ``finish(_:number:)``.
    mutating func take(_ id: EntryID, number: UInt64? = nil) -> StagedEntry? {
        guard var entry = entries[id], !entry.isTaken, entry.number == number ?? entry.number else { return nil }
        entry.isTaken = true
        entries[id] = entry
        return entry
    }

    /// Returns what a caller that needs an entry on disk must do; nil: there is no such entry.
    mutating func turn(_ id: EntryID) -> Turn? {
        if let entry = take(id) { return .write(entry) }
        guard let entry = entries[id] else { return nil }
        let answer = BlockingAnswer<StagedEntry.Answer>()
        waiting[entry.number, default: []].append(answer)
        return .wait(answer)
    }

    /// A write has ended; another entry of the same name stays.
    /// - Returns: the waiters for the write.
    mutating func finish(_ id: EntryID, number: UInt64) -> [BlockingAnswer<StagedEntry.Answer>] {
        if entries[id]?.number == number { remove(id) }
        return waiting.removeValue(forKey: number) ?? []
    }

    @discardableResult
    mutating func remove(_ id: EntryID) -> StagedEntry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        bytes -= entry.body.count
        return entry
    }
}
