import WebImageCore
import WebImageSystem

/// Which picture of which list is loaded next. A pure value: what it answers is carried out outside of the lock.
///
/// Lists go in the order in which they came; one that pauses lets the next one go first.
struct PrefetchQueue {
    typealias ListID = Int

    /// What to do now.
    enum Step: Equatable {
        case load(ListID, index: Int)
        /// Nothing may begin before then, for the rate's sake.
        case wait(until: Duration)
        case nothing
    }

    fileprivate struct List {
        /// The first picture that was not begun.
        var next = 0
        var running: Set<Int> = []
        /// Those that were taken out before they began.
        var removed: Set<Int> = []
        var isPaused = false
        /// No more of it begins.
        var isClosed = false
        var progress: PrefetchProgress

        var mayBegin: Bool { !isPaused && !isClosed && next < progress.total }
        var isOver: Bool { running.isEmpty && next >= progress.total }
    }

    private let width: Int
    private let byteBudget: Int?
    private let bytesPerSecond: Int?
    private var lists: [ListID: List] = [:]
    /// Those that may begin something. Their order is that of their numbers, which only grow.
    private var ready = IndexedHeap<ListID, ListID>()
    private var lastID = 0
    private(set) var runningCount = 0
    /// Nothing begins before then.
    private var earliest = Duration.zero
    var isPaused = false

    init(_ options: PrefetchOptions) {
        width = max(options.width, 1)
        byteBudget = options.byteBudget?.bytes
        bytesPerSecond = options.bytesPerSecond.map { max($0.bytes, 1) }
    }

    /// Of the lists that have not ended.
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
    /// - Returns: the list's progress; nil when it was cancelled meanwhile, and was counted then.
    mutating func end(_ id: ListID, index: Int, _ outcome: PrefetchedItem.Outcome, now: Duration) -> PrefetchProgress? {
        guard var list = lists[id], list.running.remove(index) != nil else { return nil }
        runningCount -= 1
        switch outcome {
        case .loaded(let source, let size):
            list.progress.loaded += 1
            if source == .network, let size {
                list.progress.bytes = ByteCount(list.progress.bytes.bytes + size.bytes)
                if let bytesPerSecond {
                    earliest = max(earliest, now) + .seconds(Double(size.bytes) / Double(bytesPerSecond))
                }
            }
        case .skipped: list.progress.skipped += 1
        case .failed: list.progress.failed += 1
        }
        if let byteBudget, list.progress.bytes.bytes >= byteBudget { list.close() }
        lists[id] = list
        updateReadiness(of: id)
        return list.progress
    }

    /// Drops what has not begun of a list, and what runs.
    ///
    /// - Returns: what ran.
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
    /// - Returns: whether it ran.
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

    /// Takes out a list that has ended.
    ///
    /// - Returns: what has become of it; nil while it goes on.
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

    /// Lets nothing more of it begin.
    fileprivate mutating func close() {
        guard !isClosed else { return }
        isClosed = true
        progress.dropped += progress.total - next - removed.count
        removed = []
        next = progress.total
    }
}
