import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// A fetch that continues where an earlier one was interrupted, and whose own bytes are stored for a later one, also of
/// another process (RFC 9110 sections 13.1.5 and 14.2).
///
/// Nothing is stored of a short body that arrives completely, nor of a body without a strong validator.
final class ResumableFetch: Sendable {
    private struct State {
        var body: ResumableBody
        var hasHead = false
        /// The number of bytes of the log that the resumable body knows.
        var noted = 0
        /// The log that this fetch follows; nil: it no longer follows one.
        var watched: ByteLog?
        /// Ends the announcement that the beginning of an interrupted body will be stored.
        var endPromise: (@Sendable () -> Void)?

        mutating func unwatch() -> (@Sendable () -> Void)? {
            defer { (watched, endPromise) = (nil, nil) }
            return endPromise
        }
    }

    private let loader: Loader
    private let key: BytesKey
    private let exchange: CacheExchange
    private let seeker: any BytesSeeker
    private let copy: PartialCopy
    private let rules: ResumableBody.Rules
    private let state: Guarded<State>

    /// Nil if nothing can be stored or continued.
    init?(_ loader: Loader, _ key: BytesKey, _ exchange: CacheExchange, _ seeker: any BytesSeeker) {
        // The output of a decryptor cannot be continued with the origin's bytes.
        guard let partials = loader.caches.partials(key.caching), key.policy.mode.stores, key.caching.storesOriginal,
            !key.settings.decrypts(key.download)
        else { return nil }
        self.loader = loader
        self.key = key
        self.exchange = exchange
        self.seeker = seeker
        var rules = ResumableBody.Rules()
        rules.keptHeaders = loader.origin.rules.keptHeaders
        rules.isShared = loader.origin.rules.isShared
        rules.limit = key.settings.bodyLimit(of: key.download).bytes
        self.rules = rules
        copy = PartialCopy(key.originalKey, store: partials, executor: loader.ioExecutor) {
            [originals = loader.originals] in
            let announcement = originals.announce(for: key.originalKey)
            return { announcement.withdraw() }
        }
        let request = key.settings.cacheRequest(for: key.download)
        state = Guarded(State(body: ResumableBody(request, mode: key.policy.mode, rules: rules)))
    }

    func start() {
        guard copy.mayFind, state.withLock({ $0.body.wantsKept }) else { return send(after: nil) }
        loader.ioExecutor.run(seeker.priority, for: seeker.owner) { [self] in
            guard let claim = copy.find(), let metadata = claim.metadata else { return send(after: nil) }
            let isOfUse = state.withLock { $0.body.found(metadata: metadata, length: claim.length) }
            if !isOfUse { copy.forget() }
            send(after: isOfUse ? claim : nil)
        }
    }

    /// Sends the request.
    ///
    /// - Parameter claim: the stored beginning that the body should continue; nil: none.
    private func send(after claim: (any PartialBody)?) {
        var fields = exchange.fields
        let range = state.withLock { state in
            defer { state.body.didAsk() }
            return state.body.fields
        }
        fields.append(contentsOf: range)
        let begin = loader.clock.now
        let download = loader.origin.downloader.download(
            key.download.adding(fields), by: key.settings, notBefore: key.removal, priority: seeker.priority,
            finishesWhenDrained: seeker.finishesWhenDrained)
        seeker.trace?.note(.asks(isConditional: false, isShared: download.wasJoined), at: begin)
        guard seeker.follow(download) else {
            download.cancel()
            return end(.failed(.cancelled), download.log)
        }
        var opened = OpenedBytes(log: download.log, source: .network, download: download, time: begin)
        opened.exchange = exchange
        guard let claim, !range.isEmpty else {
            watch(download.log, download)
            return seeker.found(opened)
        }
        download.log.whenHead { [opened] in
            self.loader.ioExecutor.run(self.seeker.priority, for: self.seeker.owner) {
                self.judge(opened, download, claim)
            }
        }
    }

    /// Decides by the answer's head whether the body continues the stored beginning.
    private func judge(_ opened: OpenedBytes, _ download: Download, _ claim: any PartialBody) {
        guard let answered = download.exchange else { return judgeFailure(of: download) }
        let action = state.withLock { state in
            state.hasHead = true
            return state.body.head(answered.head, answered.arrival)
        }
        switch action {
        case .append(let head):
            let beginning = claim.length
            loader.origin.downloader.makeLog(
                of: claim, continuedBy: download, head, limit: ByteCount(rules.limit)
            ) { [opened] log in
                guard let log else { return self.beginAnew(download) }
                var opened = opened
                opened.log = log
                opened.wholeHead = head
                self.state.withLock { $0.noted = beginning }
                self.promiseKeeping(of: log)
                // From now on only the copy uses the claim.
                self.note(log, download)
                self.seeker.found(opened)
            }
        case .restart, .leave:
            copy.forget()
            // The log may have been replaced meanwhile; then all bytes are of another body.
            var opened = opened
            _ = opened.follow()
            watch(opened.log, download)
            seeker.found(opened)
        case .askAgain: beginAnew(download)
        case .fail(let error):
            copy.forget()
            download.cancel()
            seeker.failed(error)
        }
    }

    /// Handles a download that has ended without a usable head: it failed, or its status is an error.
    private func judgeFailure(of download: Download) {
        var error = WebImageError.cancelled
        if case .failed(let failure)? = download.log.end { error = failure }
        if error.code == .badStatus, let status = error.status {
            switch state.withLock({ $0.body.refused(status) }) {
            case .askAgain: return beginAnew(download)
            case .leave(forgets: true): copy.forget()
            default: break
            }
        }
        end(.failed(error), download.log)
        loader.noteOutcome(of: key, failure: error)
        seeker.failed(error)
    }

    /// Fetches the whole body: the stored beginning cannot be used.
    private func beginAnew(_ download: Download) {
        copy.forget()
        download.cancel()
        forgetBody()
        send(after: nil)
    }

    private func forgetBody() {
        let request = key.settings.cacheRequest(for: key.download)
        let endPromise = state.withLock { state in
            defer { state = State(body: ResumableBody(request, mode: key.policy.mode, rules: rules)) }
            return state.unwatch()
        }
        endPromise?()
    }

    // MARK: Storing the bytes that arrive

    /// Waits until the body is long enough to be worth storing.
    private func watch(_ log: ByteLog, _ download: Download?) {
        promiseKeeping(of: log)
        log.whenReadable(after: rules.keepAfter - 1) { [weak download] in self.note(log, download) }
    }

    /// Announces the store of the body's beginning as soon as the body is interrupted. A caller that learns of the
    /// interruption must find the announcement: this closure runs before the log's readers do, while `note` may come
    /// only after them.
    private func promiseKeeping(of log: ByteLog) {
        state.withLock { $0.watched = log }
        log.whenEnded {
            guard case .failed = log.end, log.successor == nil, log.receivedCount >= self.rules.keepAfter else {
                return
            }
            self.state.withLock { state in
                if state.watched === log, state.endPromise == nil { state.endPromise = self.copy.promise() }
            }
        }
    }

    /// The origin has another body: the stored beginning is dropped, and storing starts again.
    private func beginAnew(with log: ByteLog, _ download: Download?) {
        copy.forget()
        forgetBody()
        state.withLock { $0.body.didAsk() }
        watch(log, download)
    }

    /// - Parameter download: nil if it has no waiters left.
    private func note(_ log: ByteLog, _ download: Download?) {
        // In this order: an answer that belongs to a later body arrives after the log's end, and bytes before the end
        // are counted.
        let answered = download?.exchange
        let logEnd = log.end
        if let next = log.successor { return beginAnew(with: next, download) }
        let action = state.withLock { state in
            if !state.hasHead, let answered {
                state.hasHead = true
                _ = state.body.head(answered.head, answered.arrival)
            }
            let count = log.receivedCount
            defer { state.noted = count }
            return state.body.received(count - state.noted)
        }
        copy.carryOut(action, log) { self.isWanted }
        if let logEnd { return end(logEnd, log) }
        // A long body of which nothing is stored by now will not be stored later, either.
        if action == .nothing {
            state.withLock { $0.unwatch() }?()
            return
        }
        log.whenReadable(after: log.receivedCount) { [weak download] in self.note(log, download) }
    }

    private func end(_ logEnd: ByteLog.End, _ log: ByteLog) {
        defer { state.withLock { $0.unwatch() }?() }
        guard case .failed(let error) = logEnd else {
            return copy.carryOut(state.withLock { $0.body.ended(nil).keep }, log) { self.isWanted }
        }
        copy.close(state.withLock { $0.body.ended(error).keep }, log) { self.isWanted }
    }

    /// False if the original was removed since its load began.
    private var isWanted: Bool { !loader.caches.wasOriginalRemoved(seeker.keeper) }
}
