import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Carries out what ``PrefetchQueue`` decides.
final class PrefetchWork: Sendable {
    fileprivate struct Place: Hashable {
        let id: PrefetchQueue.ListID
        let index: Int
    }

    /// Weak: a listener may hold the prefetcher. Whoever still has to tell it holds the list.
    fileprivate struct WeakList {
        weak var list: PrefetchList?
    }

    fileprivate struct State {
        var queue: PrefetchQueue
        var lists: [PrefetchQueue.ListID: PrefetchList] = [:]
        var tasks: [Place: Task<Void, Never>] = [:]
        /// Continues when ``PrefetchOptions/bytesPerSecond`` allows it.
        var alarm: ScheduledAction?
        /// Whether a call of the manager is pending, for the moment when it runs no load of a higher priority.
        var awaitsQuiet = false
        /// How many pictures of a list have ended but were not reported yet. The end of the list is reported after
        /// them.
        var untold: [PrefetchQueue.ListID: Int] = [:]
        /// The originals and pictures that are being stored, and the loads that wait to store the same.
        var keeping: [CacheKey: [WaitForTurn]] = [:]
        /// The lists that have ended, but whose listeners may not have heard of it.
        var ended: [WeakList] = []

        /// A list that has not ended for its listener.
        var anyList: PrefetchList? { lists.values.first ?? ended.lazy.compactMap(\.list).first { !$0.hasToldEnd } }
    }

    private let manager: ImageManager
    private let options: PrefetchOptions
    private let state: Guarded<State>

    private var clock: any LoadClock { manager.loader.clock }

    init(_ manager: ImageManager, _ options: PrefetchOptions) {
        self.manager = manager
        self.options = options
        state = Guarded(State(queue: PrefetchQueue(options)))
    }

    func add(
        _ count: Int, _ request: @escaping @Sendable (Int) throws(WebImageError) -> ImageRequest,
        _ executor: CallbackExecutor, _ onEvent: (@Sendable (PrefetchEvent) -> Void)?
    ) -> (PrefetchQueue.ListID, PrefetchList) {
        let list = PrefetchList(request, executor, onEvent) { [weak self] in self?.beginMoreElsewhere() }
        let id = state.withLock { state in
            let id = state.queue.add(count: count)
            state.lists[id] = list
            return id
        }
        noteEnd(of: id)
        beginMore()
        return (id, list)
    }

    var progress: PrefetchProgress { state.withLock { $0.queue.progress } }
    var listCount: Int { state.withLock { $0.queue.listCount } }
    var waitingForTurns: Int { state.withLock { $0.keeping.values.reduce(0) { $0 + $1.count } } }

    func progress(of token: PrefetchToken) -> PrefetchProgress {
        // When a list ends, the queue forgets it, and the list gets its final progress just after that.
        state.withLock { $0.queue.progress(of: token.id) } ?? token.list.finalProgress ?? PrefetchProgress(total: 0)
    }

    var isPaused: Bool {
        get { state.withLock { $0.queue.isPaused } }
        set {
            state.withLock { $0.queue.isPaused = newValue }
            if !newValue { beginMore() }
        }
    }

    func isPaused(_ token: PrefetchToken) -> Bool { state.withLock { $0.queue.isPaused(token.id) } }

    func setPaused(_ isPaused: Bool, _ token: PrefetchToken) {
        state.withLock { $0.queue.setPaused(isPaused, token.id) }
        if !isPaused { beginMore() }
    }

    func cancelAll() { cancel { $0.queue.listIDs } }

    /// Cancels all these lists in one step, so that the end of one list does not begin pictures of another.
    func cancel(_ tokens: [PrefetchToken]) { cancel { _ in tokens.map(\.id) } }

    private func cancel(_ choose: (State) -> [PrefetchQueue.ListID]) {
        let (ids, tasks) = state.withLock { state in
            let ids = choose(state)
            return (ids, ids.flatMap { state.takeTasks(of: $0, state.queue.cancel($0)) })
        }
        for task in tasks { task.cancel() }
        for id in ids { noteEnd(of: id) }
        beginMore()
    }

    func cancel(_ token: PrefetchToken, index: Int) {
        let task = state.withLock { state in
            state.queue.cancel(token.id, index: index)
                ? state.tasks.removeValue(forKey: Place(id: token.id, index: index)) : nil
        }
        task?.cancel()
        noteEnd(of: token.id)
        beginMore()
    }

    func finished(_ token: PrefetchToken) async -> PrefetchProgress {
        let answer = CancellableAnswer<PrefetchProgress>()
        token.list.whenEnded(answer)
        return (try? await answer.value()) ?? progress(of: token)
    }

    func finished() async {
        while let list = state.withLock(\.anyList) {
            let answer = CancellableAnswer<PrefetchProgress>()
            list.whenEnded(answer)
            do { _ = try await answer.value() } catch { return }
        }
    }

    /// Reports the end of a list, if it has ended.
    private func noteEnd(of id: PrefetchQueue.ListID) {
        let ended = state.withLock { state -> (PrefetchList, PrefetchProgress)? in
            guard state.untold[id] == nil, let progress = state.queue.takeEnded(id),
                let list = state.lists.removeValue(forKey: id)
            else {
                return nil
            }
            // Before the lock is released, so that the token's progress is always known in one of both places.
            list.note(end: progress)
            state.ended.removeAll { $0.list?.hasToldEnd ?? true }
            state.ended.append(WeakList(list: list))
            return (list, progress)
        }
        if let (list, progress) = ended { list.reportEnd(progress) }
    }

    // MARK: Loading

    private func beginMore() {
        while isQuietEnough() {
            let now = clock.now
            let (step, list) = state.withLock { state -> (PrefetchQueue.Step, PrefetchList?) in
                let step = state.queue.next(now: now)
                guard case .load(let id, _) = step else { return (step, nil) }
                return (step, state.lists[id])
            }
            switch step {
            case .nothing: return
            case .wait(let time): return wait(until: time)
            case .load(let id, let index):
                if let list { begin(list, Place(id: id, index: index)) }
            }
        }
    }

    /// Whether a picture may begin now. If the manager is too busy for that, pictures begin when it no longer is.
    private func isQuietEnough() -> Bool {
        guard options.onlyWhenIdle else { return true }
        guard
            state.withLock({ state in
                defer { state.awaitsQuiet = true }
                return !state.awaitsQuiet
            })
        else { return false }
        let mustWait = manager.loader.whenQuiet(above: options.priority) { [weak self] in
            self?.state.withLock { $0.awaitsQuiet = false }
            self?.beginMore()
        }
        if !mustWait { state.withLock { $0.awaitsQuiet = false } }
        return !mustWait
    }

    private func wait(until time: Duration) {
        let alarm = clock.schedule(at: time) { [weak self] in self?.beginMoreElsewhere() }
        let old = state.withLock { state in
            defer { state.alarm = alarm }
            return state.alarm
        }
        old?.cancel()
    }

    /// Calls `beginMore` on a file thread and not on the clock's or a listener's executor, because it calls listeners.
    private func beginMoreElsewhere() { manager.loader.ioExecutor.run(.veryLow) { [self] in beginMore() } }

    private func begin(_ list: PrefetchList, _ place: Place) {
        // The loop in `beginMore` goes on in any case.
        _ = list.tell(.began(index: place.index))
        let task = Task(priority: .utility) { [self] in
            let (outcome, original) = await load(list, place.index)
            end(list, place, outcome, original)
        }
        let isOver = state.withLock { state in
            // The load may have ended, or been cancelled, before this.
            guard state.queue.isRunning(place.id, place.index) else { return true }
            state.tasks[place] = task
            return false
        }
        if isOver { task.cancel() }
    }

    private func end(
        _ list: PrefetchList, _ place: Place, _ outcome: PrefetchedItem.Outcome, _ original: OriginalResponse?
    ) {
        let now = clock.now
        let progress = state.withLock { state in
            state.tasks[place] = nil
            let progress = state.queue.end(
                place.id, index: place.index, outcome,
                transferred: original?.source == .network ? original?.byteCount : nil, now: now)
            if progress != nil { state.untold[place.id, default: 0] += 1 }
            return progress
        }
        // This code runs on Swift's own threads, which no listener must block, neither of this list nor of another one.
        let isWatched = list.isWatched || state.withLock { state in state.lists.values.contains(where: \.isWatched) }
        let go: @Sendable () -> Void = { [self] in
            // If the picture was cancelled meanwhile, it was counted then, and further pictures were begun.
            guard let progress else { return noteEnd(of: place.id) }
            tell(PrefetchedItem(index: place.index, outcome: outcome, original: original), progress, list, place)
        }
        if isWatched { manager.loader.ioExecutor.run(options.priority, go) } else { go() }
    }

    private func tell(_ item: PrefetchedItem, _ progress: PrefetchProgress, _ list: PrefetchList, _ place: Place) {
        let beginsMore = list.tell(.item(item, progress))
        state.withLock { state in
            let left = state.untold[place.id, default: 1] - 1
            state.untold[place.id] = left == 0 ? nil : left
        }
        noteEnd(of: place.id)
        if beginsMore { beginMore() }
    }

    private func load(_ list: PrefetchList, _ index: Int) async -> (PrefetchedItem.Outcome, OriginalResponse?) {
        do throws(WebImageError) {
            var request = try list.request(index)
            if request.options.priority == .normal { request.options.priority = options.priority }
            switch options.destination {
            case .automatic where hasPlace(for: request): return try await keep(request, .header, list, index)
            case .automatic, .memory: return (try await loadIntoMemory(request), nil)
            case .disk(let check): return try await keep(request, check, list, index)
            }
        } catch {
            return (.failed(error), nil)
        }
    }

    private func loadIntoMemory(_ request: ImageRequest) async throws(WebImageError) -> PrefetchedItem.Outcome {
        // Of two loads of the same, the second one waits, and finds what the first one has stored.
        let key = request.variantKey
        let caching = request.options.caching
        try await takeTurn(to: key, caching)
        let response: ImageResponse
        do throws(WebImageError) {
            response = try await manager.image(for: request)
            if let failure = response.failure ?? response.partialError { throw failure }
        } catch {
            giveTurn(to: key)
            throw error
        }
        guard response.source == .memory || manager.loader.memoryHolds(request) else {
            let error = WebImageError(
                .cacheMiss, "the picture cannot be kept in memory: its origin, the request or the limit forbids it",
                location: request.redactedURL)
            // Waiting loads with the same options would load the picture in vain, too.
            giveTurn(to: key, failing: (caching, error))
            throw error
        }
        giveTurn(to: key)
        return response.source == .memory ? .skipped : .loaded(from: response.source, response.byteCount)
    }

    private func keep(
        _ given: ImageRequest, _ check: OriginalCheck, _ list: PrefetchList, _ index: Int
    ) async throws(WebImageError) -> (PrefetchedItem.Outcome, OriginalResponse) {
        var request = given
        request.options.caching.waitsForStore = true
        try checkPlace(for: request)
        // Of two loads of the same, the second one waits, and finds what the first one has stored.
        let key = request.originalKey
        try await takeTurn(to: key, request.options.caching)
        defer { giveTurn(to: key) }
        // Not on the network's thread, because a thread that reports one event also reports those that arrive
        // meanwhile.
        let onProgress: @Sendable (LoadProgress) -> Void = { [self] progress in
            manager.loader.ioExecutor.run(options.priority) { [self] in
                if list.tell(.transfer(index: index, progress)) { beginMore() }
            }
        }
        let original = try await manager.keepOriginal(
            for: request, check: check, onProgress: list.isWatched ? onProgress : nil)
        do throws(WebImageError) { try original.checkKept() } catch {
            // It was transferred all the same.
            return (.failed(error), original)
        }
        let isThere = original.source == .disk || original.source == .file || original.source == .memory
        return (isThere ? .skipped : .loaded(from: original.source, original.byteCount), original)
    }
}

extension PrefetchWork {
    /// Whether the request has a cache for originals, and stores them.
    private func hasPlace(for request: ImageRequest) -> Bool {
        request.options.caching.storesOriginal && !manager.loader.caches.tiers(request.options.caching).isEmpty
    }

    /// Checks that there is a cache for an original from the network, so that it is not transferred in vain.
    ///
    /// - Throws: `cacheMiss` if there is none.
    private func checkPlace(for request: ImageRequest) throws(WebImageError) {
        let isRemote = ["http://", "https://"].contains { request.url.lowercased().hasPrefix($0) }
        let caching = request.options.caching
        // With `.cacheOnly` nothing is transferred.
        guard isRemote, caching.policy.mode != .cacheOnly else { return }
        guard !hasPlace(for: request) || !caching.policy.mode.stores else { return }
        throw WebImageError(
            .cacheMiss, "there is no disk cache for the original to be loaded into, or the request forbids it",
            location: request.redactedURL)
    }

    /// Waits until no other load is storing the same original or picture.
    private func takeTurn(to key: CacheKey, _ caching: ImageRequest.Caching) async throws(WebImageError) {
        while true {
            let answer = CancellableAnswer<Void>()
            let wait = WaitForTurn(answer: answer, caching: caching)
            let isMine = state.withLock { state in
                if state.keeping[key]?.append(wait) != nil { return false }
                state.keeping[key] = []
                return true
            }
            if isMine { return }
            try await answer.value()
        }
    }

    /// Ends a turn.
    ///
    /// - Parameter failing: the error with which waiting loads fail that use the caches in the same way. The others take
    ///   their turns.
    private func giveTurn(
        to key: CacheKey, failing: (caching: ImageRequest.Caching, error: WebImageError)? = nil
    ) {
        for wait in state.withLock({ $0.keeping.removeValue(forKey: key) }) ?? [] {
            if let failing, failing.caching == wait.caching {
                wait.answer.give(.failure(failing.error))
            } else {
                wait.answer.give(.success(()))
            }
        }
    }
}

/// A load that waits until another one has stored the same.
private struct WaitForTurn {
    let answer: CancellableAnswer<Void>
    let caching: ImageRequest.Caching
}

extension PrefetchWork.State {
    fileprivate mutating func takeTasks(of id: PrefetchQueue.ListID, _ indices: [Int]) -> [Task<Void, Never>] {
        indices.compactMap { tasks.removeValue(forKey: PrefetchWork.Place(id: id, index: $0)) }
    }
}

extension OriginalResponse {
    /// Checks that an original from the network was stored. Call it for a load that has waited for the store.
    ///
    /// - Throws: the reason why it was not stored.
    package func checkKept() throws(WebImageError) {
        guard source == .network else { return }
        if let storeError { throw storeError }
        guard timings.store == nil else { return }
        throw WebImageError(.cacheMiss, "it was loaded and not kept: the origin does not allow it to be stored")
    }
}
