import Synchronization
import WebImageCache
import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageProcessing
import WebImageSystem

/// Carries loads from request to answer: asks memory, joins what runs, opens bytes, starts sessions, answers everyone
/// once. Owns the table of running loads behind one lock, and acts only after it is released.
final class Loader: Sendable {
    let memory: MemoryCache
    let disk: DiskCache?
    let downloader: ImageDownloader
    let settings: SettingsCounter
    let coders: CoderRegistry
    let clock: any LoadClock
    let decodeExecutor: any WorkExecutor
    let ioExecutor: any WorkExecutor
    /// Threads of vector pictures alone: what draws them cannot be interrupted, and may be told to take as long as it likes.
    let vectorExecutor: any WorkExecutor
    /// The memory of running decodes.
    let admission: Admission
    /// The memory of originals that were read from disk and are not decoded yet.
    let bodies: Admission
    /// Turns of decodes that cannot be interrupted: one thread is always left for the others.
    let longTurns: Admission
    let vectorTurns: Admission
    let originals: OriginalStore
    let failedURLs: FailedURLs
    /// Beginnings of bodies; nil without a disk cache.
    let partials: PartialStore?
    let observer: LoadObserver
    /// Of originals in the disk cache; see ``ImageManager/Configuration/cacheSerializer``.
    let serializer: CacheSerializer?
    let rules: HTTPCacheRules
    let defaults: LoadDefaults
    /// What is finished on disk, unless a request has a cache of its own; its owner is the manager.
    let ownFront = Guarded(WeakCache())
    let table = Guarded(LoadTable())
    private let converters = ColorConverterCache()

    init(_ parts: LoaderParts) {
        memory = parts.memory
        disk = parts.disk
        downloader = parts.downloader
        settings = parts.downloader.settings
        coders = parts.coders
        clock = parts.clock
        decodeExecutor = parts.decodeExecutor
        ioExecutor = parts.ioExecutor
        let longWidth = max(1, parts.decodeThreads - 1)
        vectorExecutor = ThreadPool(name: "wi-vector", width: longWidth)
        admission = Admission(budget: parts.decodeMemory.bytes)
        bodies = Admission(budget: parts.downloader.configuration.memoryForAll.bytes)
        longTurns = Admission(budget: longWidth)
        vectorTurns = Admission(budget: longWidth)
        originals = OriginalStore(executor: parts.ioExecutor, clock: parts.clock, observer: parts.observer)
        failedURLs = parts.failedURLs
        partials = parts.partials
        observer = parts.observer
        serializer = parts.serializer
        rules = .standard(keeping: parts.keptFields)
        defaults = parts.defaults
    }

    /// Starts or joins the load that `request` needs, for `token`.
    func start(
        _ token: LoadToken, _ given: ImageRequest, _ delivery: LoadToken.Delivery, asksMemory: Bool = true
    ) {
        let usual = completed(given, by: token.settings)
        var request = usual
        switch preparation(of: usual, by: token.settings) {
        case .notNeeded: break
        case .done(let prepared): request = usual.prepared(prepared)
        case .takesTime: return beginPrepared(token, usual, delivery)
        }
        if asksMemory, !request.includesData, let image = cachedImage(for: request) {
            observer.answered(from: .memory)
            table.withLock { _ in token.hasEnded = true }
            return delivery.post(.finished(.success(ImageResponse(image: image, source: .memory))))
        }
        if request.caching.looksOnDisk, lookForFinished(token, request, delivery) {
            return arm(request, of: token)
        }
        let joined = join(token, request, delivery)
        arm(request, of: token)
        carryOut(joined, delivery)
    }

    /// Joins the jobs that a token needs next, or starts them. One that has left meanwhile was told so.
    func goOn(_ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery) {
        let (hasLeft, timeout) = table.withLock { _ in
            // Whoever leaves from now on is not told by `leave`, but by `join`, which finds the token ended.
            token.delivery = nil
            return (token.hasEnded, token.timeout)
        }
        if hasLeft { return }
        let joined = join(token, request, delivery)
        if case .refused = joined { timeout?.cancel() }
        carryOut(joined, delivery)
    }

    /// The request as it is loaded: with what the manager says where it says nothing, and with the loader that takes its URL,
    /// where there is one that does (row X-04).
    func completed(_ given: ImageRequest, by settings: ConfigurationSnapshot) -> ImageRequest {
        var request = defaults.applied(to: given)
        guard request.loader == nil, request.inlineData == nil, let loader = settings.loader(for: request.url) else {
            return request
        }
        request[\.download].loader = loader
        request[\.download].hasUsualLoader = true
        return request
    }

    private func carryOut(_ joined: LoadTable.Joined, _ delivery: LoadToken.Delivery) {
        switch joined {
        case .refused(let error): delivery.post(.finished(.failure(error)))
        case .opensBytes(let job): search(for: job)
        case .startsSession(let job, let bytes):
            observer.joined()
            updatePriority(of: job)
            DecodeSession(loader: self, job: job, bytes: bytes).start()
        case .waiting(let urgent):
            observer.joined()
            if let urgent { updatePriority(of: urgent) }
        }
    }

    private func join(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) -> LoadTable.Joined {
        let key: PixelKey
        do throws(WebImageError) { key = try PixelKey(request, by: token.settings) } catch {
            table.withLock { _ in token.hasEnded = true }
            return .refused(error)
        }
        let removals = removals(request.caching)
        let (joined, marked) = table.withLock { table -> (LoadTable.Joined, Download?) in
            if token.hasEnded { return (.refused(token.leftWith ?? .cancelled), nil) }
            let joined = table.join(token, request, key, removals: removals)
            token.look = nil
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
    func leave(_ token: LoadToken, with error: WebImageError) {
        let left = table.withLock { table in
            token.leftWith = token.leftWith ?? error
            return table.leave(token)
        }
        guard let left else { return }
        left.timeout?.cancel()
        left.look?.cancel()
        if let abandoned = left.abandoned { abandon(abandoned) }
        if left.abandonsPixels { for admission in admissions { admission.noteLeft() } }
        if let relaxed = left.relaxed { updatePriority(of: relaxed) }
        left.delivery.post(.finished(.failure(error)))
        noteIdle()
    }

    func setPriority(_ priority: LoadPriority, of token: LoadToken) {
        if let job = table.withLock({ $0.setPriority(priority, of: token) }) { updatePriority(of: job) }
    }

    var runningLoads: Int { table.withLock { $0.pixelJobs.count } }

    /// Refuses new loads with `shutDown`; those that run go on.
    func takeNothingNew() { table.withLock { $0.isDraining = true } }

    /// A look of ``LoadTable/beginLook()`` has ended.
    func endLook() {
        table.withLock { $0.endLook() }
        noteIdle()
    }

    /// Returns when no load runs any more, or at `end`.
    func idle(until end: Duration) async {
        let answer = CancellableAnswer<Void>()
        guard table.withLock({ $0.waitUntilIdle(answer) }) else { return }
        let alarm = clock.schedule(at: end) { answer.give(.success(())) }
        // A cancelled task does not wait.
        _ = try? await answer.value()
        alarm.cancel()
    }

    /// Tells those who wait for it that nothing runs any more.
    private func noteIdle() {
        for answer in table.withLock({ $0.takeIdle() }) { answer.give(.success(())) }
    }

    func shutDown() {
        let (ended, bytesJobs) = table.withLock { $0.shutDown() }
        tell(ended, .failure(WebImageError(.shutDown, "the image manager was shut down")), log: nil)
        for job in bytesJobs { abandon(job) }
    }

    func arm(_ request: ImageRequest, of token: LoadToken) {
        guard let timeout = request.timeout else { return }
        let action = clock.schedule(at: token.started + timeout) { [weak self, weak token] in
            guard let self, let token else { return }
            let error = WebImageError.tookTooLong(timeout, request)
            // A caller's closure must not hold up the clock.
            let callsClosure = self.table.withLock { _ in token.delivery?.isClosure ?? false }
            if callsClosure {
                self.ioExecutor.complete(.high) { self.leave(token, with: error) }
            } else {
                self.leave(token, with: error)
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

    private var admissions: [Admission] { [admission, bodies, longTurns, vectorTurns] }

    /// Ranks anew whatever of a job waits: its transfer, its work on the executors, its asks for memory and turns.
    private func updatePriority(of job: BytesJob) {
        while true {
            let (download, priority) = table.withLock { _ in (job.download, job.priority) }
            download?.setPriority(priority)
            for executor in [ioExecutor, decodeExecutor, vectorExecutor] { executor.setPriority(priority, of: job) }
            for admission in admissions { admission.setPriority(priority, of: job) }
            // Two threads may set what they read in the wrong order; who comes last sees that.
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

    /// What a bytes job asks of a search.
    private struct JobSeeker: BytesSeeker {
        let loader: Loader
        let job: BytesJob

        var owner: AnyObject { job }
        var isAbandoned: Bool { job.isAbandoned.load(ordering: .relaxed) }
        var priority: LoadPriority { job.priority }
        var finishesWhenDrained: Bool { job.finishesWhenDrained.load(ordering: .relaxed) }
        var remembered: AnswerRecord? { loader.remembered(job) }

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
        DecodeSession(loader: self, job: job, bytes: bytes).start()
    }
}

// MARK: - What sessions ask and tell

extension Loader {
    /// Hands every pixel job that no session has taken on to the one that asks.
    func takeUnplanned(_ job: BytesJob) -> [PixelJob] { table.withLock { $0.takeUnplanned(job) } }

    /// Tells everyone who looks at the way, and whose picture no session makes yet, how far the bytes are.
    func tellUnplanned(_ job: BytesJob, _ progress: LoadProgress) {
        let deliveries = table.withLock { _ in job.unplanned.flatMap(\.watchers) }
        for delivery in deliveries { delivery.post(.progress(progress)) }
    }

    /// Tells those who wait for `job` and look at the way, not only at the end.
    func tell(_ job: PixelJob, _ event: ImageEvent) {
        guard job.isWatched.load(ordering: .relaxed) else { return }
        let deliveries = table.withLock { _ in job.watchers }
        for delivery in deliveries { delivery.post(event) }
    }

    /// What brings a picture's colours to sRGB; nil when nothing has to be done, or can be.
    func converter(for header: ImageHeader, _ request: ImageRequest) -> ColorConverter? {
        guard request.convertsToSRGB, let colors = header.colors, colors != .described(.sRGB) else { return nil }
        let layout: PixelLayout = request.keepsBitDepth && header.bitDepth > 8 ? .rgba16 : .rgba8
        return converters.converter(for: colors, layout: layout)
    }

    /// Ends a pixel job: everyone who waits gets the same picture or error. A success is told on a thread that may block.
    ///
    /// - Parameter isProvisional: the origin is to be asked behind the picture. Those who look at the way then wait for
    ///   what it says; where there are none, it is asked for the caches' sake.
    func finish(_ job: PixelJob, _ result: Result<ImageResponse, WebImageError>, isProvisional: Bool = false) {
        var isProvisional = isProvisional
        if case .failure = result { isProvisional = false }
        let (ended, staying, log) = table.withLock { table -> ([LoadTable.Ended], [LoadTable.Ended], ByteLog?) in
            let (ended, staying) = table.finish(job, keeping: isProvisional ? .watchers : .nobody)
            return (ended, staying, job.bytes.opened?.log.latest)
        }
        tell(ended, result, log: log, job.bytes)
        guard isProvisional, let response = try? result.get() else { return }
        if staying.isEmpty, !ended.isEmpty { return askBehind(job.request) }
        var request = job.request
        request.cachePolicy = .revalidate
        for caller in staying { goOn(caller, request, response, log) }
    }

    /// Ends a pixel job; whoever waits for it waits for what another policy brings.
    func goOn(_ job: PixelJob, with policy: CachePolicy) {
        var request = job.request
        request.cachePolicy = policy
        let (_, staying) = table.withLock { $0.finish(job, keeping: .everyone) }
        for caller in staying { goOn(caller.token, request, caller.delivery) }
        noteIdle()
    }

    /// Asks the origin about what the caches gave out, for their sake.
    func askBehind(_ given: ImageRequest) {
        var request = given
        request.cachePolicy = .revalidate
        request.priority = .low
        request.includesData = false
        start(LoadToken(loader: self, request: request, isWatching: false), request, .nobody)
    }

    /// Shows what the caches had to one who stays, who then waits for what the origin says.
    private func goOn(_ caller: LoadTable.Ended, _ request: ImageRequest, _ response: ImageResponse, _ log: ByteLog?) {
        var shown = Result<ImageResponse, WebImageError>.success(response)
        if caller.token.includesData { shown = shown.withData(of: log) }
        if case .success(let response) = shown {
            caller.delivery.post(.cached(response.seen(by: caller.token, now: clock.now)))
        }
        goOn(caller.token, request, caller.delivery)
    }

    func finishAll(of job: BytesJob, _ result: Result<ImageResponse, WebImageError>) {
        tell(table.withLock { $0.finishAll(of: job) }, result, log: nil)
    }

    /// - Parameter stored: the job whose original some may wait for.
    private func tell(
        _ ended: [LoadTable.Ended], _ result: Result<ImageResponse, WebImageError>, log: ByteLog?,
        _ stored: BytesJob? = nil
    ) {
        guard !ended.isEmpty else { return }
        let now = clock.now
        var withData: Result<ImageResponse, WebImageError>?
        for end in ended {
            var own = result
            if end.token.includesData {
                own = withData ?? result.withData(of: log)
                withData = own
            }
            own = own.map { $0.seen(by: end.token, now: now) }
            if end.token.waitsForStore {
                originals.whenStored { [own] in
                    guard let end = self.table.withLock({ $0.endStoring(end.token) }) else { return }
                    end.timeout?.cancel()
                    var own = own
                    if let outcome = stored?.storing.withLock({ $0 }) { own = own.map { $0.stored(outcome) } }
                    end.delivery.post(.finished(own))
                }
            } else {
                end.timeout?.cancel()
                end.delivery.post(.finished(own))
            }
        }
        observer.finished(result, waiters: ended.count)
        noteIdle()
    }
}

extension Result<ImageResponse, WebImageError> {
    /// The answer for those who asked for the original's bytes too.
    fileprivate func withData(of log: ByteLog?) -> Self {
        guard let log, case .success(var response) = self else { return self }
        do throws(WebImageError) {
            response.data = try log.collect()
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}

extension ImageResponse {
    fileprivate func stored(_ outcome: Result<Duration, WebImageError>) -> ImageResponse {
        var response = self
        switch outcome {
        case .success(let time): response.timings.store = time
        case .failure(let error): response.storeError = error
        }
        return response
    }

    /// The answer as one of several callers gets it: with its own waiting time.
    fileprivate func seen(by token: LoadToken, now: Duration) -> ImageResponse {
        var response = self
        response.timings.total = now - token.started
        return response
    }
}
