import Synchronization

/// The purges in a form for quick look-ups: without a lock if there are none. Any thread may use it.
public final class PurgeBook: Sendable {
    private let table: Mutex<PurgeTable>
    /// Results whose work began after this time are current.
    private let safe: Atomic<Int>

    public init(_ table: PurgeTable = PurgeTable()) {
        self.table = Mutex(table)
        safe = Atomic(max(table.latest, table.floor))
    }

    /// How many purges are stored.
    public var count: Int { table.withLock { $0.count } }

    /// The time of the newest purge.
    public var latest: Int { table.withLock { $0.latest } }

    /// - Parameters:
    ///   - source: the URL of the source.
    ///   - tags: hashes of the tags that its origin gave it.
    ///   - begun: when the work on the result began.
    public func verdict(source: String, tags: [UInt64] = [], begun: Int) -> PurgeTable.Verdict {
        if begun > safe.load(ordering: .acquiring) { return .current }
        return table.withLock { $0.verdict(source: source, tags: tags, begun: begun) }
    }

    /// The time of the last purge that concerns this source; 0: never.
    public func lastPurge(source: String, tags: [UInt64] = []) -> Int {
        table.withLock { $0.lastPurge(source: source, tags: tags) }
    }

    /// Not all purges at this time or before are known.
    public var floor: Int { table.withLock { $0.floor } }

    /// All stored purges as text.
    public var text: String { copy.text }

    /// What takes long for many purges is done with a copy, because lookups wait for the lock.
    private var copy: PurgeTable { table.withLock { $0 } }

    /// Adds a purge by this machine's clock.
    ///
    /// - Returns: its time.
    @discardableResult public func add(_ purge: Purge, now: Int) -> Int {
        change { $0.add(purge, now: now) }
    }

    /// Removes the oldest purges if there are more than `most`, and a tenth more, so that it is rarely necessary; results
    /// from before these then count as unsure.
    public func trim(to most: Int) {
        change { if $0.count > most { $0.trim(to: most - most / 10) } }
    }

    /// Adds the purges of another table, with its times.
    public func merge(_ other: PurgeTable) {
        let news = other.news(for: copy)
        change { $0.merge(news) }
    }

    /// Raises the floor: not all purges at this time or before are known.
    public func raiseFloor(to time: Int) { change { $0.raiseFloor(to: time) } }

    public func replace(_ table: PurgeTable) { change { $0 = table } }

    private func change<Value>(_ body: (inout PurgeTable) -> Value) -> Value {
        table.withLock { table in
            let value = body(&table)
            safe.store(max(table.latest, table.floor), ordering: .releasing)
            return value
        }
    }
}
