import Synchronization

/// What was purged, as every request looks it up: without a lock where nothing was. Any thread may use it.
public final class PurgeBook: Sendable {
    private let table: Mutex<PurgeTable>
    /// What began after it is current, whatever it is.
    private let safe: Atomic<Int>

    public init(_ table: PurgeTable = PurgeTable()) {
        self.table = Mutex(table)
        safe = Atomic(max(table.latest, table.floor))
    }

    /// How many purges are remembered.
    public var count: Int { table.withLock { $0.count } }

    /// When the newest purge was.
    public var latest: Int { table.withLock { $0.latest } }

    /// - Parameters:
    ///   - source: the URL of the source.
    ///   - tags: hashes of the tags that its origin gave it.
    ///   - begun: when the work on the result began.
    public func verdict(source: String, tags: [UInt64] = [], begun: Int) -> PurgeTable.Verdict {
        if begun > safe.load(ordering: .acquiring) { return .current }
        return table.withLock { $0.verdict(source: source, tags: tags, begun: begun) }
    }

    /// When something of this source was purged last; 0: never.
    public func lastPurge(source: String, tags: [UInt64] = []) -> Int {
        table.withLock { $0.lastPurge(source: source, tags: tags) }
    }

    /// Purges at this time or before it are not all known.
    public var floor: Int { table.withLock { $0.floor } }

    /// All that is remembered.
    public var text: String { table.withLock { $0.text } }

    /// Adds a purge by this machine's clock.
    ///
    /// - Returns: its time.
    @discardableResult public func add(_ purge: Purge, now: Int) -> Int {
        change { $0.add(purge, now: now) }
    }

    /// Forgets the older ones where there are too many: what is older than those counts as unsure from then on.
    public func trim(to most: Int) { change { $0.trim(to: most) } }

    public func replace(_ table: PurgeTable) { change { $0 = table } }

    private func change<Value>(_ body: (inout PurgeTable) -> Value) -> Value {
        table.withLock { table in
            let value = body(&table)
            safe.store(max(table.latest, table.floor), ordering: .releasing)
            return value
        }
    }
}
