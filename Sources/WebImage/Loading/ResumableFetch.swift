import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// A fetch that goes on where an earlier one broke off, and whose bytes are kept for a later one, also one of another
/// process (RFC 9110 sections 13.1.5 and 14.2).
///
/// Nothing is kept of a body that comes whole before it is long, nor of one without a strong validator.
final class ResumableFetch: Sendable {
    private struct State {
        var body: ResumableBody
        var hasHead = false
        /// Bytes of the log that the body knows of.
        var noted = 0
    }

    private let loader: Loader
    private let key: BytesKey
    private let exchange: CacheExchange
    private let seeker: any BytesSeeker
    private let copy: PartialCopy
    private let rules: ResumableBody.Rules
    private let state: Guarded<State>

    /// Nil where nothing can be kept or gone on with.
    init?(_ loader: Loader, _ key: BytesKey, _ exchange: CacheExchange, _ seeker: any BytesSeeker) {
        // What a decryptor made of the bytes is not what the origin would go on with.
        guard let partials = loader.caches.own.partials, key.policy.mode.stores, key.caching.storesOriginal,
            !key.settings.decrypts(key.download)
        else { return nil }
        self.loader = loader
        self.key = key
        self.exchange = exchange
        self.seeker = seeker
        var rules = ResumableBody.Rules()
        rules.keptHeaders = loader.origin.rules.keptHeaders
        self.rules = rules
        copy = PartialCopy(key.originalKey, store: partials, executor: loader.ioExecutor)
        let request = key.settings.cacheRequest(for: key.download)
        state = Guarded(State(body: ResumableBody(request, mode: key.policy.mode, rules: rules)))
    }

    func start() {
        guard copy.mayFind, state.withLock({ $0.body.wantsKept }) else { return send(after: nil) }
        loader.ioExecutor.run(seeker.priority) { [self] in
            guard let claim = copy.find(), let metadata = claim.metadata else { return send(after: nil) }
            let isOfUse = state.withLock { $0.body.found(metadata: metadata, length: claim.length) }
            if !isOfUse { copy.forget() }
            send(after: isOfUse ? claim : nil)
        }
    }

    /// - Parameter claim: what is to be gone on with.
    private func send(after claim: (any PartialBody)?) {
        var fields = exchange.fields
        let range = state.withLock { state in
            defer { state.body.didAsk() }
            return state.body.fields
        }
        fields.append(contentsOf: range)
        let begin = loader.clock.now
        let download = loader.origin.downloader.download(
            key.download.adding(fields), by: key.settings, priority: seeker.priority,
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
            self.loader.ioExecutor.run(self.seeker.priority) { self.judge(opened, download, claim) }
        }
    }

    private func judge(_ opened: OpenedBytes, _ download: Download, _ claim: any PartialBody) {
        guard let answered = download.exchange else {
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
            return seeker.failed(error)
        }
        let action = state.withLock { state in
            state.hasHead = true
            return state.body.head(answered.head, answered.arrival)
        }
        switch action {
        case .append(let head):
            let beginning = claim.length
            loader.origin.downloader.makeLog(of: claim, continuedBy: download, head) { [opened] log in
                guard let log else { return self.beginAnew(download) }
                var opened = opened
                opened.log = log
                opened.wholeHead = head
                self.state.withLock { $0.noted = beginning }
                // From now on the claim is the copy's again.
                self.note(log, download)
                self.seeker.found(opened)
            }
        case .restart, .leave:
            copy.forget()
            // It may have been replaced meanwhile: what comes then is all of another body, too.
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

    /// Asks for all of it: what was kept is of no use.
    private func beginAnew(_ download: Download) {
        copy.forget()
        download.cancel()
        forgetBody()
        send(after: nil)
    }

    private func forgetBody() {
        let request = key.settings.cacheRequest(for: key.download)
        state.withLock { $0 = State(body: ResumableBody(request, mode: key.policy.mode, rules: rules)) }
    }

    // MARK: What comes is kept

    /// Nothing is to be done before the body is worth it.
    private func watch(_ log: ByteLog, _ download: Download?) {
        log.whenReadable(after: rules.keepAfter - 1) { [weak download] in self.note(log, download) }
    }

    /// The origin has another body: what is kept is of no use, and what is to be kept begins anew.
    private func beginAnew(with log: ByteLog, _ download: Download?) {
        copy.forget()
        forgetBody()
        state.withLock { $0.body.didAsk() }
        watch(log, download)
    }

    /// - Parameter download: nil when nobody wants it any more.
    private func note(_ log: ByteLog, _ download: Download?) {
        // In this order: an answer that came by later than this body came after the log's end, and what came before the
        // end is counted.
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
        copy.carryOut(action, log)
        if let logEnd { return end(logEnd, log) }
        // A long body of which nothing is kept now will not be kept later either.
        if action == .nothing { return }
        log.whenReadable(after: log.receivedCount) { [weak download] in self.note(log, download) }
    }

    private func end(_ logEnd: ByteLog.End, _ log: ByteLog) {
        guard case .failed(let error) = logEnd else {
            return copy.carryOut(state.withLock { $0.body.ended(nil).keep }, log)
        }
        copy.close(state.withLock { $0.body.ended(error).keep }, log)
    }
}
