/// How much of the directory's content is known.
struct DirectoryScan {
    /// Whether the directory was scanned.
    private(set) var isDone = false
    /// The modification time of each shard's directory, in nanoseconds, at its last comparison with the index.
    var shardTimes = [Int64?](repeating: nil, count: 256)
    /// Called when the directory has been scanned.
    private var waiting: [@Sendable () -> Void] = []
    /// Entries that were removed during the scan, which may have seen them before.
    private var removed: Set<EntryID> = []

    mutating func noteRemoval(_ id: EntryID) {
        if !isDone { removed.insert(id) }
    }

    /// - Returns: the entries that were removed meanwhile.
    mutating func finish(shardTimes: [Int64?]) -> Set<EntryID> {
        defer { removed = [] }
        self.shardTimes = shardTimes
        isDone = true
        return removed
    }

    /// - Returns: false if the directory has been scanned already.
    mutating func wait(_ run: @escaping @Sendable () -> Void) -> Bool {
        if !isDone { waiting.append(run) }
        return !isDone
    }

    mutating func takeWaiting() -> [@Sendable () -> Void] {
        defer { waiting = [] }
        return waiting
    }

    /// The directories have been removed.
    mutating func forgetDirectories() { shardTimes = [Int64?](repeating: nil, count: 256) }
}
