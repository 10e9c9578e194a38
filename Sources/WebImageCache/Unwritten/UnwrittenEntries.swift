import Synchronization
import WebImageCore
import WebImageSystem

/// All entries that are not on disk yet, and the order of their writes: which writes are open, which were cancelled by
/// later changes, which entries are staged, and which others are about to write.
///
/// It knows neither the directory nor the index: a writer asks it whether its write is still wanted.
final class UnwrittenEntries: Sendable {
    private struct State {
        var writes = OpenWrites()
        var staged = StagedEntries()
        var expected: [EntryID: Expected] = [:]

        var count: Int { staged.entries.count + expected.count }

        /// The entry that is expected under that name, unless something has beaten it.
        func wanted(_ id: EntryID) -> (any ExpectedEntry)? {
            guard let found = expected[id], writes.wants(found.number, id) else { return nil }
            return found.entry
        }

        /// Takes an entry that waits out. One that is being written already is ended by its writer.
        mutating func unstage(_ id: EntryID) -> StagedEntry? {
            guard let entry = staged.remove(id) else { return nil }
            if !entry.isTaken { writes.end(id) }
            return entry
        }
    }

    /// The number stands beside the entry, so that nothing of the entry's is called under the lock.
    private struct Expected {
        let entry: any ExpectedEntry
        let number: UInt64
    }

    private let clock: any LoadClock
    // Values that leave the state are released after the lock, because a write that ends then takes the lock itself.
    private let state = Guarded(State())
    /// Entries that are staged or expected. A hit looks at this alone, and takes no lock while it is zero.
    private let count = Atomic<Int>(0)

    init(_ clock: any LoadClock) { self.clock = clock }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { count.store(state.count, ordering: .releasing) }
            return body(&state)
        }
    }

    private var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    // MARK: - The order of writes

    /// A write begins, which ``end(_:)`` ends.
    /// - Returns: its place in the order of all writes.
    func begin(_ id: EntryID) -> UInt64 { state.withLock { $0.writes.begin(id) } }

    func end(_ id: EntryID) { state.withLock { $0.writes.end(id) } }

    /// Whether nothing has beaten the write of that number.
    func wants(_ number: UInt64, _ id: EntryID) -> Bool { state.withLock { $0.writes.wants(number, id) } }

    /// A write has given its file the entry's name: it beats those that began before it.
    func didPublish(_ number: UInt64, _ id: EntryID) { state.withLock { $0.writes.didPublish(number, id) } }

    /// The entry is removed, which beats every write that has begun.
    func cancelWrites(of id: EntryID) { state.withLock { $0.writes.cancelAll(of: id) } }

    /// The same for writes that began before the one of that number.
    func cancelWrites(of id: EntryID, before number: UInt64) {
        state.withLock { $0.writes.cancel(of: id, before: number) }
    }

    /// Every entry is removed; what is staged goes unwritten.
    func cancelAll() {
        let staged = change { state in
            state.writes.cancelAll()
            return Array(state.staged.entries.keys).compactMap { state.unstage($0) }
        }
        for entry in staged { Self.tellUnwritten(entry) }
    }

    // MARK: - Finding

    /// The newest entry of that name that is on its way to the disk.
    func newest(_ id: EntryID) -> (any UnwrittenEntry)? {
        if isEmpty { return nil }
        let (staged, expected) = state.withLock { ($0.staged[id], $0.wanted(id)) }
        let alive = staged.flatMap { isAlive($0) ? $0 : nil }
        if let expected, expected.number > alive?.number ?? 0, isAlive(expected), expected.isComplete {
            return expected
        }
        return alive
    }

    /// The entry that is expected under that name, unless something has beaten it.
    func expected(_ id: EntryID) -> (any ExpectedEntry)? {
        if isEmpty { return nil }
        return state.withLock { $0.wanted(id) }.flatMap { isAlive($0) ? $0 : nil }
    }

    private func isAlive(_ entry: any UnwrittenEntry) -> Bool { entry.metadata.isAlive(at: clock.wallTime) }

    // MARK: - What others will write

    /// Has an entry found from now on, in place of what was expected before.
    func expect(_ entry: some ExpectedEntry) {
        let (id, expected) = (EntryID(entry.key), Expected(entry: entry, number: entry.number))
        _ = change { $0.expected.updateValue(expected, forKey: id) }
    }

    /// It is written, or will not be.
    func endExpecting(_ entry: some ExpectedEntry) {
        let id = EntryID(entry.key)
        _ = change { $0.expected[id]?.entry === entry ? $0.expected.removeValue(forKey: id) : nil }
    }

    // MARK: - What the cache will write

    /// Takes an entry for storing, in place of one that waits; that one goes unwritten.
    /// - Parameter most: bytes that may wait; one entry may always.
    /// - Returns: its place in the order of all writes; nil when too much waits already.
    func stage(
        _ id: EntryID, _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, most: Int,
        completion: @escaping @Sendable (StagedEntry.Answer) -> Void
    ) -> UInt64? {
        let (number, old): (UInt64?, StagedEntry?) = change { state in
            guard state.staged.bytes == 0 || state.staged.bytes + body.count <= most else { return (nil, nil) }
            let number = state.writes.begin(id)
            let entry = StagedEntry(key: key, body: body, metadata: metadata, number: number, completion: completion)
            let old = state.staged.add(entry, id)
            if let old, !old.isTaken { state.writes.end(id) }
            return (number, old)
        }
        if let old { Self.tellUnwritten(old) }
        return number
    }

    /// Lets an entry that waits go unwritten; returns whether there was one.
    /// - Parameter number: only one that began before that; nil: any.
    @discardableResult
    func unstage(_ id: EntryID, before number: UInt64? = nil) -> Bool {
        if isEmpty { return false }
        let entry = change { state in
            if let number, let entry = state.staged[id], entry.number >= number { return nil as StagedEntry? }
            return state.unstage(id)
        }
        if let entry { Self.tellUnwritten(entry) }
        return entry != nil
    }

    private static func tellUnwritten(_ entry: StagedEntry) {
        if !entry.isTaken { entry.completion(.success(false)) }
    }

    var stagedIDs: [EntryID] { isEmpty ? [] : state.withLock { Array($0.staged.entries.keys) } }
    var stagedBytes: Int { state.withLock { $0.staged.bytes } }
    /// Calls that wait for somebody else to write an entry.
    var waitingCount: Int { state.withLock { $0.staged.waitingCount } }

    /// Gives an entry that waits to its writer, once; it is found until ``finish(_:_:_:)``.
    func take(_ id: EntryID, _ number: UInt64) -> StagedEntry? { state.withLock { $0.staged.take(id, number: number) } }

    /// What who needs an entry on the disk must do; nil: it does not wait to be written.
    func turn(_ id: EntryID) -> StagedEntries.Turn? { isEmpty ? nil : state.withLock { $0.staged.turn(id) } }

    /// Ends a write, and tells its waiters the result.
    func finish(_ entry: StagedEntry, _ id: EntryID, _ answer: StagedEntry.Answer) {
        let waiting = change { state in
            state.writes.end(id)
            return state.staged.finish(id, number: entry.number)
        }
        entry.completion(answer)
        for waiter in waiting { waiter.give(answer) }
    }
}
