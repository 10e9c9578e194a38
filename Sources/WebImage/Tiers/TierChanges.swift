import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The pending changes of one further tier. A pure value.
///
/// Changes of one key happen one after the other. A removal replaces older changes that have not begun, and so does a
/// store. Replaced changes are answered and never begin; an older removal gets the answer of the one that replaces it.
///
/// Nobody waits for a change whose call of the tier hangs, nor for changes behind it: stores and renewals behind it are
/// refused, and removals are answered at once and made when the call has ended after all.
struct TierChanges {
    enum Action: Sendable {
        case put(ByteLog, DiskMetadata)
        case renew(@Sendable (DiskMetadata) -> DiskMetadata?)
        case remove
        /// Undoes stores that have not ended, or only just, because another program has removed the entry; or removes an
        /// entry whose newer store was refused. Others are not told.
        case undo
    }

    struct Change: Sendable {
        let key: CacheKey
        let action: Action
        /// Its place in the order of changes to the key.
        let number: UInt64
        /// How many bytes it holds in memory or in temporary files while it waits.
        let length: Int
        fileprivate(set) var then: @Sendable (WebImageError?) -> Void
        /// Whether the change was answered while it waited.
        fileprivate var isAnswered = false

        fileprivate init(
            key: CacheKey, action: Action, number: UInt64, length: Int,
            then: @escaping @Sendable (WebImageError?) -> Void
        ) {
            (self.key, self.action, self.number, self.length, self.then) = (key, action, number, length, then)
        }

        /// Returns the same change for its answer, and leaves one that needs none.
        fileprivate mutating func takeAnswer() -> Change {
            defer { (then, isAnswered) = ({ _ in }, true) }
            return self
        }

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
        /// The change that runs.
        var running: Change?
        /// Whether the change that runs has not ended in time.
        var hangs = false

        var isIdle: Bool { reserved == 0 && waiting.isEmpty && running == nil }
    }

    /// How many changes may wait.
    private static let maxWaiting = 10_000
    /// For how long a store counts as recent, and how many are remembered. Another program's removal of such an entry may
    /// have come before the store, although this program learns of it later.
    private static let recentTime = Duration.seconds(2)
    private static let maxRecent = 256

    private let maxRunning: Int
    /// The most bytes of stores that may wait, and of those that may run; one store may always do either.
    private let maxBytes: Int
    private var lines: [CacheKey: Line] = [:]
    /// Keys whose first change may begin, in order.
    private var ready = FIFO<CacheKey>()
    private var nextNumber: UInt64 = 1
    /// The last stores that have ended, and when.
    private var recent: [(key: CacheKey, ended: Duration)] = []
    private var waitingCount = 0
    /// How many of the changes that wait have no answer yet.
    private var unansweredCount = 0
    /// How many of the changes that run hang.
    private var hangingCount = 0
    private(set) var waitingBytes = 0
    private(set) var runningBytes = 0
    private(set) var runningCount = 0

    init(maxRunning: Int, maxBytes: Int) {
        self.maxRunning = maxRunning
        self.maxBytes = maxBytes
    }

    /// Whether as many changes hang as may run, so that none can begin.
    private var isBlocked: Bool { hangingCount > 0 && hangingCount == maxRunning }

    /// Whether every change has been answered.
    var isIdle: Bool { runningCount == hangingCount && unansweredCount == 0 }

    /// Whether the entry with that key is being removed, or its removal waits.
    func isRemoving(_ key: CacheKey) -> Bool {
        guard let line = lines[key] else { return false }
        return line.running?.isRemoval ?? false || line.waiting.contains(where: \.isRemoval)
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
        /// Whether the change will not happen, because there is no room for it, or others before it hang.
        var isRefused = false
        /// Changes that will happen, but must be answered now, because others before them hang.
        var late: [Change] = []
    }

    /// - Parameter number: the number of an announced store; nil: the change is the newest.
    mutating func add(
        _ action: Action, _ key: CacheKey, number: UInt64? = nil, at now: Duration,
        _ then: @escaping @Sendable (WebImageError?) -> Void
    ) -> Added {
        let length = if case .put(let log, _) = action { log.receivedCount } else { 0 }
        guard waitingCount < Self.maxWaiting else { return Added(isRefused: true) }
        var line = lines[key, default: Line()]
        let isFirst = line.running == nil && line.waiting.isEmpty
        let isStuck = line.hangs || isBlocked
        defer { lines[key] = line.isIdle ? nil : line }
        var (beaten, olderRemovals) = ([Change](), [Change]())
        if case .remove = action { olderRemovals = line.waiting.filter(\.isRemoval) }
        let answers = [then] + olderRemovals.map(\.then)
        var change = Change(key: key, action: action, number: number ?? takeNumber(), length: length) { failure in
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
            guard line.running?.isStore ?? false || !beaten.isEmpty || hasStored(key, justBefore: now) else {
                return Added(beaten: [change])
            }
        case .put:
            guard change.number >= line.firstWanted else { return Added(beaten: [change]) }
            if isStuck {
                if line.hangs { undoLater(key, &line) }
                return Added(isRefused: true)
            }
            line.firstWanted = change.number
            beaten = take(from: &line) { !$0.isRemoval }
            if waitingBytes > 0, waitingBytes + length > maxBytes {
                // Not if many changes wait: removals that somebody asked for must have room.
                if waitingCount < Self.maxWaiting / 10 { undoLater(key, &line, isFirst: isFirst) }
                return Added(beaten: beaten, isRefused: true)
            }
        case .renew: if isStuck { return Added(isRefused: true) }
        }
        let numbers = Set((beaten + olderRemovals).map(\.number))
        take(from: &line) { numbers.contains($0.number) }
        let late = isStuck ? [change.takeAnswer()] : []
        append(change, to: &line, isFirst: isFirst)
        return Added(beaten: beaten, late: late)
    }

    /// - Parameter isFirst: whether no change of the key ran or waited before.
    private mutating func append(_ change: Change, to line: inout Line, isFirst: Bool) {
        if isFirst { ready.append(change.key) }
        line.waiting.append(change)
        waitingCount += 1
        waitingBytes += change.length
        if !change.isAnswered { unansweredCount += 1 }
    }

    /// The next change that may begin now; it counts as running until ``end(_:at:)``.
    mutating func takeNext() -> Change? {
        // The first change of a key may have been refused while it waited.
        while let key = ready.first, lines[key]?.waiting.isEmpty ?? true || lines[key]?.running != nil {
            _ = ready.popFirst()
        }
        guard runningCount < maxRunning, let key = ready.first, var line = lines[key], let change = line.waiting.first,
            runningBytes == 0 || runningBytes + change.length <= maxBytes
        else { return nil }
        _ = ready.popFirst()
        take(from: &line) { $0.number == change.number }
        line.running = change
        lines[key] = line
        runningCount += 1
        runningBytes += change.length
        return change
    }

    /// Ends the running change of a key.
    mutating func end(_ key: CacheKey, at now: Duration) {
        runningCount -= 1
        if lines[key]?.hangs ?? false {
            hangingCount -= 1
        } else {
            runningBytes -= lines[key]?.running?.length ?? 0
        }
        if lines[key]?.running?.isStore ?? false {
            recent.removeAll { $0.key == key || now - $0.ended > Self.recentTime }
            if recent.count == Self.maxRecent { recent.removeFirst() }
            recent.append((key, now))
        }
        change(key) { line in (line.running, line.hangs) = (nil, false) }
        if lines[key]?.waiting.isEmpty == false { ready.append(key) }
    }

    private func hasStored(_ key: CacheKey, justBefore now: Duration) -> Bool {
        recent.contains { $0.key == key && now - $0.ended <= Self.recentTime }
    }

    /// Notes that a change still runs long after its deadline, unless it has ended.
    ///
    /// - Returns: the changes behind it, which must be answered now. If all that may run hang, they are all that wait.
    mutating func hang(_ change: Change) -> [Change] {
        guard let line = lines[change.key], line.running?.number == change.number, !line.hangs else { return [] }
        lines[change.key]?.hangs = true
        hangingCount += 1
        // Its bytes must not keep the changes of other keys from beginning.
        runningBytes -= change.length
        let stuck = isBlocked ? Array(lines.keys) : [change.key]
        return stuck.flatMap { key -> [Change] in
            guard var line = lines[key] else { return [] }
            let refused = take(from: &line) { !$0.isRemoval }
            if line.hangs, refused.contains(where: \.isStore) { undoLater(key, &line) }
            let late = line.waiting.indices.compactMap { place -> Change? in
                if line.waiting[place].isAnswered { return nil }
                unansweredCount -= 1
                return line.waiting[place].takeAnswer()
            }
            lines[key] = line.isIdle ? nil : line
            return refused + late
        }
    }

    /// Removes the entry of the key after the changes that run, because a newer store was refused: it would be outdated.
    private mutating func undoLater(_ key: CacheKey, _ line: inout Line, isFirst: Bool = false) {
        if line.waiting.contains(where: \.isRemoval) { return }
        var change = Change(key: key, action: .undo, number: takeNumber(), length: 0) { _ in }
        _ = change.takeAnswer()
        append(change, to: &line, isFirst: isFirst)
    }

    /// Takes changes from those that wait.
    @discardableResult
    private mutating func take(from line: inout Line, where isTaken: (Change) -> Bool) -> [Change] {
        let taken = line.waiting.filter(isTaken)
        line.waiting.removeAll(where: isTaken)
        waitingCount -= taken.count
        waitingBytes -= taken.reduce(0) { $0 + $1.length }
        unansweredCount -= taken.count { !$0.isAnswered }
        return taken
    }

    private mutating func change(_ key: CacheKey, _ change: (inout Line) -> Void) {
        guard var line = lines[key] else { return }
        change(&line)
        lines[key] = line.isIdle ? nil : line
    }
}
