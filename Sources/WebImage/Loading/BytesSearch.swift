import WebImageCache
import WebImageCore
import WebImageDownload

/// Who wants bytes, and what becomes of them. Exactly one of ``found(_:)`` and ``failed(_:)`` ends a search, unless
/// somebody was answered from memory, or nobody wants them any more.
protocol BytesSeeker: TierReader {
    /// Whether the transfer may go on to its end when the manager is drained.
    var finishesWhenDrained: Bool { get }
    /// Takes notes of the way.
    var trace: TraceBook? { get }
    /// What memory knows of the answer that it has pictures of.
    var remembered: AnswerRecord? { get }

    /// Takes the transfer, to cancel it when nobody wants it any more. False: nobody does.
    func follow(_ download: Download) -> Bool
    /// Answers with what memory has of this body, or of any when it is nil.
    ///
    /// - Parameter isProvisional: whether the origin is still to be asked.
    /// - Returns: true when nobody is left who wants the bytes.
    func answerFromMemory(_ body: StoredResponse?, isProvisional: Bool) -> Bool
    func found(_ bytes: OpenedBytes)
    func failed(_ error: WebImageError)
}

/// Finds a request's bytes: in the tiers, in a file or at the origin, as its policy and the rules of HTTP say (RFC 9111).
/// What it does not know is who asks.
struct BytesSearch: Sendable {
    let loader: Loader
    let request: ImageRequest
    let key: BytesKey
    let seeker: any BytesSeeker
    /// How many originals had been announced when it began.
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

    /// What was kept since this search began is not known to it.
    private func startAgain() { BytesSearch(loader: loader, request: request, key: key, seeker: seeker).start() }

    func start() {
        if let data = request.inlineData { return found(ByteLog(bytes: data), .file) }
        if key.download.isLocal { return askOrigin(nil) }
        guard key.policy.mode.readsCache else { return decide(nil) }
        // Pictures in memory know what they are judged by: the disk need not be asked.
        if !key.policy.trustsMemory, let record = seeker.remembered { return decide(record.response) }
        // Of what is asked about in any case the body may never be needed.
        find(key.policy == .revalidate ? .metadata : .all)
    }

    /// Looks for the entry tier by tier. One that the policy lets be served ends the search, and so does any where the origin
    /// is asked in any case; of others the first one is asked about.
    private func find(_ part: OriginalPart, from place: Int = 0, best: Entry? = nil) {
        guard place < tiers.count else { return decide(best?.found.storedResponse, best) }
        note(.looks(in: tiers[place].source))
        if part == .all, let found = tiers[place].findAtOnce(key.originalKey, for: seeker) {
            return take(found, part, from: place, best: best)
        }
        tiers[place].find(key.originalKey, part, for: seeker) { take($0, part, from: place, best: best) }
    }

    /// Goes on with what a tier has.
    private func take(_ found: FoundOriginal?, _ part: OriginalPart, from place: Int, best: Entry?) {
        note(.looked(found: found != nil))
        guard let found else { return find(part, from: place + 1, best: best) }
        let entry = Entry(found: found, place: place)
        let isTheOnlyOne = best == nil && place + 1 == tiers.count
        if isTheOnlyOne || part == .metadata || mayServe(found) { return decide(found.storedResponse, entry) }
        find(part, from: place + 1, best: best ?? entry)
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

    /// Looks again once it is known whether what just came for somebody else is kept.
    ///
    /// - Returns: false when nothing has come since this search began.
    private func waitsForOther() -> Bool {
        guard key.policy.mode.readsCache, !tiers.isEmpty,
            loader.originals.whenDecided(key.originalKey, since: begun, { startAgain() })
        else { return false }
        note(.waitsForOther)
        return true
    }

    // MARK: The entry

    private struct Entry {
        let found: FoundOriginal
        /// Of its tier.
        let place: Int
    }

    /// - Parameter isProvisional: whether the origin is asked behind the answer.
    private func serve(_ stored: StoredResponse, _ entry: Entry?, isProvisional: Bool = false) {
        if seeker.answerFromMemory(stored, isProvisional: isProvisional) { return }
        if let entry, let log = entry.found.log {
            return found(log, entry, stored, isProvisional: isProvisional)
        }
        findBody(of: stored) { entry in
            if let entry, let log = entry.found.log {
                return found(log, entry, stored, isProvisional: isProvisional)
            }
            // It is gone, damaged or another one: a request without conditions brings it back.
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
        opened.record = loader.answers.record(of: key.originalKey, stored)
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

    /// - Parameter exchange: nil for what no network is needed for.
    private func askOrigin(_ exchange: CacheExchange?) {
        if let exchange, exchange.base == nil, waitsForOther() { return }
        if let refusal = loader.origin.failedURLs.refusal(
            of: key.download, retriesFailed: request.options.retriesFailed)
        {
            return fail(refusal)
        }
        // What has no entry to fall back to may have a beginning to go on with.
        if let exchange, exchange.base == nil, let fetch = ResumableFetch(loader, key, exchange, seeker) {
            return fetch.start()
        }
        let begin = loader.clock.now
        let resolved = exchange.map { key.download.adding($0.fields) } ?? key.download
        let download = loader.origin.downloader.download(
            resolved, by: key.settings, priority: seeker.priority, finishesWhenDrained: seeker.finishesWhenDrained)
        seeker.trace?.note(.asks(isConditional: exchange?.base != nil, isShared: download.wasJoined), at: begin)
        guard seeker.follow(download) else { return download.cancel() }
        var opened = OpenedBytes(
            log: download.log, source: exchange == nil ? .file : .network, download: download, time: begin)
        opened.exchange = exchange
        // Without an entry to fall back to, nothing has to be known before the bytes can be looked at.
        guard let exchange, exchange.base != nil else { return seeker.found(opened) }
        download.log.whenHead { [opened] in
            loader.ioExecutor.run(seeker.priority, for: seeker.owner) {
                if !seeker.isAbandoned { judge(opened, download, exchange) }
            }
        }
    }

    private func judge(_ opened: OpenedBytes, _ download: Download, _ exchange: CacheExchange) {
        note(.answered(download.exchange?.head.status))
        guard let answered = download.exchange else {
            guard case .failed(let error)? = download.log.end else { return seeker.found(opened) }
            guard case .useStale(let stored) = exchange.failed(error, now: loader.clock.wallTime) else {
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
            loader.renew(key, stored, plan) { serve(stored, nil) }
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

/// Where bytes come from, once that is known.
struct OpenedBytes: Sendable {
    var log: ByteLog
    var source: ImageSource
    /// The transfer; nil for bytes from the disk cache.
    var download: Download?
    /// What the transfer's answer is judged by.
    var exchange: CacheExchange?
    /// In place of the transfer's own, when that brought the rest of a body; what an entry knows of its answer.
    var wholeHead: ResponseHead?
    /// What an entry of the disk cache says of the answer that it was.
    var record: AnswerRecord?
    /// The entry of a further tier, for the tiers before it.
    var copied: KeptOriginal?
    /// Whether the origin is to be asked behind the answer.
    var isProvisional = false
    /// When it was known.
    var time: Duration

    init(log: ByteLog, source: ImageSource, download: Download? = nil, time: Duration) {
        self.log = log
        self.source = source
        self.download = download
        self.time = time
    }

    /// Goes on where the body is now: the origin may have another one than the one that began to come.
    ///
    /// - Returns: whether what was read so far is of no use.
    mutating func follow() -> Bool {
        let latest = log.latest
        if latest === log { return false }
        self = following(latest)
        return true
    }

    /// The same where a decode has come to: the bytes of `latest`, which may be another body than the one that began to
    /// come.
    func following(_ latest: ByteLog) -> OpenedBytes {
        var bytes = self
        if latest !== log {
            bytes.log = latest
            bytes.wholeHead = nil
        }
        return bytes
    }

    /// Of the origin's answer, now or when it was stored; nil for what never had one.
    var head: ResponseHead? { wholeHead ?? download?.exchange?.head }

    /// What stands in for a body that broke off (RFC 5861 section 4); nil: nothing.
    func standIn(for error: WebImageError, now: Int64) -> StoredResponse? {
        guard let exchange, exchange.base != nil, case .useStale(let stored) = exchange.failed(error, now: now) else {
            return nil
        }
        return stored
    }

    /// What of the answer is kept; there from when the log has a head on. Nil for what did not come by the network.
    var storePlan: StorePlan? {
        guard let exchange, let answered = download?.exchange else { return nil }
        let head = wholeHead ?? answered.head
        guard case .proceed(let plan) = exchange.answer(head, answered.arrival) else { return StorePlan() }
        return plan
    }
}

/// What of an original is put into tiers beside its bytes, and into which.
struct KeptOriginal: Sendable {
    var metadata: DiskMetadata
    let tiers: [any OriginalTier]
}
