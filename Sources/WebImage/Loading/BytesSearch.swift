import WebImageCache
import WebImageCore
import WebImageDownload

/// The party for which bytes are searched, and that gets the result. A search ends with exactly one call of
/// ``found(_:)`` or ``failed(_:)``, unless the request was answered from memory or has no waiters left.
protocol BytesSeeker: TierReader {
    /// Whether the transfer may finish when the manager is drained.
    var finishesWhenDrained: Bool { get }
    /// Knows which removals came before the load.
    var keeper: OriginalKeeper { get }
    /// Records the search for traces.
    var trace: TraceBook? { get }
    /// The answer from which memory has pictures.
    var remembered: AnswerRecord? { get }

    /// Hands over the transfer, so that it can be cancelled when no waiters are left. Returns false if none are left
    /// already.
    func follow(_ download: Download) -> Bool
    /// Answers with a picture in memory of this body, or of any body if it is nil.
    ///
    /// - Parameter isProvisional: whether the origin must still be asked.
    /// - Returns: true if no one needs the bytes any more.
    func answerFromMemory(_ body: StoredResponse?, isProvisional: Bool) -> Bool
    func found(_ bytes: OpenedBytes)
    func failed(_ error: WebImageError)
}

/// Finds a request's bytes in the tiers, in a file or at the origin, as its policy and the rules of HTTP say (RFC
/// 9111). It knows nothing about the callers.
struct BytesSearch: Sendable {
    let loader: Loader
    let request: ImageRequest
    let key: BytesKey
    let seeker: any BytesSeeker
    /// How many originals had been announced when the search began.
    private let begun: Int
    /// Where originals are looked for, in this order.
    private let tiers: [any OriginalTier]

    init(loader: Loader, request: ImageRequest, key: BytesKey, seeker: any BytesSeeker) {
        self.loader = loader
        self.request = request
        self.key = key
        self.seeker = seeker
        begun = loader.originals.announcements
        tiers = request.options.caching.readsOriginal ? loader.caches.tiers(key.caching) : []
    }

    /// Starts a new search, because this one does not know originals that were stored after it began.
    private func startAgain() { BytesSearch(loader: loader, request: request, key: key, seeker: seeker).start() }

    func start() {
        if let data = request.inlineData { return found(ByteLog(bytes: data), .file) }
        if key.download.isLocal { return askOrigin(nil) }
        guard key.policy.mode.readsCache else { return decide(nil) }
        // Pictures in memory have the record for this decision, so that the disk need not be read.
        if !key.policy.trustsMemory, let record = seeker.remembered { return decide(record.response) }
        // If the origin is asked in any case, the body may never be needed.
        find(key.policy == .revalidate ? .metadata : .all)
    }

    /// Looks for an entry tier by tier. The search ends at an entry that the policy allows to serve, or at any entry if
    /// the origin is asked in any case. Otherwise the first entry found is revalidated.
    private func find(_ part: OriginalPart, from place: Int = 0, best: Entry? = nil) {
        guard place < tiers.count else { return decide(best?.found.storedResponse, best) }
        note(.looks(in: tiers[place].source))
        if part == .all, let found = tiers[place].findAtOnce(key.originalKey, for: seeker) {
            return take(found, part, from: place, best: best)
        }
        tiers[place].find(key.originalKey, part, for: seeker) { take($0, part, from: place, best: best) }
    }

    /// Continues with the result of a tier.
    private func take(_ found: FoundOriginal?, _ part: OriginalPart, from place: Int, best: Entry?) {
        note(.looked(found: found != nil))
        guard let found else { return find(part, from: place + 1, best: best) }
        let entry = Entry(found: found, place: place)
        let isTheOnlyOne = best == nil && place + 1 == tiers.count
        if isTheOnlyOne || part == .metadata || mayServe(found) { return decide(found.storedResponse, entry) }
        // Without its body, which is not needed to revalidate it: the memory of the body could be what the next tier waits for.
        let bodiless = FoundOriginal(log: nil, metadata: found.metadata)
        find(part, from: place + 1, best: best ?? Entry(found: bodiless, place: place))
    }

    private func note(_ mark: TraceBook.Mark) { seeker.trace?.note(mark, at: loader.clock.now) }

    private func mayServe(_ found: FoundOriginal) -> Bool {
        switch loader.origin.decision(key, found.storedResponse) {
        case .serve, .serveAndRevalidate: true
        case .revalidate, .fetch, .fail: false
        }
    }

    private func decide(_ stored: StoredResponse?, _ entry: Entry? = nil) {
        switch loader.origin.decision(key, stored) {
        case .serve(let stored): serve(stored, entry)
        case .serveAndRevalidate(let stored, _): serve(stored, entry, isProvisional: true)
        case .revalidate(let exchange): askOrigin(exchange)
        case .fetch(let exchange): askOrigin(exchange)
        case .fail:
            if waitsForOther() { return }
            fail(Loader.cacheMiss)
        }
    }

    /// Searches again when it is known whether an original that another load has just received will be stored.
    ///
    /// - Returns: false if no original has arrived since this search began.
    private func waitsForOther() -> Bool {
        guard key.policy.mode.readsCache, !tiers.isEmpty,
            loader.originals.whenDecided(key.originalKey, since: begun, seeker.priority, { startAgain() })
        else { return false }
        note(.waitsForOther)
        return true
    }

    // MARK: The entry

    private struct Entry {
        let found: FoundOriginal
        /// The index of its tier.
        let place: Int
    }

    /// - Parameters:
    ///   - isProvisional: whether the origin is asked in the background after the answer.
    ///   - whenFound: called once it is known whether the body is there, or that it is not needed.
    private func serve(
        _ stored: StoredResponse, _ entry: Entry?, isProvisional: Bool = false,
        whenFound: @escaping @Sendable () -> Void = {}
    ) {
        if seeker.answerFromMemory(stored, isProvisional: isProvisional) { return whenFound() }
        if let entry, let log = entry.found.log {
            whenFound()
            return found(log, entry, stored, isProvisional: isProvisional)
        }
        findBody(of: stored) { entry in
            whenFound()
            if let entry, let log = entry.found.log {
                return found(log, entry, stored, isProvisional: isProvisional)
            }
            // The entry is gone, damaged or another one: fetch the body with an unconditional request.
            guard case .fetch(let exchange) = loader.origin.decision(key, nil) else { return fail(Loader.cacheMiss) }
            askOrigin(exchange)
        }
    }

    /// Looks for the entry with that body, tier by tier.
    private func findBody(
        of stored: StoredResponse, from place: Int = 0, _ then: @escaping @Sendable (Entry?) -> Void
    ) {
        guard place < tiers.count else { return then(nil) }
        tiers[place].find(key.originalKey, .all, for: seeker) { found in
            if let found, found.storedResponse.hasSameBody(as: stored) {
                return then(Entry(found: found, place: place))
            }
            findBody(of: stored, from: place + 1, then)
        }
    }

    private func found(_ log: ByteLog, _ entry: Entry, _ stored: StoredResponse, isProvisional: Bool) {
        var opened = OpenedBytes(log: log, source: tiers[entry.place].source, time: loader.clock.now)
        opened.record = loader.answers(key).record(of: key.originalKey, stored)
        if entry.found.metadata.status != nil { opened.wholeHead = loader.origin.head(of: stored) }
        opened.isProvisional = isProvisional
        if entry.place > 0 {
            var metadata = entry.found.metadata
            metadata.set(stored)
            opened.copied = KeptOriginal(metadata: metadata, tiers: Array(tiers[..<entry.place]))
        }
        seeker.found(opened)
    }

    private func found(_ log: ByteLog, _ source: ImageSource) {
        seeker.found(OpenedBytes(log: log, source: source, time: loader.clock.now))
    }

    private func fail(_ error: WebImageError) { seeker.failed(error.at(request.redactedURL)) }

    // MARK: The origin

    /// - Parameter exchange: nil if no network is needed.
    private func askOrigin(_ exchange: CacheExchange?) {
        if let exchange, exchange.base == nil, waitsForOther() { return }
        if let refusal = loader.origin.failedURLs.refusal(
            of: key.download, settings: key.settings.number, retriesFailed: request.options.retriesFailed,
            makesPicture: seeker.makesPicture && !request.saysHowToDecode, demand: request.decodeDemand)
        {
            let stored = (refusal.cause as? WebImageError).flatMap { standIn(for: $0, exchange) }
            return stored.map { serve($0, nil) } ?? fail(refusal)
        }
        // Without an entry to fall back to, there may be the beginning of an interrupted download.
        if let exchange, exchange.base == nil, !exchange.hasOwnCondition,
            let fetch = ResumableFetch(loader, key, exchange, seeker)
        {
            return fetch.start()
        }
        let begin = loader.clock.now
        let resolved = exchange.map { key.download.adding($0.fields) } ?? key.download
        let download = loader.origin.downloader.download(
            resolved, by: key.settings, notBefore: key.removal, priority: seeker.priority,
            finishesWhenDrained: seeker.finishesWhenDrained)
        seeker.trace?.note(.asks(isConditional: exchange?.base != nil, isShared: download.wasJoined), at: begin)
        guard seeker.follow(download) else { return download.cancel() }
        var opened = OpenedBytes(
            log: download.log, source: exchange == nil ? .file : .network, download: download, time: begin)
        opened.exchange = exchange
        // Without an entry to fall back to, the bytes can be used before the answer is judged.
        guard let exchange, exchange.base != nil || exchange.hasOwnCondition else { return seeker.found(opened) }
        download.log.whenHead { [opened] in
            loader.ioExecutor.run(seeker.priority, for: seeker.owner) {
                if !seeker.isAbandoned { judge(opened, download, exchange) }
            }
        }
    }

    /// The entry that may be served because the origin fails (RFC 5861 section 4).
    private func standIn(for failure: WebImageError, _ exchange: CacheExchange?) -> StoredResponse? {
        guard case .useStale(let stored)? = exchange?.failed(failure, now: loader.clock.wallTime) else { return nil }
        return stored
    }

    private func judge(_ opened: OpenedBytes, _ download: Download, _ exchange: CacheExchange) {
        note(.answered(download.exchange?.head.status))
        guard let answered = download.exchange else {
            guard case .failed(let error)? = download.log.end else { return seeker.found(opened) }
            guard let stored = standIn(for: error, exchange) else {
                loader.noteOutcome(of: key, failure: error)
                return fail(error)
            }
            return serve(stored, nil)
        }
        switch exchange.answer(answered.head, answered.arrival) {
        case .proceed: seeker.found(opened)
        case .useStored(let stored, let plan):
            download.cancel()
            loader.noteOutcome(of: key, failure: nil)
            seeker.remembered?.renew(stored)
            if plan.removesStored {
                // The body is needed once more.
                serve(stored, nil) { loader.renew(key, stored, plan) {} }
            } else {
                loader.renew(key, stored, plan) { serve(stored, nil) }
            }
        case .useStale(let stored):
            download.cancel()
            serve(stored, nil)
        case .askAgain(let unconditional):
            download.cancel()
            askOrigin(unconditional)
        case .fail(let error):
            download.cancel()
            loader.noteOutcome(of: key, failure: error)
            fail(error)
        }
    }
}

/// The source of a load's bytes.
struct OpenedBytes: Sendable {
    var log: ByteLog
    var source: ImageSource
    /// The transfer; nil for bytes from the disk cache.
    var download: Download?
    /// The exchange that judges the transfer's answer.
    var exchange: CacheExchange?
    /// The head of the whole answer: of a resumed body in place of the transfer's own head, or as stored with an entry.
    var wholeHead: ResponseHead?
    /// The answer as stored with an entry of the disk cache.
    var record: AnswerRecord?
    /// The entry of a further tier, which is copied to the tiers before it.
    var copied: KeptOriginal?
    /// Whether the origin must be asked in the background after the answer.
    var isProvisional = false
    /// When the source was found.
    var time: Duration

    init(log: ByteLog, source: ImageSource, download: Download? = nil, time: Duration) {
        self.log = log
        self.source = source
        self.download = download
        self.time = time
    }

    /// Switches to the current body: the origin may have replaced the body that began to arrive.
    ///
    /// - Returns: whether the bytes that were read so far must be discarded.
    mutating func follow() -> Bool {
        let latest = log.latest
        if latest === log { return false }
        self = following(latest)
        return true
    }

    /// The same source with the log that a decode has followed: the bytes of `latest`, which may be another body than
    /// the one that began to arrive.
    func following(_ latest: ByteLog) -> OpenedBytes {
        var bytes = self
        if latest !== log {
            bytes.log = latest
            bytes.wholeHead = nil
        }
        return bytes
    }

    /// The head of the origin's answer, which has arrived now or was stored; nil for bytes without an answer.
    var head: ResponseHead? {
        guard wholeHead?.arrival == nil, let answered = download?.exchange else { return wholeHead }
        var head = wholeHead ?? answered.head
        head.arrival = exchange?.arrival(answered.arrival)
        return head
    }

    /// The entry that may be served in place of an interrupted body (RFC 5861 section 4); nil: none.
    func standIn(for error: WebImageError, now: Int64) -> StoredResponse? {
        guard let exchange, exchange.base != nil, case .useStale(let stored) = exchange.failed(error, now: now) else {
            return nil
        }
        return stored
    }

    /// Which part of the answer may be stored; known once the log has a head. Nil for bytes that did not come from the
    /// network.
    var storePlan: StorePlan? {
        guard let exchange, let answered = download?.exchange else { return nil }
        let head = wholeHead ?? answered.head
        guard case .proceed(let plan) = exchange.answer(head, answered.arrival) else { return StorePlan() }
        return plan
    }
}

/// The metadata of an original that is stored in tiers with its bytes, and the tiers.
struct KeptOriginal: Sendable {
    var metadata: DiskMetadata
    let tiers: [any OriginalTier]
}
