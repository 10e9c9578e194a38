import Synchronization
import WebImageCore
import WebImageSystem

/// All entries that are not on disk yet, and the order of their writes: which writes are open, which were cancelled by
/// later changes, which entries are staged, and which ones other code will write.
///
/// This class knows neither the directory nor the index: a writer asks it whether its write is still wanted.
final class UnwrittenEntries: Sendable {
    private struct State {
        var writes = OpenWrites()
        var staged = StagedEntries()
        var expected: [EntryID: Expected] = [:]
        var removals: [EntryID: Removals] = [:]

        var count: Int { staged.entries.count + expected.count + removals.count }

        /// Whether the entry of a name on disk is about to be removed.
        func isLeaving(_ id: EntryID) -> Bool { removals[id].map { writes.wants($0.last, id) } ?? false }

        /// The expected entry of a name, unless its write was cancelled.
        func wanted(_ id: EntryID) -> (any ExpectedEntry)? {
            guard let found = expected[id], writes.wants(found.number, id) else { return nil }
            return found.entry
        }

        /// Removes a waiting entry. One that is being written already is ended by its writer.
        mutating func unstage(_ id: EntryID) -> StagedEntry? {
            guard let entry = staged.remove(id) else { return nil }
            if !entry.isTaken { writes.end(id) }
            return entry
        }
    }

    /// The number is stored next to the entry, so that the entry is not called under the lock.
    private struct Expected {
        let entry: any ExpectedEntry
        let number: UInt64
    }

    /// Removals that have begun and not ended.
    private struct Removals {
        var count = 0
        /// The number of the newest one.
        var last: UInt64 = 0
    }

    private let clock: any LoadClock
    // Values that leave the state are released after the lock, because a write that ends then takes the lock itself.
    private let state = Guarded(State())
    /// How many entries are staged, expected or about to be removed. A hit reads only this, and takes no lock if it is
    /// zero.
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

    /// Begins a write; ``end(_:)`` ends it.
    /// - Returns: its place in the order of all writes.
    func begin(_ id: EntryID) -> UInt64 { state.withLock { $0.writes.begin(id) } }

    func end(_ id: EntryID) { state.withLock { $0.writes.end(id) } }

    /// Begins a removal, which cancels the writes that have begun; ``endRemoval(_:)`` ends it. From now on the entry is
    /// not found any more.
    /// - Returns: its place in the order of all writes.
    func beginRemoval(_ id: EntryID) -> UInt64 {
        change { state in
            let number = state.writes.begin(id)
            state.writes.cancel(of: id, before: number)
            state.removals[id, default: Removals()].count += 1
            state.removals[id]?.last = number
            return number
        }
    }

    func endRemoval(_ id: EntryID) {
        change { state in
            state.writes.end(id)
            guard let left = state.removals[id]?.count else { return }
            state.removals[id] = left > 1 ? Removals(count: left - 1, last: state.removals[id]?.last ?? 0) : nil
        }
    }

    /// Whether the entry of a name on disk is about to be removed, and so counts as missing.
    func isLeaving(_ id: EntryID) -> Bool { !isEmpty && state.withLock { $0.isLeaving(id) } }

    /// Whether the write with that number is not cancelled.
    func wants(_ number: UInt64, _ id: EntryID) -> Bool { state.withLock { $0.writes.wants(number, id) } }

    /// A write has given its file the entry's name: earlier writes are cancelled.
    func didPublish(_ number: UInt64, _ id: EntryID) { state.withLock { $0.writes.didPublish(number, id) } }

    /// The entry is removed: every write that has begun is cancelled.
    func cancelWrites(of id: EntryID) { state.withLock { $0.writes.cancelAll(of: id) } }

    /// All entries are removed; staged ones are not written.
    func cancelAll() {
        let staged = change { state in
            state.writes.cancelAll()
            return Array(state.staged.entries.keys).compactMap { state.unstage($0) }
        }
        for entry in staged { Self.tellUnwritten(entry) }
    }

    // MARK: - Finding

    /// The newest entry of a name that is not on disk yet.
    func newest(_ id: EntryID) -> (any UnwrittenEntry)? {
        if isEmpty { return nil }
        let (staged, expected) = state.withLock { state in
            (state.staged[id].flatMap { state.writes.wants($0.number, id) ? $0 : nil }, state.wanted(id))
        }
        let alive = staged.flatMap { isAlive($0) ? $0 : nil }
        if let expected, expected.number > alive?.number ?? 0, isAlive(expected), expected.isComplete {
            return expected
        }
        return alive
    }

    /// The expected entry of a name, unless its write was cancelled.
    func expected(_ id: EntryID) -> (any ExpectedEntry)? {
        if isEmpty { return nil }
        return state.withLock { $0.wanted(id) }.flatMap { isAlive($0) ? $0 : nil }
    }

    private func isAlive(_ entry: any UnwrittenEntry) -> Bool { entry.metadata.isAlive(at: clock.wallTime) }

    // MARK: - Expected entries

    /// Makes an entry readable before it is written, and replaces an earlier expected one.
    func expect(_ entry: some ExpectedEntry) {
        let (id, expected) = (EntryID(entry.key), Expected(entry: entry, number: entry.number))
        _ = change { $0.expected.updateValue(expected, forKey: id) }
    }

    /// Ends ``expect(_:)``: the entry has been written, or will not be.
    func endExpecting(_ entry: some ExpectedEntry) {
        let id = EntryID(entry.key)
        _ = change { $0.expected[id]?.entry === entry ? $0.expected.removeValue(forKey: id) : nil }
    }

    // MARK: - Staged entries

    /// Stages an entry. A waiting one of the same name is replaced, and not written.
    /// - Parameter most: how many bytes may wait; a single entry always may.
    /// - Returns: its place in the order of all writes, and a function that calls the replaced entry's completion, to
    ///   be called without locks held; nil if too much is waiting.
    func stage(
        _ id: EntryID, _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, most: Int,
        completion: @escaping @Sendable (StagedEntry.Answer) -> Void
    ) -> (number: UInt64, tellReplaced: @Sendable () -> Void)? {
        let staged = change { state -> (number: UInt64, old: StagedEntry?)? in
            guard state.staged.bytes == 0 || state.staged.bytes + body.count <= most else { return nil }
            let number = state.writes.begin(id)
            let entry = StagedEntry(key: key, body: body, metadata: metadata, number: number, completion: completion)
            let old = state.staged.add(entry, id)
            if let old, !old.isTaken { state.writes.end(id) }
            return (number, old)
        }
        return staged.map { ($0.number, { [old = $0.old] in if let old { Self.tellUnwritten(old) } }) }
    }

    /// Removes a waiting entry, so that it is not written; returns whether there was one.
    /// - Parameter number: only an entry that was staged before this number is removed; nil: any.
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
    /// How many calls wait for another thread to write an entry.
    var waitingCount: Int { state.withLock { $0.staged.waitingCount } }

    /// Gives a waiting entry to its writer, once; it stays readable until ``finish(_:_:_:)``.
    func take(_ id: EntryID, _ number: UInt64) -> StagedEntry? { state.withLock { $0.staged.take(id, number: number) } }

    /// What a caller that needs an entry on disk must do; nil: the entry is not waiting.
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
