import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// An original to be stored in one or several tiers.
struct PendingOriginal: Sendable {
    let metadata: DiskMetadata
    fileprivate let key: CacheKey
    /// One write for each tier. Their places in the order of writes are reserved.
    let writes: [any TierWrite]

    /// - Parameter log: its bytes; nil if a serializer will make other bytes.
    init(_ kept: KeptOriginal, log: ByteLog?, key: CacheKey) {
        metadata = kept.metadata
        self.key = key
        writes = kept.tiers.map { $0.reserve(key, log, kept.metadata) }
    }
}

/// Writes originals to tiers after their callers have been answered, in the order in which they arrived. Until they are
/// written, the disk cache finds them in memory.
///
/// The bytes that wait for the first tier are limited, see ``StoreBacklog``: if the disk is too slow, transfers of low
/// priority pause until it has caught up, and the newest original is not stored unless a caller waits for its store. If
/// the disk writes nothing for a long time, waiting callers get an error.
///
/// Waiting for the stores means waiting for the first tier of each original, which is the disk cache if there is one.
/// Further tiers limit their own waiting bytes.
final class OriginalStore: Sendable {
    /// A promise to store an original or to withdraw it. Waiting for the stores includes open promises.
    struct Announcement {
        fileprivate let owner: OriginalStore
        fileprivate let number: Int
        fileprivate let original: PendingOriginal?

        /// Withdraws the promise, also when the original was stored in another way.
        func withdraw() {
            for write in original?.writes.dropFirst() ?? [] { write.end() }
            owner.end(number, original?.writes.first)
        }

        /// Stores the complete bytes of `log` in the background.
        ///
        /// - Parameters:
        ///   - format: the format of the bytes; nil: the announced format.
        ///   - isAwaited: whether a caller waits until they are stored.
        ///   - told: called once with how long the write took, or why it failed; without locks held, before waiters for
        ///     the stores resume.
        func store(
            _ log: ByteLog, format: ImageFormat? = nil, isAwaited: Bool,
            told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
        ) {
            guard let original else { return withdraw() }
            owner.store(log, original, format, isAwaited, number, told)
        }
    }

    private struct State {
        var backlog: StoreBacklog
        var isBraking = false
        /// Whether a check of the backlog is scheduled.
        var isWatching = false
        /// The writes that have not ended, with the closures that are told of the end.
        var writes: [Int: @Sendable (Result<Duration, WebImageError>) -> Void] = [:]
        /// Announcements that were neither fulfilled nor withdrawn, with the keys of their originals.
        var pending: [Int: CacheKey] = [:]
        var lastNumber = 0
        /// Complete originals that are not yet known to be pictures.
        var undecided: [CacheKey: Decision] = [:]
        /// The last announced keys, for loads that looked for them just before.
        var recent = RecentKeys()
        var lastFound = 0
        /// The closures that wait for announcements, with the numbers of those that are still open.
        var waiting: [(open: Set<Int>, run: @Sendable () -> Void)] = []

        /// Ends an announcement.
        ///
        /// - Returns: the closures that waited for it last.
        mutating func end(_ number: Int) -> [@Sendable () -> Void] {
            pending[number] = nil
            if waiting.isEmpty { return [] }
            for index in waiting.indices { waiting[index].open.remove(number) }
            defer { waiting.removeAll { $0.open.isEmpty } }
            return waiting.filter { $0.open.isEmpty }.map(\.run)
        }

        /// - Returns: the owners of work that becomes more urgent.
        mutating func wait(
            for key: CacheKey, _ priority: LoadPriority, _ run: @escaping @Sendable () -> Void
        ) -> [OriginalKeeper] {
            guard var decision = undecided[key] else { return [] }
            defer { undecided[key] = decision }
            decision.waiting.append(run)
            guard priority > decision.priority else { return [] }
            decision.priority = priority
            return decision.keepers
        }

        /// Changes the backlog. Returns what must be done after the lock has been released.
        mutating func change(_ change: (inout StoreBacklog) -> Void) -> Consequence {
            change(&backlog)
            var consequence = Consequence()
            if isBraking != backlog.brakesTransfers {
                isBraking.toggle()
                consequence.brakes = isBraking
            }
            if !isWatching, let time = backlog.nextCheck {
                isWatching = true
                consequence.check = time
            }
            return consequence
        }
    }

    /// Whether an original is a picture, which is about to be found out.
    private struct Decision {
        /// The owners of the work that finds it out.
        var keepers: [OriginalKeeper] = []
        /// The closures that wait for it.
        var waiting: [@Sendable () -> Void] = []
        /// The highest priority of the loads that wait for it.
        var priority = LoadPriority.low
    }

    private struct Consequence {
        /// Whether transfers must pause or may continue from now on; nil: nothing changes.
        var brakes: Bool?
        /// When the backlog must be checked; nil: no new check is needed.
        var check: Duration?
    }

    private let observer: LoadObserver
    private let clock: any LoadClock
    /// Finds out whether originals are pictures, and calls the callers' closures when the disk's own threads have
    /// stalled.
    private let executor: any WorkExecutor
    private let brake: TransferBrake
    private let state: Guarded<State>

    /// - Parameters:
    ///   - executor: decodes headers, and calls the callers' closures when the disk has stalled; it must not be the
    ///     disk's own executor.
    ///   - brake: pauses the transfers that bring originals.
    ///   - limit: how many bytes may wait for the disk.
    init(
        observer: LoadObserver, clock: any LoadClock, executor: any WorkExecutor, brake: TransferBrake,
        limit: Int = 256 << 20
    ) {
        self.observer = observer
        self.clock = clock
        self.executor = executor
        self.brake = brake
        state = Guarded(State(backlog: StoreBacklog(limit: limit)))
    }

    /// Announces the store of an original, which can be found from now on. Call it before callers are answered, so that
    /// ``finish(_:)`` waits for it.
    func announce(_ original: PendingOriginal) -> Announcement {
        let number = takeNumber(for: original.key)
        for write in original.writes { write.announce() }
        // Only now, so that look-ups that begin after this find it.
        state.withLock { state in
            state.lastFound += 1
            state.recent.add(original.key, state.lastFound)
        }
        return Announcement(owner: self, number: number, original: original)
    }

    /// Announces any other change for which ``finish(_:)`` waits, such as the store of a finished picture or of an
    /// interrupted body's beginning.
    ///
    /// - Parameter key: the key of the original to which the change belongs.
    func announce(for key: CacheKey) -> Announcement {
        Announcement(owner: self, number: takeNumber(for: key), original: nil)
    }

    private func takeNumber(for key: CacheKey) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.pending[state.lastNumber] = key
            return state.lastNumber
        }
    }

    private func store(
        _ log: ByteLog, _ original: PendingOriginal, _ format: ImageFormat?, _ isAwaited: Bool, _ number: Int,
        _ told: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        let length = log.receivedCount
        var metadata = original.metadata
        metadata.format = format ?? metadata.format
        for write in original.writes.dropFirst() { write.write(log, metadata, .low, progress: {}) { _ in write.end() } }
        guard let first = original.writes.first else { return end(number, nil) }
        if first.limitsItself {
            return first.write(log, metadata, .low, progress: {}) { outcome in
                first.end()
                told(outcome)
                self.end(number, nil)
            }
        }
        let now = clock.now
        let (priority, isStalled, consequence) = state.withLock { state in
            var priority: LoadPriority?
            let consequence = state.change { priority = $0.add(length, isAwaited: isAwaited, at: now) }
            if priority != nil { state.writes[number] = told }
            return (priority, state.backlog.hasStalled, consequence)
        }
        guard let priority else {
            let error = isStalled ? Self.stalled : WebImageError(.cacheIO, "the disk is too slow: \(Self.omission)")
            observer.cacheFailed(error)
            told(.failure(error))
            return end(number, first)
        }
        carryOut(consequence)
        first.write(log, metadata, priority) {
            self.change { $0.progress(at: $1) }
        } then: { outcome in
            let told = self.state.withLock { $0.writes.removeValue(forKey: number) }
            self.change { $0.remove(length, at: $1) }
            // Before the callers are told, who may then look for the original on disk.
            first.end()
            // After a stall the caller has already been given an error.
            guard let told else { return }
            told(outcome)
            self.end(number, nil)
        }
    }

    private static let omission = "an original was not stored"
    private static let stalled = WebImageError(
        .cacheIO, "the disk has written nothing for \(StoreBacklog.patience.components.seconds) seconds: \(omission)")

    private func change(_ change: (inout StoreBacklog, Duration) -> Void) {
        let now = clock.now
        carryOut(state.withLock { state in state.change { change(&$0, now) } })
    }

    private func carryOut(_ consequence: Consequence) {
        if let brakes = consequence.brakes { if brakes { brake.pull() } else { brake.release() } }
        guard let time = consequence.check else { return }
        _ = clock.schedule(at: time) { [weak self] in self?.check() }
    }

    /// Ends the waits for the disk with an error if it has written nothing for too long.
    private func check() {
        let now = clock.now
        typealias Told = [Int: @Sendable (Result<Duration, WebImageError>) -> Void]
        let (late, consequence) = state.withLock { state -> (Told, Consequence) in
            state.isWatching = false
            var hasStalled = false
            let consequence = state.change { hasStalled = $0.stalls(at: now) }
            guard hasStalled else { return ([:], consequence) }
            defer { state.writes = [:] }
            return (state.writes, consequence)
        }
        carryOut(consequence)
        guard !late.isEmpty else { return }
        observer.cacheFailed(Self.stalled)
        executor.complete(.high) { [self] in
            for (number, told) in late {
                told(.failure(Self.stalled))
                // The disk may still write the original; until then loads find its bytes.
                end(number, nil)
            }
        }
    }

    private func end(_ number: Int, _ write: (any TierWrite)?) {
        write?.end()
        for run in state.withLock({ $0.end(number) }) { run() }
    }

    /// A complete original has arrived, and `work` finds out in the background whether it is stored. Until then, loads
    /// that read caches need not fetch it again.
    func decide(_ keeper: OriginalKeeper, _ work: @escaping @Sendable () -> Void) {
        let key = keeper.key.originalKey
        state.withLock { $0.undecided[key, default: Decision()].keepers.append(keeper) }
        executor.run(.low, for: keeper) { [self] in
            work()
            for run in state.withLock({ $0.undecided.removeValue(forKey: key) })?.waiting ?? [] { run() }
        }
        // A load may have begun to wait before the executor had the work.
        let priority = state.withLock { $0.undecided[key]?.priority } ?? .low
        if priority > .low { executor.setPriority(priority, of: keeper) }
    }

    /// The number of originals that have been announced and can be found.
    var announcements: Int { state.withLock { $0.lastFound } }

    /// Calls `run` once, without locks held, when it is known whether an original is stored; at once if one was
    /// announced since `moment`.
    ///
    /// - Parameters:
    ///   - moment: an earlier value of ``announcements``.
    ///   - priority: the least priority of the work that decides it.
    /// - Returns: false if this is neither being decided nor was just decided; `run` is then not called.
    func whenDecided(
        _ key: CacheKey, since moment: Int, _ priority: LoadPriority, _ run: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isComing, isThere, urgent) = state.withLock { state -> (Bool, Bool, [OriginalKeeper]) in
            if !state.undecided.isEmpty, state.undecided[key] != nil {
                return (true, false, state.wait(for: key, priority, run))
            }
            return (false, state.recent.has(key, since: moment), [])
        }
        for keeper in urgent { executor.setPriority(priority, of: keeper) }
        if isThere { run() }
        return isComing || isThere
    }

    /// Returns when everything that was announced so far is stored or was withdrawn.
    ///
    /// - Parameter key: the key of the original whose stores are waited for; nil: those of all originals.
    /// - Throws: `cancelled`.
    func finish(_ key: CacheKey? = nil) async throws(WebImageError) {
        let answer = CancellableAnswer<Void>()
        whenStored(key) { answer.give(.success(())) }
        try await answer.value()
    }

    /// Whether something that was announced for an original is neither stored nor withdrawn.
    func isStoring(_ key: CacheKey) -> Bool { state.withLock { $0.pending.values.contains(key) } }

    /// Calls `run` once, without locks held, when everything that was announced so far is stored or was withdrawn.
    /// `run` must not block.
    ///
    /// - Parameter key: the key of the original whose stores are waited for, whichever load has announced them; nil:
    ///   those of all originals.
    func whenStored(_ key: CacheKey?, _ run: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state -> Bool in
            let open = Set(state.pending.lazy.filter { key == nil || $0.value == key }.map(\.key))
            if !open.isEmpty { state.waiting.append((open, run)) }
            return open.isEmpty
        }
        if isDone { run() }
    }
}

/// The most recent keys.
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
