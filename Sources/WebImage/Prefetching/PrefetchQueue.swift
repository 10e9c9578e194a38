import WebImageCore
import WebImageSystem

/// Decides which picture of which list is loaded next. A pure value: its decisions are carried out outside of the lock.
///
/// Lists are worked through in the order in which they were added. If a list is paused, the next one goes first.
struct PrefetchQueue {
    typealias ListID = Int

    /// What to do now.
    enum Step: Equatable {
        case load(ListID, index: Int)
        /// No picture may begin before then, because of ``PrefetchOptions/bytesPerSecond``.
        case wait(until: Duration)
        case nothing
    }

    fileprivate struct List {
        /// The index of the first picture that has not begun.
        var next = 0
        var running: Set<Int> = []
        /// The pictures that were dropped before they began.
        var removed: Set<Int> = []
        var isPaused = false
        /// Whether no further pictures of the list begin.
        var isClosed = false
        var progress: PrefetchProgress

        var mayBegin: Bool { !isPaused && !isClosed && next < progress.total }
        var isOver: Bool { running.isEmpty && next >= progress.total }
    }

    private let width: Int
    private let byteBudget: Int?
    private let bytesPerSecond: Int?
    private var lists: [ListID: List] = [:]
    /// The lists of which a picture may begin, in the order in which they were added.
    private var ready = IndexedHeap<ListID, ListID>()
    private var lastID = 0
    private(set) var runningCount = 0
    /// The time before which no picture begins.
    private var earliest = Duration.zero
    var isPaused = false

    init(_ options: PrefetchOptions) {
        width = max(options.width, 1)
        byteBudget = options.byteBudget?.bytes
        bytesPerSecond = options.bytesPerSecond.map { max($0.bytes, 1) }
    }

    /// The progress of all lists that have not ended, together.
    var progress: PrefetchProgress { lists.values.reduce(PrefetchProgress(total: 0)) { $0 + $1.progress } }
    var listCount: Int { lists.count }

    func progress(of id: ListID) -> PrefetchProgress? { lists[id]?.progress }
    func isRunning(_ id: ListID, _ index: Int) -> Bool { lists[id]?.running.contains(index) ?? false }
    func isPaused(_ id: ListID) -> Bool { lists[id]?.isPaused ?? false }

    mutating func add(count: Int) -> ListID {
        lastID += 1
        lists[lastID] = List(progress: PrefetchProgress(total: count))
        updateReadiness(of: lastID)
        return lastID
    }

    mutating func setPaused(_ isPaused: Bool, _ id: ListID) {
        lists[id]?.isPaused = isPaused
        updateReadiness(of: id)
    }

    /// Call it when a list has changed.
    private mutating func updateReadiness(of id: ListID) {
        if lists[id]?.mayBegin ?? false { ready.set(id, to: id) } else { ready.remove(id) }
    }

    /// Takes the next picture that may begin.
    mutating func next(now: Duration) -> Step {
        guard !isPaused, runningCount < width else { return .nothing }
        guard let id = ready.first?.id, var list = lists[id] else { return .nothing }
        if now < earliest { return .wait(until: earliest) }
        let index = list.next
        list.next += 1
        list.skipRemoved()
        list.running.insert(index)
        lists[id] = list
        updateReadiness(of: id)
        runningCount += 1
        return .load(id, index: index)
    }

    /// Notes that a picture has ended.
    ///
    /// - Parameter transferred: the bytes that came over the network, also if the picture failed then. By default those
    ///   of the outcome.
    /// - Returns: the list's progress; nil if the picture was cancelled meanwhile, and counted then.
    mutating func end(
        _ id: ListID, index: Int, _ outcome: PrefetchedItem.Outcome, transferred: ByteCount? = nil, now: Duration
    ) -> PrefetchProgress? {
        guard var list = lists[id], list.running.remove(index) != nil else { return nil }
        runningCount -= 1
        switch outcome {
        case .loaded: list.progress.loaded += 1
        case .skipped: list.progress.skipped += 1
        case .failed: list.progress.failed += 1
        }
        if let bytes = (transferred ?? outcome.transferred)?.bytes {
            list.progress.bytes = ByteCount(list.progress.bytes.bytes + bytes)
            if let bytesPerSecond {
                earliest = max(earliest, now) + .seconds(Double(bytes) / Double(bytesPerSecond))
            }
        }
        if let byteBudget, list.progress.bytes.bytes >= byteBudget { list.close() }
        lists[id] = list
        updateReadiness(of: id)
        return list.progress
    }

    /// Drops all pictures of a list that have not ended.
    ///
    /// - Returns: the pictures whose loads were running.
    mutating func cancel(_ id: ListID) -> [Int] {
        guard var list = lists[id] else { return [] }
        let running = Array(list.running)
        list.close()
        list.progress.dropped += running.count
        list.running = []
        runningCount -= running.count
        lists[id] = list
        updateReadiness(of: id)
        return running
    }

    /// Drops one picture of a list.
    ///
    /// - Returns: whether its load was running.
    mutating func cancel(_ id: ListID, index: Int) -> Bool {
        guard var list = lists[id], (0..<list.progress.total).contains(index) else { return false }
        defer {
            lists[id] = list
            updateReadiness(of: id)
        }
        if list.running.remove(index) != nil {
            runningCount -= 1
            list.progress.dropped += 1
            return true
        }
        guard index >= list.next, list.removed.insert(index).inserted else { return false }
        list.progress.dropped += 1
        list.skipRemoved()
        return false
    }

    /// Removes a list, if it has ended.
    ///
    /// - Returns: its final progress; nil if it has not ended.
    mutating func takeEnded(_ id: ListID) -> PrefetchProgress? {
        guard let list = lists[id], list.isOver else { return nil }
        lists[id] = nil
        updateReadiness(of: id)
        return list.progress
    }

    var listIDs: [ListID] { lists.keys.sorted() }
}

extension PrefetchQueue.List {
    fileprivate mutating func skipRemoved() {
        while next < progress.total, removed.remove(next) != nil { next += 1 }
    }

    /// Drops the pictures of the list that have not begun.
    fileprivate mutating func close() {
        guard !isClosed else { return }
        isClosed = true
        progress.dropped += progress.total - next - removed.count
        removed = []
        next = progress.total
    }
}

extension PrefetchedItem.Outcome {
    /// The bytes of a picture that came over the network.
    fileprivate var transferred: ByteCount? {
        if case .loaded(.network, let size) = self { size } else { nil }
    }
}
