import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The pending changes of one further tier. A pure value.
///
/// Changes of one key happen one after the other. A removal replaces older changes that have not begun, and so does a
/// store. Replaced changes are answered and never begin; an older removal gets the answer of the one that replaces it.
struct TierChanges {
    enum Action: Sendable {
        case put(ByteLog, DiskMetadata)
        case renew(@Sendable (DiskMetadata) -> DiskMetadata?)
        case remove
        /// Undoes stores that have not ended, because another program has removed the entry. Others are not told.
        case undo
    }

    struct Change: Sendable {
        let key: CacheKey
        let action: Action
        /// Its place in the order of changes to the key.
        let number: UInt64
        /// How many bytes it holds in memory or in temporary files while it waits.
        let length: Int
        let then: @Sendable (WebImageError?) -> Void

        var isStore: Bool { if case .put = action { true } else { false } }

        var isRemoval: Bool {
            switch action {
            case .remove, .undo: true
            case .put, .renew: false
            }
        }
    }

    private struct Line {
        /// The number of announced stores that were neither added nor withdrawn.
        var reserved = 0
        /// Stores with a lower number are obsolete.
        var firstWanted: UInt64 = 0
        var waiting: [Change] = []
        var isRunning = false
        var isRemoving = false
        var isStoring = false
        /// The length of the change that runs.
        var runningLength = 0

        var isIdle: Bool { reserved == 0 && waiting.isEmpty && !isRunning }
    }

    /// How many changes may wait.
    private static let maxWaiting = 10_000

    private let maxRunning: Int
    /// The most bytes of stores that may wait, and of those that may run; one store may always do either.
    private let maxBytes: Int
    private var lines: [CacheKey: Line] = [:]
    /// Keys whose first change may begin, in order.
    private var ready = FIFO<CacheKey>()
    private var nextNumber: UInt64 = 1
    private var waitingCount = 0
    private(set) var waitingBytes = 0
    private(set) var runningBytes = 0
    private(set) var runningCount = 0

    init(maxRunning: Int, maxBytes: Int) {
        self.maxRunning = maxRunning
        self.maxBytes = maxBytes
    }

    /// Whether no change runs or waits.
    var isIdle: Bool { runningCount == 0 && ready.count == 0 }

    /// Whether the entry with that key is being removed, or its removal waits.
    func isRemoving(_ key: CacheKey) -> Bool {
        guard let line = lines[key] else { return false }
        return line.isRemoving || line.waiting.contains(where: \.isRemoval)
    }

    // MARK: Order

    /// Announces a store.
    mutating func reserve(_ key: CacheKey) -> UInt64 {
        lines[key, default: Line()].reserved += 1
        return takeNumber()
    }

    /// Ends an announcement: its store was added, or is withdrawn.
    mutating func endReservation(_ key: CacheKey) {
        change(key) { $0.reserved -= 1 }
    }

    private mutating func takeNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    // MARK: Changes

    /// The result of adding a change.
    struct Added {
        /// Changes that will not happen, because others have replaced them.
        var beaten: [Change] = []
        /// Whether the change will not happen, because there is no room for it.
        var isRefused = false
    }

    /// - Parameter number: the number of an announced store; nil: the change is the newest.
    mutating func add(
        _ action: Action, _ key: CacheKey, number: UInt64? = nil,
        _ then: @escaping @Sendable (WebImageError?) -> Void
    ) -> Added {
        let length = if case .put(let log, _) = action { log.receivedCount } else { 0 }
        guard waitingCount < Self.maxWaiting else { return Added(isRefused: true) }
        var line = lines[key, default: Line()]
        defer { lines[key] = line.isIdle ? nil : line }
        var (beaten, olderRemovals) = ([Change](), [Change]())
        if case .remove = action { olderRemovals = line.waiting.filter(\.isRemoval) }
        let answers = [then] + olderRemovals.map(\.then)
        let change = Change(key: key, action: action, number: number ?? takeNumber(), length: length) { failure in
            for then in answers { then(failure) }
        }
        switch action {
        case .remove:
            line.firstWanted = nextNumber
            beaten = line.waiting.filter { !$0.isRemoval }
        case .undo:
            // Stores that were only announced are obsolete then, and leave nothing to undo.
            line.firstWanted = nextNumber
            beaten = line.waiting.filter(\.isStore)
            guard line.isStoring || !beaten.isEmpty else { return Added(beaten: [change]) }
        case .put:
            guard change.number >= line.firstWanted else { return Added(beaten: [change]) }
            guard waitingBytes == 0 || waitingBytes + length <= maxBytes else { return Added(isRefused: true) }
            line.firstWanted = change.number
            beaten = line.waiting.filter { !$0.isRemoval }
        case .renew: break
        }
        if !line.isRunning, line.waiting.isEmpty { ready.append(key) }
        let numbers = Set((beaten + olderRemovals).map(\.number))
        line.waiting.removeAll { numbers.contains($0.number) }
        line.waiting.append(change)
        waitingCount += 1 - numbers.count
        waitingBytes += length - beaten.reduce(0) { $0 + $1.length }
        return Added(beaten: beaten)
    }

    /// The next change that may begin now; it counts as running until ``end(_:)``.
    mutating func takeNext() -> Change? {
        guard runningCount < maxRunning, let key = ready.first, var line = lines[key], let change = line.waiting.first,
            runningBytes == 0 || runningBytes + change.length <= maxBytes
        else { return nil }
        _ = ready.popFirst()
        line.waiting.removeFirst()
        (line.isRunning, line.isRemoving, line.isStoring) = (true, change.isRemoval, change.isStore)
        line.runningLength = change.length
        lines[key] = line
        waitingCount -= 1
        waitingBytes -= change.length
        runningCount += 1
        runningBytes += change.length
        return change
    }

    /// Ends the running change of a key.
    mutating func end(_ key: CacheKey) {
        runningCount -= 1
        runningBytes -= lines[key]?.runningLength ?? 0
        change(key) { line in
            (line.isRunning, line.isRemoving, line.isStoring) = (false, false, false)
            line.runningLength = 0
        }
        if lines[key]?.waiting.isEmpty == false { ready.append(key) }
    }

    private mutating func change(_ key: CacheKey, _ change: (inout Line) -> Void) {
        guard var line = lines[key] else { return }
        change(&line)
        lines[key] = line.isIdle ? nil : line
    }
}
