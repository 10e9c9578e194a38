import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Carries loads from request to answer: it asks memory, joins running loads, opens bytes, starts decode sessions, and
/// answers each waiter once. It owns the table of running loads behind one lock, and acts only after releasing it.
final class Loader: Sendable {
    let caches: LoadCaches
    let origin: OriginAccess
    let door: RequestDoor
    /// Whether ``door`` has any; stored here, so that a hit in memory need not copy the door.
    let hasInterceptors: Bool
    let decoding: DecodeService
    let originals: OriginalStore
    let unencoded = UnencodedPictures()
    /// The answers by which pictures in the manager's memory are judged.
    let answers: AnswerBook
    let observer: LoadObserver
    let table = Guarded(LoadTable())
    /// Whether anyone may wait for idleness or quiet; set under the table's lock.
    private let isAwaited = Atomic(false)

    init(_ parts: LoaderParts) {
        answers = parts.cache.answers
        caches = LoadCaches(parts.cache, foreign: parts.foreign, parts.decoding, parts.observer)
        decoding = parts.decoding
        observer = parts.observer
        origin = OriginAccess(
            parts.downloader, parts.failedURLs, parts.rules, clock: parts.decoding.clock)
        door = RequestDoor(
            parts.downloader, defaults: parts.defaults,
            interceptors: InterceptorChain(
                parts.interceptors, clock: parts.decoding.clock,
                secrets: { [downloader = parts.downloader] in downloader.configuration.secretHeaders }))
        hasInterceptors = !door.interceptors.isEmpty
        originals = OriginalStore(
            observer: parts.observer, clock: parts.decoding.clock, executor: parts.decoding.executor,
            brake: parts.downloader.brake)
    }

    /// The answers by which pictures in the memory of a load's cache are judged.
    func answers(_ key: BytesKey) -> AnswerBook { key.caching.cache?.answers ?? answers }

    /// The request as the interceptors change it before anything is looked up.
    func changed(_ request: ImageRequest) -> ImageRequest {
        hasInterceptors ? door.interceptors.changed(request) : request
    }

    var clock: any LoadClock { decoding.clock }
    /// Runs file operations, and work that follows them.
    var ioExecutor: any WorkExecutor { caches.own.executor }

    /// Starts or joins the load that `request` needs, for `token`.
    func start(
        _ token: LoadToken, _ given: ImageRequest, _ delivery: LoadToken.Delivery, asksMemory: Bool = true
    ) {
        let request: ImageRequest
        switch door.enter(given, by: token.settings) {
        case .ready(let ready): request = ready
        case .mustWait(let known): return startWaiting(token, known, delivery)
        }
        if asksMemory, answerFromMemory(token, request, delivery) {
            // It may wait for a store.
            return token.waitsForStore ? arm(request, of: token) : ()
        }
        if startLookForFinished(token, request, delivery) { return arm(request, of: token) }
        let joined = join(token, request, delivery)
        arm(request, of: token)
        switch joined {
        case .opensBytes(let job) where token.isOfFreeTask, .startsSession(let job, _) where token.isOfFreeTask:
            job.beginHere { carryOut(joined, delivery) }
        default: carryOut(joined, delivery)
        }
    }

    /// Like ``start(_:_:_:asksMemory:)``, for a request whose modifier must be awaited.
    private func startWaiting(_ token: LoadToken, _ known: ImageRequest, _ delivery: LoadToken.Delivery) {
        let hasBegun = beginPreliminary(token, delivery) { [self] in
            let request = await door.wait(known, by: token.settings)
            let hasLeft = table.withLock { _ in
                token.preliminary = nil
                return token.hasEnded
            }
            if hasLeft || answerFromMemory(token, request, delivery) { return }
            if !startLookForFinished(token, request, delivery) { join(token, continuingWith: request, delivery) }
        }
        if hasBegun { arm(known, of: token) } else { joinNew(token, known, delivery) }
    }

    /// Joins jobs for a token that was not accepted before. If the token has left already, or the loader is shut down,
    /// the caller gets the error of that.
    func joinNew(_ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery) {
        carryOut(join(token, request, delivery), delivery)
    }

    func answerFromMemory(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) -> Bool {
        guard !request.options.includesData, let image = cachedImage(for: request) else { return false }
        // The key is made only if it is needed, because a hit needs no other part of the URL.
        let original = token.waitsForStore ? request.originalKey : nil
        answer(token, ImageResponse(image: image, source: .memory), delivery, madeFrom: original)
        return true
    }

    /// Joins the jobs that a token needs next, or starts them. A token that has left meanwhile has its answer already.
    func join(_ token: LoadToken, continuingWith request: ImageRequest, _ delivery: LoadToken.Delivery) {
        let (hasLeft, timeout) = table.withLock { _ in
            // If the caller leaves from now on, it is told by `join`, which finds the token ended, and not by `leave`.
            token.delivery = nil
            return (token.hasEnded, token.timeout)
        }
        if hasLeft { return }
        let joined = join(token, request, delivery)
        if case .refused = joined { timeout?.cancel() }
        carryOut(joined, delivery)
    }

    private func carryOut(_ joined: LoadTable.Joined, _ delivery: LoadToken.Delivery) {
        switch joined {
        case .refused(let error): delivery.post(.finished(.failure(error)))
        case .makesSteps(let job, let basis): makeSteps(of: job, basis)
        case .opensBytes(let job): if !wasAnsweredMeanwhile(job) { search(for: job) }
        case .startsSession(let job, let bytes):
            observer.joined()
            updatePriority(of: job)
            decode(bytes, for: job)
        case .waiting(let urgent):
            observer.joined()
            if let urgent { updatePriority(of: urgent) }
        }
    }

    private func join(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) -> LoadTable.Joined {
        let removals = caches.removals(of: request.originalKey, request.options.caching)
        let key: PixelKey
        do throws(WebImageError) { key = try PixelKey(request, by: token.settings, removal: removals.ofOriginal) } catch
        {
            table.withLock { _ in token.hasEnded = true }
            return .refused(error)
        }
        // After the removals were counted, so that pictures that are removed from now on are not stored again.
        let basis = remembered(asBasisOf: request)
        let (joined, marked) = table.withLock { table -> (LoadTable.Joined, Download?) in
            if token.hasEnded { return (.refused(token.leftWith ?? .cancelled), nil) }
            let joined = table.join(
                token, request, key, removals: removals, basis: basis, waiter: makeWaiter)
            token.preliminary = nil
            guard case .refused = joined else {
                token.delivery = delivery
                return (joined, token.finishesWhenDrained ? token.job?.bytes.download : nil)
            }
            token.hasEnded = true
            token.delivery = nil
            return (joined, nil)
        }
        marked?.finishWhenDrained()
        return joined
    }

    /// Ends one caller's wait with an error of its own; the load goes on for the others.
    ///
    /// - Parameter fallback: the picture that the caller gets in place of the error, unless it was shown a cached one;
    ///   nil: none.
    func leave(_ token: LoadToken, with error: WebImageError, fallback: Image? = nil) {
        let (left, inner, job, hasShownCached) = table.withLock { table in
            token.leftWith = token.leftWith ?? error
            let job = token.job?.bytes
            return (table.leave(token), token.inner, job, token.hasShownCached)
        }
        // The interceptor's inner load leaves at once, even if it is only about to begin.
        if let inner { leave(inner, with: error) }
        guard let left else { return }
        left.timeout?.cancel()
        left.preliminary?.cancel()
        if let abandoned = left.abandoned { abandon(abandoned) }
        if left.abandonsPixels { decoding.noteLeft() }
        if let relaxed = left.relaxed { updatePriority(of: relaxed) }
        var told = error
        // A caller that cancels needs no trace.
        if error.code != .cancelled, let job {
            told = error.seen(by: token, recordOfFailure(job), now: clock.now, callers: 1)
        }
        if let fallback, !(hasShownCached && error.leavesCachedPicture) {
            var response = ImageResponse(image: fallback, source: .given, failure: told)
            response.timings.total = clock.now - token.started
            observer.answered(from: .given)
            left.delivery.post(.finished(.success(response)))
        } else {
            left.delivery.post(.finished(.failure(told)))
        }
        noteIdle()
    }

    func setPriority(_ priority: LoadPriority, of token: LoadToken) {
        let (job, inner, raise) = table.withLock {
            ($0.setPriority(priority, of: token), token.inner, token.raisesLookUp)
        }
        if let job { updatePriority(of: job) }
        raise?(priority)
        if let inner { setPriority(priority, of: inner) }
        noteIdle()
    }

    /// Ends every caller's wait with `cancelled`; later loads are not affected.
    func cancelAll() {
        let tokens = table.withLock { $0.tokens }
        for token in tokens { leave(token, with: .cancelled) }
    }

    var runningLoads: Int { table.withLock { $0.runningCount } }

    /// Refuses new loads with `shutDown`; running loads go on, unless they wait for a network that cannot be reached.
    func refuseNewLoads() {
        table.withLock { $0.isDraining = true }
        door.interceptors.endWaitsForNetwork()
    }

    /// Runs the work that must happen before a token joins a job. Leaving cancels the work.
    ///
    /// - Returns: false if the token has left, or no loads are accepted any more.
    func beginPreliminary(
        _ token: LoadToken, _ delivery: LoadToken.Delivery, _ work: @escaping @Sendable () async -> Void
    ) -> Bool {
        let isWelcome = table.withLock { table in
            if token.hasEnded || !table.beginPreliminary(for: token) { return false }
            token.isAdmitted = true
            token.delivery = delivery
            return true
        }
        guard isWelcome else { return false }
        let preliminary = Task {
            await work()
            endPreliminary(of: token)
        }
        let isLate = table.withLock { _ in
            if token.hasEnded { return true }
            // The token may have joined a job already.
            if token.job == nil, token.delivery != nil { token.preliminary = preliminary }
            return false
        }
        if isLate { preliminary.cancel() }
        return true
    }

    /// Ends the work that ``LoadTable/beginPreliminary()`` registered.
    func endPreliminary(of token: LoadToken? = nil) {
        table.withLock { $0.endPreliminary(of: token) }
        noteIdle()
    }

    /// Returns when no load runs any more, or at `end`.
    func idle(until end: Duration) async {
        let answer = CancellableAnswer<Void>()
        guard awaits({ $0.waitUntilIdle(answer) }) else { return }
        let alarm = clock.schedule(at: end) { answer.give(.success(())) }
        // A cancelled task does not wait.
        _ = try? await answer.value()
        alarm.cancel()
    }

    private func awaits(_ begin: (inout LoadTable) -> Bool) -> Bool {
        table.withLock { table in
            let awaits = begin(&table)
            if awaits { isAwaited.store(true, ordering: .relaxed) }
            return awaits
        }
    }

    /// Resumes waiters if nothing runs any more, or nothing urgent. Call it after each change of the table that may
    /// cause this.
    func noteIdle() {
        // A waiter from before that change is seen here, because both changes were made under the lock.
        guard isAwaited.load(ordering: .relaxed) else { return }
        let (idle, quiet) = table.withLock { table in
            let (idle, quiet) = (table.takeIdle(), table.takeQuiet())
            isAwaited.store(table.isAwaited, ordering: .relaxed)
            return (idle, quiet)
        }
        for answer in idle { answer.give(.success(())) }
        for run in quiet { ioExecutor.run(.veryLow, run) }
    }

    /// Calls `run` on a file thread when no load with a priority above `priority` has waiters.
    ///
    /// - Returns: false if that is the case already; `run` is then not called.
    func whenQuiet(above priority: LoadPriority, _ run: @escaping @Sendable () -> Void) -> Bool {
        awaits { $0.whenQuiet(above: priority, run) }
    }

    func shutDown() {
        let (ended, bytesJobs, waiting) = table.withLock { $0.shutDown() }
        door.interceptors.endWaitsForNetwork()
        tell(ended, .failure(LoadTable.shutDownError), log: nil)
        for job in bytesJobs { abandon(job) }
        for token in waiting { leave(token, with: LoadTable.shutDownError) }
    }

    /// Schedules the end of the caller's wait for when the request's timeout has passed.
    ///
    /// - Parameter fallback: the picture that the caller then gets; nil: none.
    func arm(_ request: ImageRequest, of token: LoadToken, fallback: Image? = nil) {
        guard let timeout = door.timeout(of: request) else { return }
        let action = clock.schedule(at: token.started + timeout) { [weak self, weak token] in
            guard let self, let token else { return }
            let error = WebImageError.tookTooLong(timeout, request)
            // A caller's closure must not hold up the clock.
            let callsClosure = self.table.withLock { _ in token.delivery?.isClosure ?? false }
            if callsClosure {
                self.ioExecutor.complete(.high) { self.leave(token, with: error, fallback: fallback) }
            } else {
                self.leave(token, with: error, fallback: fallback)
            }
        }
        let isLate = table.withLock { _ -> Bool in
            token.timeout = action
            return token.hasEnded
        }
        if isLate { action.cancel() }
    }

    private func abandon(_ job: BytesJob) {
        job.isAbandoned.store(true, ordering: .relaxed)
        table.withLock { _ in job.download }?.cancel()
    }

    /// Updates the priority of a job's transfer, its work on the executors, and its requests for memory and turns.
    private func updatePriority(of job: BytesJob) {
        while true {
            let (download, priority) = table.withLock { _ in (job.download, job.priority) }
            download?.setPriority(priority)
            ioExecutor.setPriority(priority, of: job)
            decoding.setPriority(priority, of: job)
            // Two threads may set the priorities that they read in the wrong order; the last one notices it.
            if table.withLock({ _ in job.priority == priority }) { return }
        }
    }
}

// MARK: - Opening bytes

extension Loader {
    static let cacheMiss = WebImageError(
        .cacheMiss, "no cache has this picture, and the policy allows no other source")

    private func search(for job: BytesJob) {
        BytesSearch(loader: self, request: job.request, key: job.key, seeker: JobSeeker(loader: self, job: job)).start()
    }

    /// The seeker of a bytes job.
    private struct JobSeeker: BytesSeeker {
        let loader: Loader
        let job: BytesJob

        var owner: AnyObject { job }
        var isAbandoned: Bool { job.isAbandoned.load(ordering: .relaxed) }
        var priority: LoadPriority { job.priority }
        var finishesWhenDrained: Bool { job.finishesWhenDrained.load(ordering: .relaxed) }
        var makesPicture: Bool { true }
        var keeper: OriginalKeeper { job.keeper }
        var remembered: AnswerRecord? { loader.remembered(job) }
        var trace: TraceBook? { job.trace }

        func follow(_ download: Download) -> Bool { loader.follow(download, for: job) }

        func answerFromMemory(_ body: StoredResponse?, isProvisional: Bool) -> Bool {
            loader.answerFromMemory(job, body, isProvisional: isProvisional)
        }

        func found(_ bytes: OpenedBytes) { loader.opened(job, bytes) }
        func failed(_ error: WebImageError) { loader.finishAll(of: job, .failure(error)) }
    }

    private func follow(_ download: Download, for job: BytesJob) -> Bool {
        guard let priority = table.withLock({ $0.follow(download, for: job) }) else { return false }
        // Both may have changed meanwhile.
        download.setPriority(priority)
        if job.finishesWhenDrained.load(ordering: .relaxed) { download.finishWhenDrained() }
        return true
    }

    private func opened(_ job: BytesJob, _ bytes: OpenedBytes) {
        guard table.withLock({ $0.open(job, bytes) }) != nil else {
            bytes.download?.cancel()
            return
        }
        if answerWithData(job, bytes) { return }
        decode(bytes, for: job)
    }
}
