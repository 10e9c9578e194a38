import WebImageCache
import WebImageCore
import WebImageDownload

/// Who wants bytes, and what becomes of them. Exactly one of ``found(_:)`` and ``failed(_:)`` ends a search, unless
/// somebody was answered from memory, or nobody wants them any more.
protocol BytesSeeker: Sendable {
    /// Whose urgency may change while something waits.
    var owner: AnyObject { get }
    /// True when nobody wants them any more.
    var isAbandoned: Bool { get }
    var priority: LoadPriority { get }
    /// Whether the transfer may go on to its end when the manager is drained.
    var finishesWhenDrained: Bool { get }
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

/// Finds a request's bytes: in the disk cache, in a file or at the origin, as its policy and the rules of HTTP say
/// (RFC 9111). What it does not know is who asks.
struct BytesSearch: Sendable {
    let loader: Loader
    let request: ImageRequest
    let key: BytesKey
    let seeker: any BytesSeeker

    func start() {
        if let data = request.inlineData { return found(ByteLog(bytes: data), .file) }
        if key.download.isLocal { return askOrigin(nil) }
        guard key.policy.mode.readsCache else { return decide(nil) }
        // Pictures in memory know what they are judged by: the disk need not be asked.
        if !key.policy.trustsMemory, let record = seeker.remembered { return decide(record.response) }
        guard let disk = loader.disk(key.caching), request.caching.readsOriginal else { return decide(nil) }
        loader.ioExecutor.run(seeker.priority, for: seeker.owner) {
            if !seeker.isAbandoned { search(disk) }
        }
    }

    /// A cache that fails costs speed, not pictures: its errors are logged and count as a miss.
    private func search(_ disk: DiskCache) {
        if let entry = Entry(comingTo: disk, key.originalKey) { return decide(entry.metadata.storedResponse, entry) }
        // Of what is asked about in any case the body may never be needed.
        if key.policy == .revalidate {
            var stored: StoredResponse?
            do throws(WebImageError) { stored = try disk.readMetadata(key.originalKey)?.storedResponse } catch {
                loader.observer.cacheFailed(error)
            }
            return decide(stored)
        }
        withRoom(in: disk) { lease in
            let entry = read(disk, lease)
            decide(entry?.metadata.storedResponse, entry)
        }
    }

    /// Goes on once there is memory for the entry's bytes: what waits for a decoder is not read meanwhile.
    private func withRoom(in disk: DiskCache, _ then: @escaping @Sendable (AdmissionLease?) -> Void) {
        let length = disk.fileLength(of: key.originalKey)
        if length == 0 { return then(nil) }
        let bodies = loader.decoding.inputMemory
        let isNow = bodies.take(
            length, seeker.priority, for: seeker.owner, isWanted: { !seeker.isAbandoned },
            orLater: { isAdmitted in
                // Where it is not, nobody wants it any more.
                guard isAdmitted else { return }
                let lease = AdmissionLease(bodies, length)
                loader.ioExecutor.run(seeker.priority, for: seeker.owner) { then(lease) }
            })
        if isNow { then(AdmissionLease(bodies, length)) }
    }

    private func read(_ disk: DiskCache, _ lease: AdmissionLease?) -> Entry? {
        do throws(WebImageError) {
            guard let entry = try disk.read(key.originalKey) else { return nil }
            return Entry(entry, lease, loader.decoding.inputMemory)
        } catch {
            loader.observer.cacheFailed(error)
            return nil
        }
    }

    private func decide(_ stored: StoredResponse?, _ entry: Entry? = nil) {
        switch loader.decision(key, stored) {
        case .serve(let stored): serve(stored, entry)
        case .serveAndRevalidate(let stored, _): serve(stored, entry, isProvisional: true)
        case .revalidate(let exchange): askOrigin(exchange)
        case .fetch(let exchange): askOrigin(exchange)
        case .fail: fail(Loader.cacheMiss)
        }
    }

    // MARK: The entry

    /// An original that is on disk, or on its way there.
    private struct Entry {
        let log: ByteLog
        let metadata: DiskMetadata

        /// - Parameter lease: what was taken for its bytes; nil where it was not known before that there are some.
        init(_ entry: DiskEntry, _ lease: AdmissionLease?, _ bodies: Admission) {
            let lease = lease ?? AdmissionLease(bodies, 0)
            lease.grow(to: entry.body.count)
            (log, metadata) = (ByteLog(bytes: entry.body, lease: lease), entry.metadata)
        }

        /// One that this process is about to write: its bytes need not be collected first.
        init?(comingTo disk: DiskCache, _ key: CacheKey) {
            guard let original = disk.expectedEntry(for: key) as? PendingOriginal, let log = original.log else {
                return nil
            }
            (self.log, metadata) = (log, original.metadata)
        }
    }

    /// - Parameter isProvisional: whether the origin is asked behind the answer.
    private func serve(_ stored: StoredResponse, _ entry: Entry?, isProvisional: Bool = false) {
        if seeker.answerFromMemory(stored, isProvisional: isProvisional) { return }
        if let entry { return found(entry, stored, isProvisional: isProvisional) }
        loader.ioExecutor.run(seeker.priority, for: seeker.owner) {
            readEntry { entry in
                if let entry, entry.metadata.storedResponse.hasSameBody(as: stored) {
                    return found(entry, stored, isProvisional: isProvisional)
                }
                // It is gone, damaged or another one: a request without conditions brings it back.
                guard case .fetch(let exchange) = loader.decision(key, nil) else { return fail(Loader.cacheMiss) }
                askOrigin(exchange)
            }
        }
    }

    private func readEntry(_ then: @escaping @Sendable (Entry?) -> Void) {
        guard request.caching.readsOriginal, let disk = loader.disk(key.caching) else { return then(nil) }
        if let entry = Entry(comingTo: disk, key.originalKey) { return then(entry) }
        withRoom(in: disk) { lease in then(read(disk, lease)) }
    }

    private func found(_ entry: Entry, _ stored: StoredResponse, isProvisional: Bool) {
        var opened = OpenedBytes(log: entry.log, source: .disk, time: loader.clock.now)
        opened.record = AnswerRecord(stored)
        if entry.metadata.status != nil { opened.wholeHead = loader.head(of: stored) }
        opened.isProvisional = isProvisional
        seeker.found(opened)
    }

    private func found(_ log: ByteLog, _ source: ImageSource) {
        seeker.found(OpenedBytes(log: log, source: source, time: loader.clock.now))
    }

    private func fail(_ error: WebImageError) { seeker.failed(error.at(request.place)) }

    // MARK: The origin

    /// - Parameter exchange: nil for what no network is needed for.
    private func askOrigin(_ exchange: CacheExchange?) {
        if let refusal = loader.failedURLs.refusal(of: key.download, retryFailed: request.retriesFailed) {
            return fail(refusal)
        }
        // What has no entry to fall back to may have a beginning to go on with.
        if let exchange, exchange.base == nil, let fetch = ResumableFetch(loader, key, exchange, seeker) {
            return fetch.start()
        }
        let begin = loader.clock.now
        let resolved = exchange.map { key.download.adding($0.fields) } ?? key.download
        let download = loader.downloader.download(
            resolved, by: key.settings, priority: seeker.priority, finishesWhenDrained: seeker.finishesWhenDrained)
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
