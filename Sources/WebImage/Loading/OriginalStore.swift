import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// An original that is to be stored, in one tier or several.
struct PendingOriginal: Sendable {
    let metadata: DiskMetadata
    fileprivate let key: CacheKey
    /// One for each tier. Their places in the order of writes are taken.
    fileprivate let writes: [any TierWrite]

    /// - Parameter log: its bytes; nil where others will be written, which nobody knows yet.
    init(_ kept: KeptOriginal, log: ByteLog?, key: CacheKey) {
        metadata = kept.metadata
        self.key = key
        writes = kept.tiers.map { $0.reserve(key, log, kept.metadata) }
    }
}

/// Writes originals to tiers after their callers have been answered, in the order in which they came. The disk cache has them
/// found until then.
///
/// What waits to be written to the first tier is bounded: when the disk cannot follow, the newest copy is given up, and
/// nothing else. Whoever waits for the stores waits for the first tier of each, which is the disk cache where there is one;
/// further tiers bound what waits for them.
final class OriginalStore: Sendable {
    /// A promise to store something, or to say that it is not to be: whoever waits for the stores waits for it.
    struct Announcement {
        fileprivate let owner: OriginalStore
        fileprivate let number: Int
        fileprivate let original: PendingOriginal?

        /// Takes it back, or says that it was kept by other means.
        func withdraw() {
            for write in original?.writes.dropFirst() ?? [] { write.end() }
            owner.end(number, 0, original?.writes.first)
        }

        /// Stores the complete bytes of `log` in the background.
        ///
        /// - Parameters:
        ///   - format: of the bytes; nil: as was announced.
        ///   - told: how long the writing took, or why there is no entry; off every lock, before whoever waits for the
        ///     stores goes on.
        func store(
            _ log: ByteLog, format: ImageFormat? = nil,
            told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
        ) {
            guard let original else { return withdraw() }
            owner.store(log, original, format, number, told)
        }
    }

    private struct State {
        var pendingBytes = 0
        /// Announcements that have not been kept or taken back.
        var pending: Set<Int> = []
        var lastNumber = 0
        /// Originals that have come whole, and of which it is not known yet whether they are pictures; with what waits for that.
        var undecided: [CacheKey: [@Sendable () -> Void]] = [:]
        /// What was announced last, for those who looked for it just before.
        var recent = RecentKeys()
        var lastFound = 0
        /// Who waits for all up to a number.
        var waiting: [(last: Int, run: @Sendable () -> Void)] = []

        mutating func takeReady() -> [@Sendable () -> Void] {
            if waiting.isEmpty { return [] }
            let first = pending.min() ?? .max
            defer { waiting.removeAll { $0.last < first } }
            return waiting.filter { $0.last < first }.map(\.run)
        }
    }

    /// Originals of which not a byte is written yet may hold this much memory or temporary disk.
    private static let mostPendingBytes = 256 << 20

    private let observer: LoadObserver
    private let state = Guarded(State())

    init(observer: LoadObserver) { self.observer = observer }

    /// To be called before callers are answered: ``finish()`` waits for it.
    ///
    /// - Parameter original: what is found from now on; nil where it is not one.
    func announce(_ original: PendingOriginal? = nil) -> Announcement {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.pending.insert(state.lastNumber)
            return state.lastNumber
        }
        if let original {
            for write in original.writes { write.announce() }
            // Only now: who begins to look after this finds it.
            state.withLock { state in
                state.lastFound += 1
                state.recent.add(original.key, state.lastFound)
            }
        }
        return Announcement(owner: self, number: number, original: original)
    }

    private func store(
        _ log: ByteLog, _ original: PendingOriginal, _ format: ImageFormat?, _ number: Int,
        _ told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        let length = log.receivedCount
        var metadata = original.metadata
        metadata.format = format ?? metadata.format
        for write in original.writes.dropFirst() { write.write(log, metadata, .low) { _ in write.end() } }
        guard let first = original.writes.first else { return end(number, 0, nil) }
        let priority = state.withLock { state -> LoadPriority? in
            guard state.pendingBytes == 0 || state.pendingBytes + length <= Self.mostPendingBytes else { return nil }
            state.pendingBytes += length
            return Self.priority(withPending: state.pendingBytes)
        }
        guard let priority else {
            let error = WebImageError(.cacheIO, "the disk is too slow: an original was not stored")
            observer.cacheFailed(error)
            told(.failure(error))
            return end(number, 0, first)
        }
        first.write(log, metadata, priority) { outcome in
            told(outcome)
            self.end(number, length, first)
        }
    }

    /// Nobody waits for a store, until so many wait that some would have to be given up.
    private static func priority(withPending bytes: Int) -> LoadPriority {
        switch bytes {
        case ..<(mostPendingBytes / 4): .low
        case ..<(mostPendingBytes / 2): .normal
        default: .high
        }
    }

    private func end(_ number: Int, _ length: Int, _ write: (any TierWrite)?) {
        write?.end()
        let ready = state.withLock { state in
            state.pending.remove(number)
            state.pendingBytes -= length
            return state.takeReady()
        }
        for run in ready { run() }
    }

    /// An original has come whole. Until it is known whether it is to be kept, nobody who reads caches need ask for it again.
    func beginDeciding(_ key: CacheKey) { state.withLock { $0.undecided[key] = $0.undecided[key] ?? [] } }

    func endDeciding(_ key: CacheKey) {
        for run in state.withLock({ $0.undecided.removeValue(forKey: key) }) ?? [] { run() }
    }

    /// How many originals have been announced and can be found.
    var announcements: Int { state.withLock { $0.lastFound } }

    /// Calls `run` once, off every lock, when it is known whether an original is to be kept; at once where one was announced
    /// since a moment.
    ///
    /// - Parameter moment: what ``announcements`` was.
    /// - Returns: false when nobody is about to decide that, or has just decided it: `run` is not called.
    func whenDecided(_ key: CacheKey, since moment: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
        let (isComing, isThere) = state.withLock { state -> (Bool, Bool) in
            if !state.undecided.isEmpty, state.undecided[key]?.append(run) != nil { return (true, false) }
            return (false, state.recent.has(key, since: moment))
        }
        if isThere { run() }
        return isComing || isThere
    }

    /// Returns when everything that was announced so far is stored or given up.
    ///
    /// - Throws: `cancelled`.
    func finish() async throws(WebImageError) {
        let answer = CancellableAnswer<Void>()
        whenStored { answer.give(.success(())) }
        try await answer.value()
    }

    /// Calls `run` once, off every lock, when everything that was announced so far is stored or given up. `run` must not
    /// block.
    func whenStored(_ run: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state -> Bool in
            if !state.pending.isEmpty { state.waiting.append((state.lastNumber, run)) }
            return state.pending.isEmpty
        }
        if isDone { run() }
    }
}

/// The keys that came last.
private struct RecentKeys {
    private static let most = 64

    private var keys: [(key: CacheKey, number: Int)] = []
    private var next = 0

    mutating func add(_ key: CacheKey, _ number: Int) {
        if keys.count < Self.most { keys.append((key, number)) } else { keys[next] = (key, number) }
        next = (next + 1) % Self.most
    }

    func has(_ key: CacheKey, since number: Int) -> Bool { keys.contains { $0.number > number && $0.key == key } }
}
