import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Makes pictures from entries on disk. Callers that ask for the same picture share the work, which ends when the last
/// one leaves.
final class CacheReads: Sendable {
    /// The key that callers must have in common to share an answer.
    struct Key: Hashable {
        let original: CacheKey
        let variant: CacheKey
        let limits: DecodeLimits
        let asksMemory: Bool
        let includesData: Bool
        let allowsPartial: Bool
        let preloadsFrames: Bool
        /// Whether only the finished picture is wanted, not an original from which it can be made.
        let isFinished: Bool

        init(_ request: ImageRequest, asksMemory: Bool, isFinished: Bool = false) {
            self.isFinished = isFinished
            original = request.originalKey
            variant = request.variantKey
            limits = request.options.decoding.limits
            self.asksMemory = asksMemory
            includesData = request.options.includesData
            allowsPartial = request.options.decoding.allowsPartial
            preloadsFrames = request.options.decoding.preloadsFrames
        }
    }

    typealias Answer = CancellableAnswer<CachedImage?>
    typealias BlockedAnswer = BlockingAnswer<Result<CachedImage?, WebImageError>>

    final class Read: @unchecked Sendable {
        // Sendable: what changes is guarded by the lock of its owner; the rest is constant.
        let key: Key
        let request: ImageRequest
        /// The receiver of the answer, for a read that others must not join.
        let blocked: BlockedAnswer?
        var waiting: [Answer] = []
        var promotes = false
        /// Set when the picture was removed or replaced. Callers that already wait still get it, but it is not stored
        /// in memory.
        var isOutdated = false
        /// Set for a finished picture whose original has an unknown size. It is not compared to other sizes.
        var isOfUnknownSize = false
        let isAbandoned = Atomic(false)
        /// The highest priority of all callers.
        var priority: LoadPriority
        /// Its share of the memory for originals.
        var lease: AdmissionLease?

        init(_ key: Key, _ request: ImageRequest, blocked: BlockedAnswer? = nil) {
            (self.key, self.request, self.blocked) = (key, request, blocked)
            priority = request.options.priority
        }

        /// - Returns: whether the priority was lower before.
        func raise(_ priority: LoadPriority) -> Bool {
            guard priority > self.priority else { return false }
            self.priority = priority
            return true
        }
    }

    private struct State {
        /// The reads that may be joined.
        var open: [Key: Read] = [:]
        /// All reads that have not ended.
        var running: [ObjectIdentifier: Read] = [:]

        mutating func close(_ read: Read) {
            if open[read.key] === read { open[read.key] = nil }
        }
    }

    private let memory: MemoryCache
    private let disk: DiskCache
    private let executor: any WorkExecutor
    private let decoding: DecodeService
    /// The answers by which pictures in memory are judged.
    let answers: AnswerBook
    private let state = Guarded(State())

    init(
        memory: MemoryCache, disk: DiskCache, executor: any WorkExecutor, decoding: DecodeService, answers: AnswerBook
    ) {
        self.answers = answers
        self.memory = memory
        self.disk = disk
        self.executor = executor
        self.decoding = decoding
    }

    /// The number of reads that have not ended.
    var count: Int { state.withLock { $0.running.count } }

    /// - Parameter begun: gets a closure that raises the priority of the read.
    func image(
        for request: ImageRequest, asksMemory: Bool, promotes: Bool, isFinished: Bool = false,
        begun: (@escaping @Sendable (LoadPriority) -> Void) -> Void = { _ in }
    ) async throws(WebImageError) -> CachedImage? {
        let answer = Answer()
        let key = Key(request, asksMemory: asksMemory, isFinished: isFinished)
        let (read, isNew) = join(answer, request, key, promotes: promotes)
        begun { self.raise($0, of: read) }
        if isNew {
            let priority = priority(of: read)
            executor.run(priority, for: read) { self.begin(read) }
            // Somebody may have raised it before the executor had the work.
            if self.priority(of: read) != priority { updatePriority(of: read) }
        }
        do throws(WebImageError) {
            return try await answer.value()
        } catch {
            leave(read, answer)
            throw error
        }
    }

    /// Blocks. The work is not shared with other callers.
    func imageBlocking(for request: ImageRequest, promotes: Bool) throws(WebImageError) -> CachedImage? {
        let answer = BlockedAnswer()
        let read = Read(Key(request, asksMemory: false), request, blocked: answer)
        read.promotes = promotes
        state.withLock { $0.running[ObjectIdentifier(read)] = read }
        begin(read)
        return try answer.value().get()
    }

    /// Called when a picture is removed or stored: running reads of it are not stored in memory, and can no longer be
    /// joined.
    func forget(_ original: CacheKey? = nil) {
        state.withLock { state in
            for read in state.running.values where original == nil || read.key.original == original {
                read.isOutdated = true
                state.close(read)
            }
        }
    }

    // MARK: - Callers

    private func join(_ answer: Answer, _ request: ImageRequest, _ key: Key, promotes: Bool) -> (Read, isNew: Bool) {
        let (read, isNew, isUrgent) = state.withLock { state -> (Read, Bool, Bool) in
            let known = state.open[key]
            let read = known ?? Read(key, request)
            read.waiting.append(answer)
            read.promotes = read.promotes || promotes
            guard known == nil else { return (read, false, read.raise(request.options.priority)) }
            state.open[key] = read
            state.running[ObjectIdentifier(read)] = read
            return (read, true, false)
        }
        if isUrgent { updatePriority(of: read) }
        return (read, isNew)
    }

    private func leave(_ read: Read, _ answer: Answer) {
        state.withLock { state in
            read.waiting.removeAll { $0 === answer }
            guard read.waiting.isEmpty else { return }
            read.isAbandoned.store(true, ordering: .relaxed)
            state.close(read)
            state.running[ObjectIdentifier(read)] = nil
        }
        decoding.noteLeft()
    }

    private func raise(_ priority: LoadPriority, of read: Read) {
        if state.withLock({ _ in read.raise(priority) }) { updatePriority(of: read) }
    }

    /// Updates the priority of everything that a read waits for.
    private func updatePriority(of read: Read) {
        while true {
            let priority = priority(of: read)
            executor.setPriority(priority, of: read)
            decoding.setPriority(priority, of: read)
            // Two threads may set the priorities that they read in the wrong order; the last one notices it.
            if self.priority(of: read) == priority { return }
        }
    }

    func priority(of read: Read) -> LoadPriority { state.withLock { _ in read.priority } }

    // MARK: - The work

    /// Begins a read, on a file thread or on the thread of a blocking caller.
    private func begin(_ read: Read) {
        if read.isAbandoned.load(ordering: .relaxed) { return }
        if read.key.asksMemory, !read.key.includesData, let image = memory.image(for: read.key.variant) {
            return end(read, .success(CachedImage(image: image, source: .memory)))
        }
        // A blocking read does not wait for others.
        let length = read.blocked == nil ? disk.entryLength(for: read.request, onlyFinished: read.key.isFinished) : 0
        if length == 0 { return readEntry(read) }
        let bodies = decoding.inputMemory
        let isNow = bodies.take(
            length, priority(of: read), for: read, isWanted: { !read.isAbandoned.load(ordering: .relaxed) },
            orLater: { isAdmitted in
                // If the memory was not granted, the read has no callers left.
                guard isAdmitted else { return }
                read.lease = AdmissionLease(bodies, length)
                self.executor.run(self.priority(of: read), for: read) { self.readEntry(read) }
            })
        guard isNow else { return }
        read.lease = AdmissionLease(bodies, length)
        readEntry(read)
    }

    private func readEntry(_ read: Read) {
        let request = read.request
        do throws(WebImageError) {
            guard let (entry, isFinished) = try disk.entry(for: request, onlyFinished: read.key.isFinished) else {
                return end(read, .success(nil))
            }
            let client = EntryDecode(reads: self, read: read, entry: entry, isFinished: isFinished, by: decoding)
            DecodeSession(ByteLog(bytes: entry.body), for: client, by: decoding).start()
        } catch {
            end(read, .failure(error))
        }
    }

    func end(_ read: Read, _ result: Result<CachedImage?, WebImageError>) {
        let waiting = state.withLock { state -> [Answer] in
            if case .success(let found?) = result, found.source == .disk, read.promotes, !read.isOutdated,
                !found.image.info.isPartial, !memory.contains(read.key.variant)
            {
                memory.keep(
                    found.image, for: read.key.variant, lifetime: disk.lifetime(of: found.metadata),
                    variant: read.isOfUnknownSize ? nil : read.request.variant(of: found.image))
            }
            state.close(read)
            state.running[ObjectIdentifier(read)] = nil
            return read.waiting
        }
        // Only the decode uses the lease, and it has ended.
        read.lease = nil
        for answer in waiting { answer.give(result) }
        read.blocked?.give(result)
    }
}

extension DiskCache {
    /// Returns the finished picture or its original from disk. Blocks.
    ///
    /// - Parameter onlyFinished: whether only the finished picture is wanted, not its original.
    /// - Returns: the entry, and whether it is the finished picture, to which size and transformers are already
    ///   applied.
    func entry(
        for request: ImageRequest, onlyFinished: Bool = false
    ) throws(WebImageError) -> (entry: DiskEntry, isFinished: Bool)? {
        if !request.isPlain, try contains(request.variantKey), let entry = try read(request.variantKey) {
            return (entry, true)
        }
        return onlyFinished ? nil : try read(request.originalKey).map { ($0, false) }
    }

    /// The length of the file that ``entry(for:onlyFinished:)`` would read; 0 if there is none. Blocks.
    func entryLength(for request: ImageRequest, onlyFinished: Bool) -> Int {
        let finished = request.isPlain ? 0 : fileLength(of: request.variantKey)
        return finished > 0 || onlyFinished ? finished : fileLength(of: request.originalKey)
    }

    /// How long an entry with its own lifetime may still be used.
    func lifetime(of metadata: DiskMetadata?) -> Duration? {
        metadata?.expiresAt.map { .seconds(max($0.subtractingReportingOverflow(wallTime).partialValue, 0)) }
    }
}

extension MemoryCache {
    /// Stores a picture in memory, and updates its cost when its animation keeps more or fewer frames.
    ///
    /// - Returns: false when there is no room for it.
    @discardableResult
    func keep(_ image: Image, for key: CacheKey, lifetime: Duration?, variant: ImageVariant? = nil) -> Bool {
        guard store(image, for: key, lifetime: lifetime, variant: variant) else { return false }
        guard let animation = image.animation else { return true }
        animation.onKeptBytesChange(for: KeptBytesObserver(self, key)) { [weak self, weak storage = image.storage] in
            guard let self, let storage else { return false }
            updateCost(of: Image(storage), for: key)
            return true
        }
        updateCost(of: image, for: key)
        return true
    }
}
