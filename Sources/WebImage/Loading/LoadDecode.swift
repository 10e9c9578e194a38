import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

extension Loader {
    func decode(_ bytes: OpenedBytes, for job: BytesJob) {
        DecodeSession(bytes.log, for: LoadDecode(loader: self, job: job, opened: bytes), by: decoding).start()
    }
}

/// The decode of a load's bytes, for all callers that wait for pictures of them.
final class LoadDecode: DecodeClient {
    let loader: Loader
    let job: BytesJob
    let opened: OpenedBytes

    init(loader: Loader, job: BytesJob, opened: OpenedBytes) {
        self.loader = loader
        self.job = job
        self.opened = opened
    }

    var recipe: PictureRecipe { job.request.recipe }
    var place: String { job.request.redactedURL }
    var owner: AnyObject { job }
    var priority: LoadPriority { job.priority }
    var isAbandoned: Bool { job.isAbandoned.load(ordering: .relaxed) }
    var isWatched: Bool { job.isWatched.load(ordering: .relaxed) }
    var mayDecodeHere: Bool { job.isBegunHere }
    var showsPreviews: Bool { opened.source != .disk && opened.source != .tier }

    func takeOrders(_ header: ImageHeader?) -> [PixelJob] { loader.takeUnplanned(job, header) }

    func tell(_ progress: LoadProgress, to orders: [PixelJob]?) {
        guard let orders else { return loader.tellUnplanned(job, progress) }
        for order in orders { loader.tell(order, .progress(progress)) }
    }

    func showPreview(_ image: Image, of order: PixelJob) { loader.tell(order, .preview(image)) }

    func standsIn(for error: WebImageError, _ orders: () -> [PixelJob]) -> Bool {
        guard let stored = opened.standIn(for: error, now: loader.clock.wallTime) else { return false }
        loader.standIn(stored, for: error, orders(), of: job)
        return true
    }

    func refuse(_ orders: [PixelJob], _ error: WebImageError) {
        for order in orders { loader.finish(order, .failure(error)) }
    }

    func fail(_ orders: [PixelJob], _ error: WebImageError, _ span: DecodeSpan?) {
        noteOutcome(error, of: orders.first)
        if let span { job.trace.note(.failedToDecode(span), at: span.ended) }
        if loader.removeDamaged(opened, of: job, for: error) {
            for order in orders { loader.finish(order, continuingWith: .reload) }
        } else {
            refuse(orders, error)
        }
    }

    func deliver(_ log: ByteLog, _ header: ImageHeader?, failure: WebImageError?) -> LoadDelivery {
        let bytes = opened.following(log)
        let plan = bytes.storePlan
        // An entry of a further tier has already been through a serializer.
        let serializer = bytes.copied == nil ? loader.caches.serializer(for: job.request) : nil
        let isReplaced = plan?.storing.map { loader.answers(job.key).hasReplaced($0, of: job.key.originalKey) } ?? false
        let original =
            failure == nil && !isReplaced
            ? loader.announceOriginal(of: job.keeper, bytes, plan, serializer == nil ? log : nil, header) : nil
        noteOutcome(failure?.endingALoad(of: place))
        if failure == nil, plan?.removesStored == true { loader.forget(job.key) }
        return LoadDelivery(
            loader: loader, job: job, bytes: bytes, plan: plan, original: original,
            header: failure == nil ? header : nil, serializes: serializer != nil, isReplaced: isReplaced)
    }

    /// Records once for all sessions whether the origin's answer was usable.
    ///
    /// - Parameter order: a picture that could not be made; nil: it failed for all.
    private func noteOutcome(_ failure: WebImageError?, of order: PixelJob? = nil) {
        // A cancellation says nothing about the origin.
        guard opened.source == .network, failure?.code != .cancelled, !job.isSettled.exchange(true, ordering: .relaxed)
        else { return }
        loader.noteOutcome(of: job.key, failure: failure, as: order?.request ?? job.request)
    }
}

/// Delivers the pictures of one session to waiting callers and to the caches.
final class LoadDelivery: PictureDelivery {
    private let loader: Loader
    private let job: BytesJob
    private let bytes: OpenedBytes
    /// Which part of the answer may be stored; nil for bytes that did not come from the network.
    private let plan: StorePlan?
    /// The announced store of the original, which is made when its pictures are complete; nil if it is not stored.
    private let original: OriginalStore.Announcement?
    /// The header of a picture whose bytes are complete.
    private let header: ImageHeader?
    /// Whether a serializer makes the bytes that are stored for the original.
    private let serializes: Bool
    private let mayStore: Bool
    /// Whether memory has pictures of a newer answer.
    private let isReplaced: Bool
    /// A picture in its original's own size without transformers, and its request.
    private let plain = Guarded<(image: Image, request: ImageRequest)?>(nil)

    init(
        loader: Loader, job: BytesJob, bytes: OpenedBytes, plan: StorePlan?, original: OriginalStore.Announcement?,
        header: ImageHeader?, serializes: Bool, isReplaced: Bool
    ) {
        self.loader = loader
        self.job = job
        self.bytes = bytes
        self.plan = plan
        self.original = original
        self.header = header
        self.serializes = serializes
        let isAllowed = plan.map { $0.storing != nil } ?? (job.request.options.caching.policy.mode != .noStore)
        mayStore = isAllowed && !isReplaced
        self.isReplaced = isReplaced
    }

    func finish(_ order: PixelJob, _ result: Result<DecodedPicture, WebImageError>) {
        switch result {
        case .failure(let error) where loader.removeDamaged(bytes, of: job, for: error):
            return loader.finish(order, continuingWith: .reload)
        // A partial picture may be an answer, but is not stored.
        case .success(let picture):
            if let error = picture.partialError { loader.removeDamaged(bytes, of: job, for: error) }
        case .failure: break
        }
        loader.finish(order, result.map { response($0, order) }, isProvisional: bytes.isProvisional)
    }

    /// Announces the original, if another load that shares the transfer wanted to store it and has given that up.
    private func announceLate() -> OriginalStore.Announcement? {
        guard header != nil, !serializes, !isReplaced else { return nil }
        return loader.announceOriginal(of: job.keeper, bytes, plan, bytes.log, header)
    }

    func end(isWhole: Bool) {
        guard let original = original ?? (isWhole ? announceLate() : nil) else { return }
        guard isWhole else {
            job.keeper.giveUp()
            return original.withdraw()
        }
        guard serializes, let plain = plain.withLock({ $0 }),
            let serializer = loader.caches.serializer(for: plain.request)
        else {
            return original.store(
                bytes.log, isAwaited: job.keeper.isAwaited, told: job.keeper.wasStored)
        }
        loader.store(original, bytes.log, of: job, plain: plain, by: serializer)
    }

    /// For the trace.
    private func notKept(_ request: ImageRequest) -> NotKept {
        var reasons = NotKept()
        let caching = request.options.caching
        if bytes.source == .network, original == nil { reasons.original = originalReason(caching) }
        if !caching.policy.mode.stores {
            reasons.picture = "the picture is not kept in memory: the policy forbids it"
        } else if !mayStore {
            reasons.picture = "the picture is not kept in memory: the origin's answer forbids it"
        } else if !caching.store.contains(.memory) {
            reasons.picture = "the picture is not kept in memory: the request says so"
        }
        return reasons
    }

    private func originalReason(_ caching: ImageRequest.Caching) -> StaticString {
        if !caching.policy.mode.stores { return "the original is not kept on disk: the policy forbids it" }
        if !caching.storesOriginal { return "the original is not kept on disk: the request says so" }
        if loader.caches.tiers(caching).isEmpty { return "the original is not kept on disk: there is no disk cache" }
        if !mayStore { return "the original is not kept on disk: the origin's answer forbids it" }
        return "the original is kept by another load, or was removed meanwhile"
    }

    /// The record of the answer. An answer that comes too late, so that nothing of it is kept, does not replace the one
    /// by which pictures are judged.
    private func record(of stored: StoredResponse) -> AnswerRecord {
        let isRemoved = loader.caches.wasOriginalRemoved(job.keeper) && loader.caches.wasRemoved(job.keeper)
        if isReplaced || isRemoved { return AnswerRecord(stored) }
        return loader.record(of: stored, job.key)
    }

    private func response(_ picture: DecodedPicture, _ order: PixelJob) -> ImageResponse {
        let request = order.request
        let record = plan?.storing.map(record) ?? bytes.record
        let image = record.map { picture.image.with(origin: $0) } ?? picture.image
        if picture.partialError == nil, mayStore { loader.keep(image, request, record, of: job) }
        if original != nil, serializes, showsOriginal(request) { plain.withLock { $0 = (image, request) } }
        var response = ImageResponse(
            image: image, source: bytes.source, byteCount: ByteCount(bytes.log.receivedCount),
            partialError: picture.partialError, timings: timings)
        response.head = bytes.head
        response.timings.decode = picture.decode?.spent
        response.timings.transform = picture.transformTime
        return response.with(
            LoadRecord(
                order, byteCount: bytes.log.receivedCount, metrics: bytes.download?.metrics, decode: picture.decode,
                steps: picture.steps, notKept: notKept(request)))
    }

    /// Whether a serializer may store the picture of a request as the original for all. The picture of a request's own
    /// coder stands for bytes that nobody else can decode; of others, requests without that coder want the usual
    /// picture.
    private func showsOriginal(_ request: ImageRequest) -> Bool {
        if request.isPlain { return true }
        guard request.isWholeOriginal else { return false }
        var recipe = request.recipe
        (recipe.decoding.coder, recipe.decoding.formatHint) = (nil, nil)
        return loader.decoding.header(of: bytes.log, recipe) == nil
    }

    private var timings: LoadTimings {
        var timings = LoadTimings()
        timings.queue = bytes.time - job.started
        guard let metrics = bytes.download?.metrics else { return timings }
        timings.add(metrics)
        return timings
    }
}
