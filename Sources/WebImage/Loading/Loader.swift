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
    let coders: CoderRegistry
    let clock: any LoadClock
    let decodeExecutor: any WorkExecutor
    let ioExecutor: any WorkExecutor
    let admission: DecodeAdmission
    let originals: OriginalStore?
    let observer: LoadObserver
    private let table = Guarded(LoadTable())
    private let converters = Guarded(ColorConverterCache())

    init(_ parts: LoaderParts) {
        memory = parts.memory
        disk = parts.disk
        downloader = parts.downloader
        coders = parts.coders
        clock = parts.clock
        decodeExecutor = parts.decodeExecutor
        ioExecutor = parts.ioExecutor
        admission = DecodeAdmission(budget: parts.decodeMemory.bytes)
        originals = parts.disk.map { OriginalStore(disk: $0, executor: parts.ioExecutor, observer: parts.observer) }
        observer = parts.observer
    }

    /// The picture when memory has it: one look-up.
    func cachedImage(for request: ImageRequest) -> Image? {
        guard request.cachePolicy.readsCaches else { return nil }
        return memory.image(for: request.variantKey)
    }

    /// Starts or joins the load that `request` needs, for `token`.
    func start(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery, asksMemory: Bool = true
    ) {
        if asksMemory, !request.includesData, let image = cachedImage(for: request) {
            observer.answered(from: .memory)
            table.withLock { _ in token.hasEnded = true }
            return delivery.post(.finished(.success(ImageResponse(image: image, source: .memory))))
        }
        let joined = join(token, request, delivery)
        arm(request.timeout, of: token)
        switch joined {
        case .refused(let error): delivery.post(.finished(.failure(error)))
        case .opensBytes(let job): open(job)
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
        do throws(WebImageError) { key = try PixelKey(request) } catch {
            table.withLock { _ in token.hasEnded = true }
            return .refused(error)
        }
        return table.withLock { table -> LoadTable.Joined in
            if token.hasEnded { return .refused(.cancelled) }
            let joined = table.join(token, request, key)
            if case .refused = joined { token.hasEnded = true } else { token.delivery = delivery }
            return joined
        }
    }

    /// Ends one caller's wait with an error of its own; the load goes on for the others.
    func leave(_ token: LoadToken, with error: WebImageError) {
        guard let left = table.withLock({ $0.leave(token) }) else { return }
        left.timeout?.cancel()
        if let abandoned = left.abandoned { abandon(abandoned) }
        if let relaxed = left.relaxed { updatePriority(of: relaxed) }
        left.delivery.post(.finished(.failure(error)))
    }

    func setPriority(_ priority: LoadPriority, of token: LoadToken) {
        if let job = table.withLock({ $0.setPriority(priority, of: token) }) { updatePriority(of: job) }
    }

    var runningLoads: Int { table.withLock { $0.pixelJobs.count } }

    func shutDown() {
        let (ended, bytesJobs) = table.withLock { $0.shutDown() }
        tell(ended, .failure(WebImageError(.shutDown, "the image manager was shut down")), log: nil)
        for job in bytesJobs { abandon(job) }
    }

    private func arm(_ timeout: Duration?, of token: LoadToken) {
        guard let timeout else { return }
        let action = clock.schedule(at: token.started + timeout) { [weak self, weak token] in
            guard let self, let token else { return }
            self.leave(token, with: WebImageError(.deadlineExceeded, "the load took longer than \(timeout)"))
        }
        let isLate = table.withLock { _ -> Bool in
            token.timeout = action
            return token.hasEnded
        }
        if isLate { action.cancel() }
    }

    private func abandon(_ job: BytesJob) {
        job.isAbandoned.store(true, ordering: .relaxed)
        table.withLock { _ in job.opened?.download }?.cancel()
    }

    private func updatePriority(of job: BytesJob) {
        while true {
            let (opened, priority) = table.withLock { _ in (job.opened?.download, job.priority) }
            guard let download = opened else { return }
            download.setPriority(priority)
            // Two threads may set what they read in the wrong order; who comes last sees that.
            if table.withLock({ _ in job.priority == priority }) { return }
        }
    }
}

// MARK: - Opening bytes

extension Loader {
    /// Finds out where a job's bytes come from: the disk cache, a file, the network.
    private func open(_ job: BytesJob) {
        if let data = job.request.inlineData {
            return opened(job, OpenedBytes(log: ByteLog(bytes: data), source: .file, time: clock.now))
        }
        let policy = job.request.cachePolicy
        guard !job.request.isLocal else { return download(job) }
        guard policy.readsCaches, let disk else {
            return policy.usesNetwork ? download(job) : miss(job)
        }
        ioExecutor.run(job.request.priority) {
            if job.isAbandoned.load(ordering: .relaxed) { return }
            if let entry = self.diskEntry(for: job, in: disk) {
                self.opened(job, OpenedBytes(log: ByteLog(bytes: entry.body), source: .disk, time: self.clock.now))
            } else if policy.usesNetwork {
                self.download(job)
            } else {
                self.miss(job)
            }
        }
    }

    static let cacheMiss = WebImageError(
        .cacheMiss, "no cache has this picture, and the policy allows no other source")

    private func miss(_ job: BytesJob) { finishAll(of: job, .failure(Self.cacheMiss.at(job.request.place))) }

    /// A cache that fails costs speed, not pictures: its errors are logged and count as a miss.
    private func diskEntry(for job: BytesJob, in disk: DiskCache) -> DiskEntry? {
        do {
            return try disk.read(job.key.originalKey)
        } catch {
            observer.cacheFailed(error)
            return nil
        }
    }

    private func download(_ job: BytesJob) {
        let begin = clock.now
        // `opened` corrects a priority that has changed meanwhile.
        let download = downloader.download(job.key.download, priority: job.request.priority)
        let source: ImageSource = job.request.isLocal ? .file : .network
        opened(job, OpenedBytes(log: download.log, source: source, download: download, time: begin))
    }

    private func opened(_ job: BytesJob, _ bytes: OpenedBytes) {
        guard let priority = table.withLock({ $0.open(job, bytes) }) else {
            bytes.download?.cancel()
            return
        }
        bytes.download?.setPriority(priority)
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
        return converters.withLock { $0.converter(for: colors, layout: layout) }
    }

    /// Where the bytes of a picture that turns out to be whole are to be kept; nil where policy or answer do not allow
    /// it, or another session does it. The store waits from now on for what the caller then says.
    func announceOriginal(of job: BytesJob, _ bytes: OpenedBytes) -> OriginalStore? {
        guard bytes.source == .network, job.key.policy.stores, let originals,
            OriginalMetadata.mayStore(bytes.log.head), !job.isStored.exchange(true, ordering: .relaxed)
        else { return nil }
        originals.announce()
        return originals
    }

    /// Ends a pixel job: everyone who waits gets the same picture or error. A success is told on a thread that may block.
    func finish(_ job: PixelJob, _ result: Result<ImageResponse, WebImageError>) {
        let (ended, log) = table.withLock { ($0.finish(job), job.bytes.opened?.log) }
        tell(ended, result, log: log)
    }

    private func finishAll(of job: BytesJob, _ result: Result<ImageResponse, WebImageError>) {
        tell(table.withLock { $0.finishAll(of: job) }, result, log: nil)
    }

    private func tell(_ ended: [LoadTable.Ended], _ result: Result<ImageResponse, WebImageError>, log: ByteLog?) {
        guard !ended.isEmpty else { return }
        let now = clock.now
        var withData: Result<ImageResponse, WebImageError>?
        for end in ended {
            end.timeout?.cancel()
            var own = result
            if end.token.includesData {
                own = withData ?? result.withData(of: log)
                withData = own
            }
            end.delivery.post(.finished(own.map { $0.seen(by: end.token, now: now) }))
        }
        observer.finished(result, waiters: ended.count)
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
    /// The answer as one of several callers gets it: with its own waiting time.
    fileprivate func seen(by token: LoadToken, now: Duration) -> ImageResponse {
        var response = self
        response.timings.total = now - token.started
        return response
    }
}
