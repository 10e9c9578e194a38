import Logging
import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// A ``BytesTier`` behind the disk cache, with safeguards for loads: deadlines, limits for simultaneous and waiting
/// calls, ordered changes of each key, and a pause for a tier that keeps failing.
final class FurtherTier: OriginalTier {
    private struct State {
        var changes = TierChanges(maxRunning: FurtherTier.maxCalls / 2, maxBytes: 64 << 20)
        var reads = TierReads(maxRunning: FurtherTier.maxCalls / 2)
        /// Whether the end of the first waiting read's deadline is scheduled.
        var watchesReads = false
        var waiting: [@Sendable () -> Void] = []

        mutating func takeWaiting() -> [@Sendable () -> Void] {
            guard changes.isIdle else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    /// The most calls at a time: half of them reads, half of them changes.
    private static let maxCalls = 64
    /// The assumed length of an entry before it has arrived.
    private static let expectedLength = 256 << 10

    private let tier: any BytesTier
    /// The memory of originals that were read and wait for a decoder.
    private let inputMemory: Admission
    private let clock: any LoadClock
    /// Runs the work that follows the tier's answer.
    private let executor: any WorkExecutor
    private let calls: TierCalls
    private let state = Guarded(State())

    init(_ tier: any BytesTier, _ decoding: DecodeService, executor: any WorkExecutor, logger: Logger) {
        self.tier = tier
        inputMemory = decoding.inputMemory
        clock = decoding.clock
        self.executor = executor
        calls = TierCalls(clock: decoding.clock, logger: logger)
    }

    var source: ImageSource { .tier }

    // MARK: - Reading

    func find(
        _ key: CacheKey, _ part: OriginalPart, for reader: any TierReader,
        _ then: @escaping @Sendable (FoundOriginal?) -> Void
    ) {
        switch part {
        case .metadata:
            read(key, for: reader, then) { tier async throws(WebImageError) in
                try await tier.metadata(for: key).map { FoundOriginal(log: nil, metadata: $0) }
            }
        case .all:
            inputMemory.lease(Self.expectedLength, for: reader, on: executor) { [self] lease in
                read(key, for: reader, then) { tier async throws(WebImageError) in
                    guard let entry = try await tier.entry(for: key) else { return nil }
                    lease.grow(to: entry.body.count)
                    return FoundOriginal(
                        log: ByteLog(bytes: entry.body, lease: reader.makesPicture ? lease : nil),
                        metadata: entry.metadata)
                }
            }
        }
    }

    private func read(
        _ key: CacheKey, for reader: any TierReader, _ then: @escaping @Sendable (FoundOriginal?) -> Void,
        _ work: @escaping @Sendable (any BytesTier) async throws(WebImageError) -> FoundOriginal?
    ) {
        let now = clock.now
        let read = TierReads.Read(key: key, reader: reader, deadline: now + tier.readDeadline, then: then, work: work)
        let (begins, waits) = state.withLock { state -> (Bool, Bool) in
            // An entry that is about to be removed counts as missing.
            if state.changes.isRemoving(key) { return (false, false) }
            if state.reads.hasRoom {
                let begins = calls.admits(.reads)
                if begins { state.reads.running += 1 }
                return (begins, false)
            }
            // A tier that fails is not waited for.
            return (false, !calls.refuses(.reads) && state.reads.wait(read))
        }
        if begins { begin(read) } else if waits { watchWaitingReads() } else { answer(read, with: nil) }
    }

    private func answer(_ read: TierReads.Read, with found: FoundOriginal?) {
        executor.run(read.reader.priority, for: read.reader.owner) { read.then(found) }
    }

    /// - Parameter hasWaited: whether the read waited for others, which leaves the tier less time. If that is too little,
    ///   the tier is not to blame.
    private func begin(_ read: TierReads.Read, hasWaited: Bool = false) {
        calls.call(within: hasWaited ? max(read.deadline - clock.now, .zero) : tier.readDeadline) {
            [tier] () async throws(WebImageError) in
            try await read.work(tier)
        } answer: { [self] result in
            if hasWaited, case .failure(let error) = result, error.code == .deadlineExceeded {
                calls.noteUnmade(.reads)
            } else {
                calls.note(result, of: .reads)
            }
            answer(read, with: try? result.get())
        } end: { [self] in
            state.withLock { $0.reads.running -= 1 }
            beginWaitingReads()
        }
    }

    /// Readers that have left get no answer.
    private func beginWaitingReads() {
        // A loop, because many reads may have to be answered without the tier.
        while let read = state.withLock({ $0.reads.takeNext() }) {
            let isWanted = !read.reader.isAbandoned
            let begins = state.withLock { state in
                let begins = isWanted && !state.changes.isRemoving(read.key) && calls.admits(.reads)
                if !begins { state.reads.running -= 1 }
                return begins
            }
            if begins { begin(read, hasWaited: true) } else if isWanted { answer(read, with: nil) }
        }
    }

    /// Ends the wait of each read at its deadline.
    private func watchWaitingReads() {
        let next = state.withLock { state -> Duration? in
            guard !state.watchesReads, let deadline = state.reads.firstDeadline else { return nil }
            state.watchesReads = true
            return deadline
        }
        guard let next else { return }
        _ = clock.schedule(at: next) { [self] in
            let late = state.withLock { state in
                state.watchesReads = false
                return state.reads.takeLate(at: clock.now)
            }
            for read in late where !read.reader.isAbandoned { answer(read, with: nil) }
            watchWaitingReads()
        }
    }

    // MARK: - Changing

    func reserve(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata) -> any TierWrite {
        FurtherTierWrite(key, number: state.withLock { $0.changes.reserve(key) }, to: self)
    }

    func renew(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?,
        _ then: @escaping @Sendable () -> Void
    ) {
        add(.renew(change), key) { _ in then() }
    }

    func remove(_ key: CacheKey, _ then: @escaping @Sendable () -> Void) { add(.remove, key) { _ in then() } }

    /// Removes an entry and waits for it.
    ///
    /// - Throws: the error of the tier; the entry may then still be there. `cancelled`; the removal then goes on.
    func remove(_ key: CacheKey) async throws(WebImageError) {
        let answer = CancellableAnswer<Void>()
        // An earlier change of the key may have to end first.
        let deadline = tier.changeDeadline * 2
        let alarm = clock.schedule(at: clock.now + deadline) { answer.give(.failure(TierCalls.isLate(by: deadline))) }
        add(.remove, key) { failure in
            alarm.cancel()
            answer.give(failure.map { .failure($0) } ?? .success(()))
        }
        try await answer.value()
    }

    /// Undoes the stores of a key that have not ended, or only just, in the background, because another program has
    /// removed the entry. That program's removal may have come before them.
    func undoStores(of key: CacheKey) { add(.undo, key) { _ in } }

    /// Stores an entry in the background.
    func put(_ body: [UInt8], _ metadata: DiskMetadata, for key: CacheKey) {
        add(.put(ByteLog(bytes: body), metadata), key) { _ in }
    }

    fileprivate func put(
        _ log: ByteLog, _ metadata: DiskMetadata, _ key: CacheKey, number: UInt64,
        _ then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        let begin = clock.now
        add(.put(log, metadata), key, number: number) { [clock] failure in
            then(failure.map { .failure($0) } ?? .success(clock.now - begin))
        }
    }

    fileprivate func endReservation(_ key: CacheKey) { state.withLock { $0.changes.endReservation(key) } }

    /// Calls `run` once, without locks held, when every change so far has been made or has failed.
    func whenIdle(_ run: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            if !state.changes.isIdle { state.waiting.append(run) }
            return state.changes.isIdle
        }
        if isIdle { run() }
    }

    private func add(
        _ action: TierChanges.Action, _ key: CacheKey, number: UInt64? = nil,
        _ then: @escaping @Sendable (WebImageError?) -> Void
    ) {
        let added = state.withLock { $0.changes.add(action, key, number: number, at: clock.now, then) }
        for change in added.beaten { change.then(nil) }
        for change in added.late { change.then(Self.isStuck) }
        if added.isRefused {
            let error = WebImageError(.cacheIO, "a tier of bytes is too slow: \(action.omission)")
            // No call of the tier has failed, so the circuit does not count this.
            calls.log(error)
            then(error)
        }
        beginChanges()
    }

    private func beginChanges() {
        // A loop, because thousands of changes may wait when the circuit opens.
        while let change = state.withLock({ $0.changes.takeNext() }) {
            // A removal is always tried, because the entry would come back with the tier.
            if calls.admits(.changes) || change.isRemoval {
                begin(change)
            } else {
                change.then(WebImageError(.cacheIO, "a tier of bytes keeps failing and is not used for a while"))
                finish(change)
            }
        }
    }

    private func begin(_ change: TierChanges.Change) {
        switch change.action {
        case .put where tier.longestBody.map { change.length > $0.bytes } ?? false:
            make(change) { [tier] () throws(WebImageError) in try await tier.refuse(change.key) }
        case .put(let log, let metadata):
            // The bytes may be in a file.
            executor.run(.low) { [self] in
                do throws(WebImageError) {
                    var entry = TierEntry(body: try log.collect(), metadata: metadata)
                    entry.metadata.storedAt = metadata.storedAt ?? clock.wallTime
                    make(change) { [tier, entry] () throws(WebImageError) in try await tier.put(entry, for: change.key)
                    }
                } catch {
                    // Tells the circuit, which may wait for a call, that the tier was not asked.
                    calls.noteUnmade(.changes)
                    change.then(error)
                    end(change)
                }
            }
        case .renew(let metadata):
            make(change) { [tier] () throws(WebImageError) in try await tier.renew(change.key, metadata) }
        case .remove:
            make(change) { [tier] () throws(WebImageError) in try await tier.remove(change.key) }
        case .undo:
            // Not `remove`, which would notify other programs, where the tier does so.
            make(change) { [tier] () throws(WebImageError) in try await tier.refuse(change.key) }
        }
    }

    private static let isStuck = WebImageError(.deadlineExceeded, "an earlier call of a tier of bytes has not ended")

    private func make(
        _ change: TierChanges.Change, _ work: @escaping @Sendable () async throws(WebImageError) -> Bool
    ) {
        calls.call(within: tier.changeDeadline, work) { [self] result in
            calls.note(result, of: .changes)
            let failure: WebImageError? = if case .failure(let error) = result { error } else { nil }
            // Neither on Swift's own threads nor on the clock's, because callers' closures may follow.
            executor.complete(.low) { change.then(failure) }
        } hangs: { [self] in
            let (late, waiting) = state.withLock { state in (state.changes.hang(change), state.takeWaiting()) }
            executor.complete(.low) { [self] in
                for change in late { change.then(Self.isStuck) }
                for run in waiting { run() }
                beginChanges()
            }
        } end: { [self] in
            end(change)
        }
    }

    private func end(_ change: TierChanges.Change) {
        finish(change)
        beginChanges()
    }

    private func finish(_ change: TierChanges.Change) {
        let waiting = state.withLock { state in
            state.changes.end(change.key, at: clock.now)
            return state.takeWaiting()
        }
        for run in waiting { run() }
    }
}

extension TierChanges.Action {
    /// What does not happen if it is refused.
    fileprivate var omission: String {
        switch self {
        case .put: "an original was not stored there"
        case .renew: "the metadata of an original was not updated there"
        case .remove, .undo: "an original was not removed there"
        }
    }
}

/// A store whose place in the order of changes is reserved.
private final class FurtherTierWrite: TierWrite {
    private let key: CacheKey
    private let number: UInt64
    private let tier: FurtherTier

    init(_ key: CacheKey, number: UInt64, to tier: FurtherTier) {
        self.key = key
        self.number = number
        self.tier = tier
    }

    deinit { tier.endReservation(key) }

    /// Does nothing: look-ups find the entry only when the tier has stored it.
    func announce() {}

    func end() {}

    var limitsItself: Bool { true }

    func write(
        _ log: ByteLog, _ metadata: DiskMetadata, _ priority: LoadPriority, progress: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
    ) {
        tier.put(log, metadata, key, number: number, then)
    }
}
