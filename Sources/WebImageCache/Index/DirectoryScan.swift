/// How far the directory's content is known.
struct DirectoryScan {
    /// Whether the directory was scanned.
    private(set) var isDone = false
    /// When each shard's directory was last changed, in nanoseconds, when it was last held against the index.
    var shardTimes = [Int64?](repeating: nil, count: 256)
    /// What is to be done once the directory is scanned.
    private var waiting: [@Sendable () -> Void] = []
    /// Entries removed while the scan ran, which it may have seen before.
    private var removed: Set<EntryID> = []

    mutating func noteRemoval(_ id: EntryID) {
        if !isDone { removed.insert(id) }
    }

    /// - Returns: entries that were removed meanwhile.
    mutating func finish(shardTimes: [Int64?]) -> Set<EntryID> {
        defer { removed = [] }
        self.shardTimes = shardTimes
        isDone = true
        return removed
    }

    /// - Returns: false when the directory is scanned already.
    mutating func wait(_ run: @escaping @Sendable () -> Void) -> Bool {
        if !isDone { waiting.append(run) }
        return !isDone
    }

    mutating func takeWaiting() -> [@Sendable () -> Void] {
        defer { waiting = [] }
        return waiting
    }

    /// Nothing of what was seen is there any more.
    mutating func forgetDirectories() { shardTimes = [Int64?](repeating: nil, count: 256) }
}
